#include "sm/daemon.h"

#include "lib/base/private_file.h"
#include "lib/fabricapi/service.h"
#include "lib/http/server.h"
#include "lib/mad/umad_channel.h"
#include "lib/rpc/grpc_log.h"
#include "lib/rpc/server.h"
#include "lib/rpc/tcp_server.h"
#include "sm/declared/declared_file.h"
#include "sm/engine/key_file.h"
#include "sm/engine/passive_subnet_manager.h"
#include "sm/engine/opensm_cgroup.h"
#include "sm/state_loss.h"
#include "sm/service/callers.h"
#include "sm/service/service.h"
#include "sm/store/sqlite_store.h"
#include "sm/probe/smp_port_prober.h"

#include <random>

#include <grpcpp/impl/codegen/service_type.h>

namespace ibpod::sm {
namespace {

// Unlike that of any other start.
std::string new_epoch() {
  std::random_device random;
  return std::to_string(uint64_t{random()} << 32 | random());
}

SmSettings posture_settings(const Config& config) {
  SmSettings settings;
  if (config.engine == EngineKind::observe) settings.owner = SmOwner::observed;
  if (config.opensm.keeper.others) settings.owner = SmOwner::others;
  if (settings.owner != SmOwner::ours) return settings;
  const OpenSmSettings& opensm = config.opensm.keeper.opensm;
  settings.m_key = !opensm.keys.m_key.empty();
  settings.sm_key = !opensm.keys.sm_key.empty();
  settings.sa_key = !opensm.keys.sa_key.empty();
  settings.m_key_protection = opensm.m_key_protection;
  settings.allow_both = opensm.allow_both_pkeys;
  return settings;
}

bool starts_opensm(const Config& config) {
  return config.engine == EngineKind::opensm && !config.opensm.keeper.others;
}

// The port of this machine through which others are asked. If nothing else is said it is OpenSM's,
// as that has to be on the same subnet.
Result<mad::LocalPort> port_for(const Config& config) {
  const auto& opensm = config.opensm.keeper.opensm.port;
  if (config.port.device.empty() && config.port.port == 0 && opensm)
    return mad::local_port(*opensm).during("opensm.port");
  return mad::local_port(config.port.device, config.port.port).during("look");
}

}  // namespace

// In the order in which they begin; they end in the other one, the steward before all that it
// speaks to.
struct Daemon::Parts {
  explicit Parts(log::Log& log) : report(log), service(report) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  Parts(Parts&&) = delete;
  Parts& operator=(Parts&&) = delete;
  ~Parts() { rpc::on_failed_handshake({}); }

  Status open(Config config);
  Status open_engine(const Config& config);
  Status open_witness(const Config& config, const mad::LocalPort& port);
  void seen(Readings readings);
  Status serve(const Config& config);
  Status follow_declared(const Path& file);
  void look_at_listener();
  Status alive();
  Status ready();
  std::string metrics_page();

