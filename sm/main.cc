#include "lib/base/process.h"
#include "lib/rpc/grpc_log.h"
#include "sm/daemon.h"
#include "sm/opensm/opensm_conf.h"

#include <csignal>
#include <iostream>

#include <CLI/CLI.hpp>
#include <sys/stat.h>

namespace ibpod::sm {
namespace {

struct Options {
  Path config = "/etc/ibpod/sm.json";
  bool check = false;
};

Result<config::Config> read(const Options& options) {
  const std::string text = TRY(read_file(options.config));
  return config::read_config(text).during(options.config.native());
}

// A missing file is no error: the configuration may be for another machine.
Status check_files(const config::Config& config) {
  Status more = opensm::check_more_options(config.opensm.launcher.opensm.more);
  return !more && more.error().code() == Code::not_found ? ok() : more;
}

// Serves until SIGTERM or SIGINT; returns when all calls have ended.
Status serve(const config::Config& config, log::Log& log) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT}) sigaddset(&signals, one);
  // Before any thread is started: all of them inherit the mask.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const std::unique_ptr<Daemon> daemon = TRY(Daemon::start(config, log));
  log.write(log::Level::info, "ibpod-sm serves the fabric " + config.fabric);
  int number = 0;
  sigwait(&signals, &number);
  return ok();
}

Status work(const config::Config& config, log::Log& log) {
  TRY(serve(config, log));
  log.write(log::Level::info, "ibpod-sm has ended");
  return ok();
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Manages the partitions of an InfiniBand subnet and verifies them at the ports.",
               "ibpod-sm");
  app.set_version_flag("--version", IBPOD_VERSION);
  app.add_option("--config", options.config, "the configuration file")->capture_default_str();
  app.add_flag("--check-config", options.check,
               "print the errors of the configuration file and exit");
  CLI11_PARSE(app, argc, argv);
  const Result<config::Config> config = read(options);
  if (options.check) {
    const Status checked = config ? check_files(*config) : Status(config.error());
    if (!checked) std::cout << "error: " << checked.error().text() << "\n";
    return checked ? 0 : 1;
  }
  log::Log log(config ? config->log_level : log::Level::info);
  rpc::silence_grpc();
  const Status ended = config ? work(*config, log) : Status(config.error());
  if (ended) return 0;
  log.write(log::Level::error, ended.error().text());
  return 1;
}

}  // namespace
}  // namespace ibpod::sm

int main(int argc, char** argv) {
  ibpod::forbid_core_dumps();
  ::umask(077);  // OpenSM inherits it, and writes M_Keys to its caches
  return ibpod::sm::run(argc, argv);
}
