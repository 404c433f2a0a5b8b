// A program that does with files, log and signals what OpenSM does, and knows no subnet. Files in
// the folder that it runs in say how it behaves:
//   hold     a sweep does not get beyond its discovery while it is there; SIGHUP begins it again
//   faulty   sweeps end with errors
//   restless each sweep is followed by the next one in the same moment
//   down     its port is down: it looks at each signal
//   standby  another one is master: no sweep begins
//   deaf     SIGHUP is ignored
// In `readings` is a line for each reading of partitions.conf: its FNV and whether it was good. It
// ends with SIGTERM, or when its folder has gone.
#include "lib/base/files.h"
#include "lib/base/fnv.h"
#include "lib/base/folder_watch.h"
#include "lib/fabric/partitions_conf.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace ibpod {
namespace {

std::map<std::string, std::string> options_in(const Path& conf) {
  std::map<std::string, std::string> options;
  std::ifstream file(conf);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, value;
    if (words >> key >> value) options[key] = value;
  }
  return options;
}

class FakeOpenSm {
 public:
  explicit FakeOpenSm(const Path& conf)
      : options_(options_in(conf)),
        partitions_(options_.at("partition_config_file")),
        log_(options_.at("log_file")),
        folder_(FolderWatch::open(".").value()) {
    sigset_t ours;
    ::sigemptyset(&ours);
    ::sigaddset(&ours, SIGHUP);
    ::sigaddset(&ours, SIGTERM);
    ::sigaddset(&ours, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &ours, nullptr);
    signals_ = Fd(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run() {
    say("0x03", "OpenSM 3.3.23");
    say("0x80", "Entering DISCOVERING state");
    definitions_ = true;
    while (!ended_) {
      step();
      if (!ended_) wait();
    }
    say("0x80", "Exiting SM");
    return EXIT_SUCCESS;
  }

 private:
  static bool is(const char* behaviour) { return path_exists(behaviour); }

  static std::string entry(const char* level, const std::string& text) {
    return "Nov 22 08:09:52 031570 [895D76C0] " + std::string(level) + " -> " + text + "\n";
  }
  static std::string beginning() {
    return entry("0x04", "state_mgr_sweep_hop_0: \n\n\n*****\n**** INITIATING HEAVY SWEEP ****\n");
  }
  void write(const std::string& entries) const { std::ofstream(log_, std::ios::app) << entries; }
  void say(const char* level, const std::string& text) const { write(entry(level, text)); }

  // As each entry of its log is one write.
  void step() {
    if (is("standby")) {
      if (!std::exchange(standby_, true)) say("0x80", "Entering STANDBY state");
      discovering_ = false;
      return;
    }
    standby_ = false;
    if (std::exchange(definitions_, false)) {
      write(beginning());
      discovering_ = true;
    }
    if (!discovering_ || is("hold")) return;
    discovering_ = false;
    if (!port_is_up()) return;
    if (!std::exchange(master_, true)) say("0x80", "Entering MASTER state");
    read_partitions();
    discovering_ = is("restless");
    write(entry("0x80", is("faulty") ? "Errors during initialization" : "SUBNET UP") +
          (discovering_ ? beginning() : ""));
  }

  bool port_is_up() {
    const bool was_down = std::exchange(down_, is("down"));
    if (down_ && !was_down) {
      say("0x80", "SM port is down");
      say("0x80", "Entering DISCOVERING state");
      master_ = false;
    }
    if (!down_ && was_down) say("0x80", "SM port is up");
    return !down_;
  }

  void read_partitions() {
    const auto text = read_file(partitions_);
    const fabric::OpenSmOptions known{options_["allow_both_pkeys"] == "TRUE",
                                      options_["qos"] == "TRUE"};
    const bool good = text && fabric::read_partitions_conf(*text, known).ok();
    std::ofstream("readings", std::ios::app)
        << (text ? fnv1a(*text) : 0) << (good ? " good\n" : " bad\n");
    if (!good)
      say("0x01",
          "osm_prtn_make_partitions: Partition configuration in error; retrying with default "
          "config");
  }

  void wait() {
    std::array<pollfd, 2> waited{{{signals_.get(), POLLIN, 0}, {folder_.fd(), POLLIN, 0}}};
    // As long as a sweep takes.
    ::poll(waited.data(), waited.size(), discovering_ && is("restless") ? 2 : -1);
    if (waited[1].revents != 0)
      (void)folder_.wait(Deadline::in(Duration(0)));  // what it was is seen
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) > 0) {
      if (signal.ssi_signo == SIGTERM) ended_ = true;
      if (signal.ssi_signo == SIGUSR1 || !is("deaf")) definitions_ = true;
    }
    ended_ = ended_ || !path_exists(log_.parent_path());
  }

  std::map<std::string, std::string> options_;
  Path partitions_;
  Path log_;
  FolderWatch folder_;
  Fd signals_;
  bool definitions_ = false;
  bool discovering_ = false;
  bool standby_ = false;
  bool down_ = false;
  bool master_ = false;
  bool ended_ = false;
};

}  // namespace
}  // namespace ibpod

int main(int count, char** arguments) {
  if (count != 3 || std::string(arguments[1]) != "-F") return EXIT_FAILURE;
  return ibpod::FakeOpenSm(arguments[2]).run();
}