  Report report;
  std::unique_ptr<SqliteStore> store;
  std::unique_ptr<Ledger> ledger;
  Service service;
  std::unique_ptr<Engine> engine;
  Observe* observe = nullptr;  // where that is the engine
  std::unique_ptr<mad::Scheduler> scheduler;
  std::unique_ptr<TableWatch> watch;
  std::unique_ptr<Steward> steward;
  std::optional<Authority> authority;
  std::unique_ptr<grpc::Service> answers;
  std::unique_ptr<rpc::Server> socket;
  std::unique_ptr<rpc::TcpServer> tcp;
  Path tls_key;  // of tcp
  std::unique_ptr<http::Server> pages;
  std::unique_ptr<DeclaredFile> declared;
};

// What can be refused comes first: once the service works, the subnet's partitions change.
Status Daemon::Parts::open(Config config) {
  TRY(make_folders(config.state_folder));
  const Path database = config.state_folder / "promises.db";
  store = TRY(SqliteStore::open(database));
  if (config.engine != EngineKind::observe) TRY(check_not_lost(*store, database, config.opensm));
  ledger = TRY(Ledger::load(*store, config.policy, present()));
  // The first of the partitions is the default one.
  report.loaded(database, ledger->partitions()->size() - 1, ledger->size(), ledger->nodes().size());
  const mad::LocalPort port = TRY(port_for(config));
  std::optional<ib::Guid>& own_port = config.opensm.keeper.opensm.port;
  if (!own_port && starts_opensm(config)) own_port = port.guid;
  // The engine first: the witness tells it whether there is a subnet manager.
  TRY(open_engine(config));
  TRY(open_witness(config, port));
  steward = std::make_unique<Steward>(
      Steward::World{*ledger, *engine, *watch, report, [] { return present().steady; }},
      StewardSettings{.epoch = new_epoch(),
                      .patience = config.patience,
                      .sm = posture_settings(config),
                      .own_port = own_port,
                      .declares = !config.declared.empty()},
      present());
  if (!config.declared.empty()) TRY(follow_declared(config.declared));
  TRY(serve(config));
  service.start(*steward);
  return ok();
}

Status Daemon::Parts::open_engine(const Config& config) {
  const auto changed = [this] { service.engine_changed(); };
  if (config.engine == EngineKind::observe) {
    auto observing = std::make_unique<Observe>(changed);
    observe = observing.get();
    engine = std::move(observing);
    return ok();
  }
  OpenSmEngineSettings settings = config.opensm;
  settings.keeper.separate = separate_cgroup;
  engine = TRY(OpenSm::start(std::move(settings), changed));
  return ok();
}

Status Daemon::Parts::open_witness(const Config& config, const mad::LocalPort& port) {
  WatchSettings settings;
  settings.scan.every = config.scan;
  const Path& key = config.opensm.keeper.opensm.keys.m_key;
  if (!key.empty()) {
    // Without it no table of a locked port could be read, and no binding verified.
    const OpenKey read = TRY(read_open_key_file(key).during("opensm.mKeyFile"));
    report.trouble("opensm.mKeyFile", read.file ? "" : read.file.error().text());
    settings.m_key = mad::MKey{read.key};
  }
  std::unique_ptr<mad::Channel> channel = TRY(mad::UmadChannel::open(port));
  scheduler = std::make_unique<mad::Scheduler>(std::move(channel), config.window);
  watch = std::make_unique<TableWatch>(*scheduler, settings,
                                       [this](Readings readings) { seen(std::move(readings)); });
  return ok();
}

void Daemon::Parts::seen(Readings readings) {
  if (observe != nullptr && readings.topology)
    observe->saw_master(readings.topology->master().has_value());
  service.seen(std::move(readings));
}

Status Daemon::Parts::serve(const Config& config) {
  authority = config.authority;
  answers = fabricapi::serve(service, audited(*authority, report), {.fabric = config.fabric});
  if (!config.socket.empty()) {
    TRY(make_folders(config.socket.parent_path()));
    socket = TRY(rpc::Server::serve(config.socket, {answers.get()}));
  }
  if (config.listening) {
    Fd listening = TRY(http::listen_on(config.listening->address).during("listen.address"));
    rpc::TcpServer::Settings settings;
    settings.files = config.listening->tls;
    settings.account = accounts(*authority);
    settings.on_cut = [this](const rpc::Cut& cut) {
      report.cut(cut.address, cut.holder, rpc::name(cut.cause));
    };
    rpc::on_failed_handshake([this](const std::string& why) { report.failed_handshake(why); });
    tls_key = settings.files.key;
    tcp = TRY(rpc::TcpServer::serve(std::move(listening), settings, {answers.get()}));
    look_at_listener();
  }
  pages = TRY(http::Server::start(config.metrics, {.metrics = [this] { return metrics_page(); },
                                                   .healthy = [this] { return alive(); },
                                                   .ready = [this] { return ready(); }}));
  return ok();
}

Status Daemon::Parts::follow_declared(const Path& file) {
  declared = TRY(DeclaredFile::follow(file, [this](const Result<Declared>& read) {
    report.trouble("declared partitions", read ? "" : read.error().text());
    if (!read) return service.declared_unreadable(read.error().text());
    for (const std::string& error : read->errors) report.error("declared partitions: " + error);
    service.declared(*read);
  }));
  return ok();
}

// The thread comes round. How many calls wait for it says nothing of that.
Status Daemon::Parts::alive() {
  constexpr Duration kLongest{20'000};
  const Duration turn = service.in_turn();
  if (turn < kLongest) return ok();
  return Error(Code::unavailable,
               "the service has not come round for " + std::to_string(turn.count() / 1000) + " s");
}

void Daemon::Parts::look_at_listener() {
  if (tcp == nullptr) return;
  Report::Listener now{tcp->certificate(), tcp->expires(), tcp->refused(), tcp->starved()};
  const Status only_ours = check_private(tls_key);
  // One that is missing is the certificate's trouble.
  if (!only_ours && only_ours.error().code() == Code::denied) now.key = only_ours;
  report.listener(now);
}

Status Daemon::Parts::ready() {
  look_at_listener();
  const Standing standing = engine->standing();
  if (standing.health == Health::serving && standing.swept > 0) return ok();
  return Error(Code::unavailable, "the subnet manager is " + std::string(name(standing.health)) +
                                      (standing.trouble.empty() ? "" : ": " + standing.trouble));
}

std::string Daemon::Parts::metrics_page() {
  look_at_listener();
  (void)service.run([](Steward& one) { one.show(); },  // without it: what was shown last
                    Deadline::in(Duration(2000)));
  return report.metrics().text();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Daemon>> Daemon::start(const Config& config, log::Log& log) {
  auto parts = std::make_unique<Parts>(log);
  std::unique_ptr<Daemon> daemon(new Daemon(std::move(parts)));
  TRY(daemon->parts_->open(config));
  return daemon;
}

Daemon::~Daemon() {
  parts_->declared.reset();
  parts_->pages.reset();
  parts_->service.stop();
  parts_->watch.reset();
  // Tells who still waits, so that their calls can end.
  parts_->steward.reset();
  parts_->socket.reset();
  parts_->tcp.reset();
}

}  // namespace ibpod::sm
