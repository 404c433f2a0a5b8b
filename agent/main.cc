#include "agent/agent.h"
#include "lib/base/process.h"
#include "lib/cni/streams.h"
#include "lib/rpc/grpc_log.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <thread>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace ibpod::agent {
namespace {

struct Options {
  Path config = "/etc/ibpod/agent.json";
  std::string node;
  bool check = false;
};

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.c_str();
}

// For --check-config: every finding on a line; 0 where the file is good.
int check(const Options& options) {
  const config::Findings findings =
      config::check_config(options.config, options.node, check_sections);
  for (const std::string& text : findings.warnings) std::cout << "warning: " << text << "\n";
  for (const std::string& text : findings.errors) std::cout << "error: " << text << "\n";
  return findings.errors.empty() ? 0 : 1;
}

// How long the end may take. What is underway then may end at any point of it.
constexpr std::chrono::milliseconds kEnd{800};

// SIGTERM and SIGINT, blocked for all threads, end the agent: in good order if that is soon.
std::jthread stop_on_signal(Agent& agent, const sigset_t& signals) {
  return std::jthread([&agent, signals] {
    int number = 0;
    sigwait(&signals, &number);
    agent.stop();
    std::this_thread::sleep_for(kEnd);
    ::_exit(0);
  });
}

Status work(const Options& options, log::Log& log) {
  config::Reloader reloader =
      TRY(config::Reloader::start(options.config, options.node, check_sections));
  log.set_least(reloader.config().log_level);
  if (!reloader.config().log_file.empty()) {
    TRY(log.open(reloader.config().log_file).during("logFile"));
  }
  for (const std::string& text : reloader.warnings())
    log.write(log::Level::warning, "configuration: " + text);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT}) sigaddset(&signals, one);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const std::unique_ptr<Agent> agent = TRY(Agent::open(std::move(reloader), log));
  stop_on_signal(*agent, signals).detach();
  Status ended = agent->run();
  agent->shut_down();
  if (!ended) log.write(log::Level::error, ended.error().text());
  log.write(log::Level::info, "the agent stops");
  // Nothing is left to be put in order: whatever is underway may end at any point of it.
  std::fflush(nullptr);
  ::_exit(ended ? 0 : 1);
}

int run(int argc, char** argv) {
  Options options;
  options.node = host_name();
  CLI::App app(
      "Prepares this node's InfiniBand VFs, offers them to the kubelet, and cleans up after pods.",
      "ibpod-agent");
  app.set_version_flag("--version", IBPOD_VERSION);
  app.add_option("--config", options.config, "the configuration file")->capture_default_str();
  app.add_option("--node", options.node, "this node's name, which selects sections of the file")
      ->capture_default_str();
  app.add_flag("--check-config", options.check,
               "check the configuration file, print what is wrong, and exit");
  CLI11_PARSE(app, argc, argv);
  if (options.check) return check(options);
  log::Log log(log::Level::info);
  rpc::silence_grpc();
  const Status ended = work(options, log);
  if (ended) return 0;
  log.write(log::Level::error, ended.error().text());
  return 1;
}

}  // namespace
}  // namespace ibpod::agent

int main(int argc, char** argv) {
  ibpod::forbid_core_dumps();
  return ibpod::agent::run(argc, argv);
}
