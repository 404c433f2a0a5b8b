#include "sm/daemon.h"

#include "lib/http/server.h"
#include "lib/mad/umad_channel.h"
#include "sm/controller/controller_thread.h"
#include "sm/engines.h"
#include "sm/opensm/key_file.h"
#include "sm/partitions/declared_file.h"
#include "sm/probe/smp_port_prober.h"
#include "sm/service_listeners.h"
#include "sm/state/sqlite_store.h"

#include <random>

namespace ibpod::sm {
namespace {

// An epoch that differs from that of any other start.
std::string new_epoch() {
  std::random_device random;
  return std::to_string(uint64_t{random()} << 32 | random());
}

// The port of this machine for requests to other ports. The default is OpenSM's port, which must be
// on the same subnet.
Result<mad::LocalPort> port_for(const config::Config& config) {
  const auto& opensm = config.opensm.launcher.opensm.port;
  if (config.port.device.empty() && config.port.port == 0 && opensm)
    return mad::local_port(*opensm).during("opensm.port");
  return mad::local_port(config.port.device, config.port.port).during("look");
}

}  // namespace

// In the order of their start. They end in reverse: the controller before all that it uses.
struct Daemon::Parts {
  explicit Parts(log::Log& log) : telemetry(log), listeners(telemetry) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  Parts(Parts&&) = delete;
  Parts& operator=(Parts&&) = delete;
  ~Parts() = default;

  Status open(config::Config config);
  Status open_prober(const config::Config& config, const mad::LocalPort& port);
  void probed(probe::ProbeBatch readings);
  Status serve(const config::Config& config);
  Status follow_declared(const Path& file);
  Status alive();
  Status ready();
  std::string metrics_page();

  telemetry::Telemetry telemetry;
  std::unique_ptr<state::SqliteStore> store;
  std::unique_ptr<bindings::Registries> registry;
  controller::ControllerThread thread;
  StartedEngine engine;
  std::unique_ptr<mad::Scheduler> scheduler;
  std::unique_ptr<probe::SmpPortProber> prober;
  std::unique_ptr<controller::Controller> controller;
  ServiceListeners listeners;
  std::unique_ptr<http::Server> pages;
  std::unique_ptr<partitions::DeclaredFile> declared;
};

// Steps that can fail come first: once the service runs, the subnet's partitions change.
Status Daemon::Parts::open(config::Config config) {
  TRY(make_folders(config.state_folder));
  const Path database = config.state_folder / "promises.db";
  store = TRY(state::SqliteStore::open(database));
  TRY(check_state_lost(config, *store, database));
  registry = TRY(bindings::Registries::load(*store, config.policy, controller::system_time()));
  // The first partition is the default one.
  telemetry.loaded(database, registry->partitions.view().definitions()->size() - 1,
                   registry->journal.records().bindings.size(),
                   registry->journal.records().nodes.size());
  const mad::LocalPort port = TRY(port_for(config));
  std::optional<ib::Guid>& own_port = config.opensm.launcher.opensm.port;
  if (!own_port && starts_opensm(config)) own_port = port.guid;
  // Before the prober, which reports to it whether the subnet has a master.
  engine = TRY(start_engine(config, telemetry, [this] { thread.engine_changed(); }));
  TRY(open_prober(config, port));
  controller = std::make_unique<controller::Controller>(
      controller::Controller::Deps{*registry, *engine.subnet_manager, *prober, telemetry,
                                   [] { return controller::system_time().steady; }},
      controller::ControllerSettings{.epoch = new_epoch(),
                                     .call_timeout = config.call_timeout,
                                     .sm = health_check_settings(config),
                                     .own_port = own_port,
                                     .has_declared_file = !config.declared.empty()},
      controller::system_time());
  if (!config.declared.empty()) TRY(follow_declared(config.declared));
  TRY(serve(config));
  thread.start(*controller);
  return ok();
}

Status Daemon::Parts::open_prober(const config::Config& config, const mad::LocalPort& port) {
  probe::ProberSettings settings;
  settings.scan.every = config.scan;
  const Path& key = config.opensm.launcher.opensm.keys.m_key;
  if (!key.empty()) {
    // Without the M_Key no table of a locked port could be read, and no binding verified.
    const opensm::OpenKey read = TRY(opensm::read_open_key_file(key).during("opensm.mKeyFile"));
    telemetry.report_condition("opensm.mKeyFile", read.file ? "" : read.file.error().text());
    settings.m_key = mad::MKey{read.key};
  }
  std::unique_ptr<mad::Channel> channel = TRY(mad::UmadChannel::open(port));
  scheduler = std::make_unique<mad::Scheduler>(std::move(channel), config.window);
  prober = std::make_unique<probe::SmpPortProber>(
      *scheduler, settings, [this](probe::ProbeBatch readings) { probed(std::move(readings)); });
  return ok();
}

void Daemon::Parts::probed(probe::ProbeBatch readings) {
  if (engine.passive != nullptr && readings.topology)
    engine.passive->saw_master(readings.topology->master().has_value());
  thread.probed(std::move(readings));
}

Status Daemon::Parts::serve(const config::Config& config) {
  TRY(listeners.serve(config, controller->calls(), thread.tasks()));
  pages = TRY(http::Server::start(config.metrics, {.metrics = [this] { return metrics_page(); },
                                                   .healthy = [this] { return alive(); },
                                                   .ready = [this] { return ready(); }}));
  return ok();
}

Status Daemon::Parts::follow_declared(const Path& file) {
  declared = TRY(partitions::DeclaredFile::follow(
      file, [this](const Result<partitions::DeclaredPartitions>& read) {
        telemetry.report_condition("declared partitions", read ? "" : read.error().text());
        if (!read) return thread.declared_unreadable(read.error().text());
        for (const std::string& error : read->errors)
          telemetry.error("declared partitions: " + error);
        thread.declared(*read);
      }));
  return ok();
}

// ok if the main loop makes progress, whatever the number of waiting calls.
Status Daemon::Parts::alive() {
  constexpr Duration kLongest{20'000};
  const Duration turn = thread.time_in_tick();
  if (turn < kLongest) return ok();
  return Error(Code::unavailable, "the main loop has not finished a tick for " +
                                      std::to_string(turn.count() / 1000) + " s");
}

Status Daemon::Parts::ready() {
  listeners.report_status();
  const engine::EngineStatus status = engine.subnet_manager->status();
  if (status.health == engine::Health::serving && status.swept > 0) return ok();
  return Error(Code::unavailable, "the subnet manager is " +
                                      std::string(engine::name(status.health)) +
                                      (status.trouble.empty() ? "" : ": " + status.trouble));
}

std::string Daemon::Parts::metrics_page() {
  listeners.report_status();
  engine.update_metrics();
  (void)thread.run(
      [](controller::Controller& one) { one.update_metrics(); },  // else: the last values
      Deadline::in(Duration(2000)));
  return telemetry.metrics().text();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Daemon>> Daemon::start(const config::Config& config, log::Log& log) {
  auto parts = std::make_unique<Parts>(log);
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(parts)));
  TRY(daemon->parts_->open(config));
  return daemon;
}

Daemon::~Daemon() {
  parts_->declared.reset();
  parts_->pages.reset();
  parts_->thread.stop();
  parts_->prober.reset();
  // Answers the waiting calls, so that they can end.
  parts_->controller.reset();
  parts_->listeners.stop();
}

}  // namespace ibpod::sm
