#include "agent/agent.h"

#include "agent/look.h"
#include "agent/metrics/counters.h"
#include "agent/metrics/metrics.h"
#include "agent/prepare/pf_config.h"
#include "agent/prepare/prepare.h"
#include "device-plugin/device_info.h"
#include "device-plugin/pool_config.h"
#include "lib/nodeapi/service.h"

#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::agent {
namespace {

constexpr Duration kPreparation{120'000};

// What the agent reads in its configuration that Config leaves as JSON has been judged when the
// file was taken, so it can be read.
std::vector<device_plugin::Pool> pools_of(const Config& config) {
  Result<device_plugin::PoolConfig> read =
      device_plugin::parse_pools(config.resource_list, config.resource_prefix);
  if (!read) return {};
  for (device_plugin::Pool& pool : read->pools) pool.cdi = pool.cdi && config.cdi;
  return read->pools;
}

std::set<std::string> resources_of(const std::vector<device_plugin::Pool>& pools) {
  std::set<std::string> names;
  for (const device_plugin::Pool& pool : pools)
    if (pool.kind != device_plugin::Kind::foreign) names.insert(pool.resource());
  return names;
}

std::vector<node::Record> readable(const node::Records& records) {
  const auto names = records.all();
  std::vector<node::Record> read;
  if (!names) return read;
  for (const node::RecordName& name : *names) {
    Result<node::Record> record = records.read(name);
    if (record) read.push_back(std::move(record).value());
  }
  return read;
}

kube::Mode mode_of(Registration registration) {
  switch (registration) {
    case Registration::automatic:
      return kube::Mode::automatic;
    case Registration::watcher:
      return kube::Mode::watcher;
    case Registration::legacy:
      return kube::Mode::legacy;
  }
  std::abort();
}

}  // namespace

Result<std::unique_ptr<Agent>> Agent::open(Reloader reloader, log::Log& log) {
  std::unique_ptr<Machine> machine = TRY(Machine::open(reloader.config()));
  Events events = TRY(Events::open());
  return std::unique_ptr<Agent>(
      new Agent(std::move(reloader), std::move(machine), std::move(events), log));
}

Agent::Agent(Reloader reloader, std::unique_ptr<Machine> machine, Events events, log::Log& log)
    : reloader_(std::move(reloader)),
      machine_(std::move(machine)),
      report_(log),
      events_(std::move(events)),
      files_(config()),
      places_{machine_->sysfs(), files_.device_info_folder(), files_.cdi()} {}

Agent::~Agent() = default;

Status Agent::run() {
  TRY(begin());
  while (true) {
    const int configuration = TRY(reloader_.watch());
    const Reload reload = reloader_.poll();
    report_.reloaded(reload);
    if (reload.kind == Reload::Kind::taken) take_configuration();
    const Happened happened = events_.wait(configuration);
    if (happened.stop) return ok();
    follow(happened);
  }
}

// In the order in which others may rely on it: what the node is, then who may ask, then who ends
// what is over, and at last the kubelet.
Status Agent::begin() {
  rdma_mode_ = set_rdma_mode(machine_->kernel(), rdma_netns());
  pools_ = pools_of(config());
  prepare();
  device_plugin::Watch watch = TRY(device_plugin::Watch::open(machine_->records()));
  look(nullptr);
  sweeping_.emplace(machine_->world(), config().sweep_interval,
                    [this](const SweepReport&) { events_.tell({.swept = true}); });
  TRY(serve_questions());
  if (config().kubelet) {
    resources_.emplace(kube::Kubelet{config().kubelet_root, mode_of(config().registration), {}},
                       view_, places_, [this](const Offering::Told& told) { note(told); });
    serve_pools();
  }
  device_watch_.emplace(std::move(watch), events_);
  return ok();
}

Status Agent::serve_questions() {
  answers_.emplace(AnswerSources{view_, machine_->records(), *sweeping_, machine_->kubelet(),
                                 [this] { return is_registered(); }});
  service_ = nodeapi::serve(*answers_);
  TRY(make_folders(config().agent_socket.parent_path()));
  server_ = TRY(rpc::Server::serve(config().agent_socket, {service_.get()}).during("agentSocket"));
  show_version(report_.metrics(), IBPOD_VERSION);
  pages_ = TRY(http::Server::start(config().metrics_address,
                                   {[this] { return metrics_page(); }, [] { return ok(); },
                                    [this] { return ready(); }})
                   .during("metricsAddress"));
  return ok();
}

bool Agent::is_registered() const { return !resources_ || resources_->registered(); }

Status Agent::ready() const {
  if (is_registered()) return ok();
  std::string missing;
  for (const auto& [name, registration] : resources_->registrations())
    if (!registration.registered) missing += (missing.empty() ? "" : ", ") + name;
  return Error(Code::unavailable, "the kubelet does not know " + missing);
}

std::string Agent::metrics_page() {
  const PortCounters counters =
      read_port_counters(machine_->sysfs(), readable(machine_->records()), open_sysfs_of);
  show_port_counters(report_.metrics(), counters.counters, counters.unread);
  return report_.metrics().text();
}

// On gRPC's threads.
void Agent::note(const Offering::Told& told) {
  if (told.granted) files_.granted(told.ids);
  report_.allocated(told.resource, told.granted, told.took);
}

RdmaNetns Agent::rdma_netns() const {
  const Result<RdmaNetns> wanted = parse_rdma_netns(config().rdma_netns);
  return wanted ? *wanted : RdmaNetns::keep;
}

void Agent::prepare() {
  const Node node{machine_->kernel(), machine_->records(), config().state_folder,
                  machine_->boot_id()};
  const Preparation prepared =
      agent::prepare(node, parse_pfs(config().pfs).pfs, Deadline::in(kPreparation));
  for (const std::string& line : prepared.done) report_.info(line);
  troubles_.clear();
  for (const Error& problem : prepared.problems) {
    report_.error(problem.text());
    troubles_.push_back(problem.text());
  }
}

void Agent::serve_pools() {
  if (!resources_) return;
  report_.trouble("serve the pools", resources_->serve(resources_of(pools_)));
}

void Agent::look(const std::vector<device_plugin::Device>* known) {
  Result<std::vector<device_plugin::Device>> devices = machine_->inventory(known);
  // While VFs are made or removed nothing can be said; there is an event when that ends.
  if (!devices) return report_.trouble("inventory", devices.error());
  report_.trouble("inventory", ok());
  const std::shared_ptr<const Pass> pass =
      sweeping_ ? sweeping_->last() : std::make_shared<const Pass>();
  const auto before = view_.get();
  view_.set(make_view(std::move(devices).value(), {pools_, held_, *pass, rdma_mode_, troubles_}));
  const auto now = view_.get();
  report_.seen(*before, *now);
  report_.trouble("CDI files", files_.refresh(*now));
  if (resources_) report_.trouble("tell the kubelet", resources_->publish());
}

void Agent::follow(const Happened& happened) {
  if (happened.swept) report_.swept(*sweeping_->last());
  if (happened.due) housekeep();
  const auto view = view_.get();
  if (happened.devices || happened.swept || happened.due)
    look(happened.due ? nullptr : &view->devices);
  // An end of a pod shows as a device that comes home.
  if (happened.devices) sweeping_->sweep();
  if (resources_) report_.registered(resources_->registrations());
}

// What has no event: once a minute.
void Agent::housekeep() {
  rdma_mode_ = look_again(machine_->kernel(), rdma_netns(), rdma_mode_);
  if (!machine_->pods()) return;
  const Result<std::vector<PodDevices>> pods = machine_->pods()->list_pods();
  if (!pods) return;
  report_.trouble("device-info files", files_.tidy(*view_.get(), *pods));
  const auto held = device_plugin::given_out(files_.device_info_folder());
  if (held) held_ = *held;
}

void Agent::take_configuration() {
  pools_ = pools_of(config());
  sweeping_->set_interval(config().sweep_interval);
  rdma_mode_ = set_rdma_mode(machine_->kernel(), rdma_netns());
  const auto held = device_plugin::given_out(files_.device_info_folder());
  if (held) held_ = *held;
  prepare();
  look(nullptr);
  serve_pools();
}

void Agent::leave() {
  if (resources_) resources_->stop();
  if (server_) server_->stop(Duration(300));
  pages_.reset();
}

}  // namespace ibpod::agent
