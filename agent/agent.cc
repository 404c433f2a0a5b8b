#include "agent/agent.h"

#include "agent/sm_client/pkey_tables.h"
#include "agent/snapshot/make_snapshot.h"
#include "agent/metrics/port_counters.h"
#include "agent/metrics/metrics.h"
#include "agent/prepare/pf_config.h"
#include "agent/prepare/prepare.h"
#include "agent/config/private_keys.h"
#include "device-plugin/device_info.h"
#include "device-plugin/pool_config.h"
#include "lib/attach/agent_required_file.h"
#include "lib/nodeapi/service.h"

#include <algorithm>

#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::agent {
namespace {

using device_plugin::Changed;

constexpr Duration kPreparation{120'000};
// For finishing what the first preparation has left; the agent's thread looks at nothing meanwhile.
constexpr Duration kRepair{10'000};
// Longer than the longest that a turn of the thread can take.
constexpr std::chrono::minutes kStuck{5};
// The end of a pod has to be seen soon after one that took long.
constexpr Duration kLongestRest{1'000};
// For a look that somebody asks for.
constexpr Duration kFreshLook{2'000};
const Changed kAll{.everything = true, .ports = true};

// What the agent reads in its configuration that Config leaves as JSON has been judged when the
// file was taken, so it can be read.
std::vector<device_plugin::Pool> pools_of(const Config& config) {
  Result<device_plugin::PoolConfig> read =
      device_plugin::parse_pools(config.resource_list, config.resource_prefix);
  if (!read) return {};
  for (device_plugin::Pool& pool : read->pools) pool.cdi = pool.cdi && config.cdi;
  return read->pools;
}

device_plugin::PkeyTables tables_for(const std::vector<device_plugin::Pool>& pools) {
  const auto by_pkey = [](const device_plugin::Selector& one) { return !one.pkeys.empty(); };
  for (const device_plugin::Pool& pool : pools) {
    if (std::any_of(pool.selectors.begin(), pool.selectors.end(), by_pkey))
      return device_plugin::PkeyTables::read;
  }
  return device_plugin::PkeyTables::skip;
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
    if (!record) continue;
    record->configuration.clear();  // a tenant's, and nobody here asks for it
    read.push_back(std::move(record).value());
  }
  return read;
}

bool has_active_port(const device_plugin::Device& device) {
  return std::any_of(device.rdma.begin(), device.rdma.end(), [](const auto& rdma) {
    return !rdma.ports.empty() && rdma.ports.front().state == ib::PortState::active;
  });
}

// When as much time has passed since now as has since `began`, within reason.
Deadline::Clock::time_point as_long_again(Deadline::Clock::time_point began) {
  const auto now = Deadline::Clock::now();
  return now + std::min<Deadline::Clock::duration>(now - began, kLongestRest);
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
      places_{machine_->sysfs(), files_} {}

Agent::~Agent() = default;

Status Agent::run() {
  TRY(begin());
  int configuration = watch_configuration();
  bool ports = true;  // read by the last look
  while (true) {
    turned_ = std::chrono::steady_clock::now();
    read_configuration();
    port_patience_.seen(*view_.get(), ports);
    const Happened happened = events_.wait(configuration, port_patience_.due());
    if (!happened.failed.empty()) return Error(Code::unavailable, happened.failed);
    if (happened.stop) return ok();
    ports = happened.changed.ports;
    const auto began = Deadline::Clock::now();
    const LookRequests::Number requests = look_requests_.begin();
    follow(happened);
    // One that has come since the wait was over is for the next turn.
    if (happened.due && happened.changed.ports) look_requests_.end(requests);
    // Pods make events as fast as they like: to look at them never takes more than half of the
    // time.
    events_.rest(Deadline::at(as_long_again(began)));
    if (happened.configuration) configuration = watch_configuration();
  }
}

// Nothing to wait for where that fails: the file is looked at with everything else that happens.
int Agent::watch_configuration() {
  const Result<int> watched = reloader_.watch();
  report_.trouble("watch the configuration's folder", watched ? ok() : Status(watched.error()));
  return watched ? *watched : -1;
}

// In the order in which others may rely on it: what the node is, then who may ask, then who ends
// what is over, and at last the kubelet.
Status Agent::begin() {
  // Before the mark: of a marked node whose folder is missing nothing is known (attach/del.h).
  TRY(machine_->records().make_folder());
  mark_node();
  report_.configured();
  report_.trouble("private keys", check_private_keys(config()));
  take_rdma_mode(set_rdma_mode(machine_->kernel(), rdma_netns()));
  pools_ = pools_of(config());
  TRY(open_fabrics());
  prepare(kPreparation);
  device_plugin::Watch watch = TRY(device_plugin::Watch::open(machine_->records()));
  start_sweeping();
  report_certificates();
  look(kAll);
  // Behind the first look: what is bound is described by it.
  if (fabrics_) fabrics_->begin();
  if (config().kubelet)
    resources_.emplace(kubelet(), view_, places_,
                       [this](const Offering::Told& told) { note(told); });
  TRY(serve_questions());
  serve_pools();
  device_watch_.emplace(std::move(watch), events_);
  return ok();
}

// Nothing is offered before it is known who lives.
void Agent::start_sweeping() {
  const auto judged = [this] { events_.tell({.judged = true}); };
  const auto done = [this](const SweepReport&) {
    events_.tell({.swept = true});
    tidy_files();
  };
  sweeping_.emplace(machine_->world(), config().sweep_interval, judged, done);
  sweeping_->await_verdicts();
}

Status Agent::open_fabrics() {
  if (config().fabrics.empty()) return ok();
  fabrics_ = TRY(
      Fabrics::open(config().fabrics,
                    {machine_->records(), machine_->sysfs(), reloader_.node(),
                     [this](const ib::PciAddress& pf) { return interface_of(*view_.get(), pf); },
                     [this](const std::vector<ib::Guid>& ports, const std::set<ib::Guid>& others) {
                       return read_tables(ports, others, machine_->sysfs(),
                                          readable(machine_->records()), machine_->pod_sysfs());
                     },
                     [this](const std::string& fabric, const Contact& before, const Contact& now) {
                       note_contact(fabric, before, now);
                     }}));
  return ok();
}

// On a link's thread. What could not leave its partition is asked to again.
void Agent::note_contact(const std::string& fabric, const Contact& before, const Contact& now) {
  report_.contact(fabric, now);
  if (now.reached && !before.reached) sweeping_->sweep_anew();
  // How long it is away tells, too.
  if (!now.reached || now != before) events_.tell({.fabrics = true});
}

void Agent::report_certificates() {
  if (fabrics_) report_.certificates(fabrics_->certificates());
}

kube::Kubelet Agent::kubelet() {
  kube::Kubelet kubelet{config().kubelet_root, mode_of(config().registration), {}, {}};
  kubelet.changed = [this](const kube::Registration&) { events_.tell({}); };
  return kubelet;
}

Status Agent::serve_questions() {
  answers_.emplace(AnswerSources{view_, times_, machine_->sysfs(), machine_->records(), *sweeping_,
                                 machine_->kubelet(), [this] { return is_registered(); },
                                 fabrics_.get(),
                                 [this](Deadline deadline) { look_afresh(deadline); }});
  service_ = nodeapi::serve(*answers_);
  TRY(make_folders(config().agent_socket.parent_path()));
  server_ = TRY(rpc::Server::serve(config().agent_socket, {service_.get()}).during("agentSocket"));
  show_version(report_.metrics(), IBPOD_VERSION);
  pages_ = TRY(http::Server::start(config().metrics_address,
                                   {[this] { return metrics_page(); }, [this] { return alive(); },
                                    [this] { return ready(); }})
                   .during("metricsAddress"));
  return ok();
}

// What a look says must be of now. One that waits for something else is not waited for: each
// finding has the time of its look.
void Agent::look_afresh(Deadline deadline) {
  if (fabrics_) fabrics_->sync_now();
  (void)look_requests_.ask(deadline.at_most(kFreshLook),
                           [this] { events_.tell({.changed = {.ports = true}, .due = true}); });
}

// Its thread looks once a minute at the least.
Status Agent::alive() const {
  const auto since = std::chrono::steady_clock::now() - turned_.load();
  if (since < kStuck) return ok();
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(since).count();
  return Error(Code::unavailable,
               "the agent's thread has not looked for " + std::to_string(minutes) + " minutes");
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
  report_certificates();
  const PortCounters counters =
      read_port_counters(machine_->sysfs(), readable(machine_->records()), machine_->pod_sysfs());
  show_port_counters(report_.metrics(), counters.counters, counters.unread);
  return report_.metrics().text();
}

// On gRPC's threads.
void Agent::note(const Offering::Told& told) {
  report_.allocated(told.resource, told.granted, told.took);
}

RdmaNetns Agent::rdma_netns() const {
  const Result<RdmaNetns> wanted = parse_rdma_netns(config().rdma_netns);
  return wanted ? *wanted : RdmaNetns::keep;
}

// Whether plugins may attach anything while we are away.
void Agent::mark_node() {
  const attach::AgentMark mark(config().state_folder);
  const bool alone = config().standalone && config().fabrics.empty();
  report_.trouble("standalone",
                  alone ? mark.remove() : mark.write(config().agent_socket, needs_partitions()));
}

// Whether plugins refuse a network that names no partition.
bool Agent::needs_partitions() const {
  return !config().fabrics.empty() && !config().without_partition;
}

// One netlink request.
void Agent::look_at_rdma_mode() {
  take_rdma_mode(look_again(machine_->kernel(), rdma_netns(), rdma_mode_));
}

void Agent::take_rdma_mode(RdmaModeVerdict verdict) {
  rdma_mode_ = std::move(verdict);
  report_.rdma_mode(config().rdma_netns, rdma_mode_);
}

void Agent::prepare(Duration patience) {
  const Node node{machine_->kernel(), machine_->records(), config().state_folder,
                  machine_->boot_id(), fabrics_ ? fabrics_->pool() : nullptr};
  const Preparation prepared =
      agent::prepare(node, parse_pfs(config().pfs).pfs, Deadline::in(patience));
  troubles_ = report_.prepared(prepared);
  looks_.preparation = std::chrono::system_clock::now();
}

// What could not be prepared may be possible now: a driver has come, a pod has gone.
bool Agent::may_prepare_the_rest() const {
  const auto pass = sweeping_->last();
  const bool freed = std::any_of(pass->outcomes.begin(), pass->outcomes.end(),
                                 [](const Outcome& one) { return one.released; });
  return freed || !troubles_.empty();
}

// Whether there is a PF that the last preparation did not know: one that has come (or come back,
// maybe without its VFs), or, with several fabrics, whose port has come up, which tells its fabric.
bool Agent::has_new_pf() {
  const auto put = [](std::set<ib::PciAddress>& known, std::set<ib::PciAddress> now) {
    const bool more = !std::includes(known.begin(), known.end(), now.begin(), now.end());
    known = std::move(now);
    return more;
  };
  std::set<ib::PciAddress> pfs, up;
  for (const device_plugin::Device& device : view_.get()->devices) {
    if (device.pf) continue;
    pfs.insert(device.address);
    if (config().fabrics.size() > 1 && has_active_port(device)) up.insert(device.address);
  }
  const bool more = put(pfs_, std::move(pfs));
  return put(active_pfs_, std::move(up)) || more;
}

// Not before a look has succeeded: an empty list would tell the kubelet that devices in use have
// gone.
void Agent::serve_pools() {
  if (!resources_ || !looked_) return;
  report_.trouble("serve the pools", resources_->serve(resources_of(pools_)));
}

// What a pod has stays in the pool that gave it, from the moment it is given.
void Agent::look(const Changed& changed) {
  const auto held = device_plugin::given_out(files_.device_info_folder());
  if (held) held_ = *held;
  Result<std::vector<device_plugin::Device>> devices =
      machine_->inventory(changed, tables_for(pools_));
  // While VFs are made or removed nothing can be said; there is an event when that ends.
  if (!devices) return report_.trouble("inventory", devices.error());
  report_.trouble("inventory", ok());
  looked_ = true;
  looks_.devices = std::chrono::system_clock::now();
  if (fabrics_) {
    fabrics_->set_ports(ports_of(*devices));
    fabrics_->find_bind_faults(*devices);
  }
  const std::shared_ptr<const Pass> pass = sweeping_->last();
  View now = make_view(std::move(devices).value(),
                       {pools_, held_, *pass, rdma_mode_, troubles_, needs_partitions()});
  const auto before = view_.get();
  const bool is_new = now != *before || changed.ports;
  if (is_new) view_.set(std::move(now));
  times_.set(looks_);  // after the view: what is told is never older than its time
  if (is_new) tell(*before, *view_.get(), changed.ports);
}

// First what a runtime reads, then the kubelet, which may give it to one at once.
void Agent::tell(const View& before, const View& now, bool thoroughly) {
  Status refreshed = files_.refresh(now, files_complete_ ? &before : nullptr);
  if (refreshed && thoroughly) refreshed = files_.tidy_cdi(now);
  files_complete_ = refreshed.ok();
  report_.trouble("CDI files", refreshed);
  if (resources_) report_.trouble("tell the kubelet", resources_->publish());
  report_.seen(before, now);
}

void Agent::follow(const Happened& happened) {
  if (happened.due) read_configuration();
  if (happened.swept) report_.swept(*sweeping_->last());
  if (happened.due || happened.fabrics) report_certificates();
  if (happened.devices || happened.judged || happened.swept || happened.due || happened.fabrics ||
      happened.changed.ports) {
    look_at_rdma_mode();
    look(happened.changed);
  }
  const bool rest = (happened.due || happened.swept) && may_prepare_the_rest();
  if (has_new_pf() || rest) {
    prepare(kRepair);
    look({});
  }
  // What is served already goes on; what could not be is tried again.
  serve_pools();
  // An end of a pod shows as a device that comes home.
  if (happened.devices) sweeping_->sweep();
  if (resources_) report_.registered(resources_->registrations());
}

// On the sweeping thread, which may wait for the kubelet.
void Agent::tidy_files() {
  if (!machine_->pods()) return;
  const Result<std::vector<PodDevices>> pods = machine_->pods()->list_pods();
  if (pods) report_.trouble("device-info files", files_.tidy(*view_.get(), *pods));
}

void Agent::read_configuration() {
  const Reload reload = reloader_.poll();
  report_.reloaded(reload);
  if (reload.kind == Reload::Kind::taken) take_configuration();
}

void Agent::take_configuration() {
  report_.set_least(config().log_level);
  mark_node();
  report_.trouble("private keys", check_private_keys(config()));
  pools_ = pools_of(config());
  sweeping_->set_interval(config().sweep_interval);
  take_rdma_mode(set_rdma_mode(machine_->kernel(), rdma_netns()));
  prepare(kPreparation);
  look(kAll);
  serve_pools();
}

void Agent::leave() {
  if (resources_) resources_->stop();
  if (server_) server_->stop(Duration(300));
  pages_.reset();
}

}  // namespace ibpod::agent
