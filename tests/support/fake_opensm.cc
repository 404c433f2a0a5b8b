// A program that does with files, log and signals what OpenSM does, and knows no subnet. Files in
// the folder that it runs in say how it behaves:
//   hold     a sweep does not get beyond its discovery while it is there; SIGHUP begins that anew
//   faulty   sweeps end with errors
//   standby  another one is master: no sweep begins
//   deaf     SIGHUP is ignored
// In `readings` is a line for each reading of partitions.conf: its FNV and whether it was good. It
// ends with SIGTERM, or when its folder has gone.
#include "lib/base/files.h"
#include "lib/base/fnv.h"
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
    wanted_ = true;
    while (!ended_) {
      step();
      if (!ended_) wait();
    }
    say("0x80", "Exiting SM");
    return EXIT_SUCCESS;
  }

 private:
  static bool is(const char* behaviour) { return path_exists(behaviour); }

  void say(const char* level, const std::string& text) const {
    std::ofstream(log_, std::ios::app)
        << "Nov 22 08:09:52 031570 [895D76C0] " + std::string(level) + " -> " + text + "\n";
  }
  // As each entry of its log is one write.
  void step() {
    if (is("standby")) {
      if (!std::exchange(standby_, true)) say("0x80", "Entering STANDBY state");
      discovering_ = false;
      return;
    }
    standby_ = false;
    if (std::exchange(wanted_, false)) {
      say("0x04", "state_mgr_sweep_hop_0: \n\n\n*****\n**** INITIATING HEAVY SWEEP ****\n");
      discovering_ = true;
    }
    if (!discovering_ || is("hold")) return;
    discovering_ = false;
    if (!std::exchange(master_, true)) say("0x80", "Entering MASTER state");
    read_partitions();
    if (is("faulty"))
      say("0x80", "Errors during initialization");
    else
      say("0x02", "SUBNET UP");
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
    ::poll(waited.data(), waited.size(), -1);
    if (waited[1].revents != 0)
      (void)folder_.wait(Deadline::in(Duration(0)));  // what it was is seen
    signalfd_siginfo signal{};
    while (::read(signals_.get(), &signal, sizeof signal) > 0) {
      if (signal.ssi_signo == SIGTERM) ended_ = true;
      if (signal.ssi_signo == SIGUSR1 || !is("deaf")) wanted_ = true;
    }
    ended_ = ended_ || !path_exists(log_.parent_path());
  }

  std::map<std::string, std::string> options_;
  Path partitions_;
  Path log_;
  FolderWatch folder_;
  Fd signals_;
  bool wanted_ = false;
  bool discovering_ = false;
  bool standby_ = false;
  bool master_ = false;
  bool ended_ = false;
};

}  // namespace
}  // namespace ibpod

int main(int count, char** arguments) {
  if (count != 3 || std::string(arguments[1]) != "-F") return EXIT_FAILURE;
  return ibpod::FakeOpenSm(arguments[2]).run();
}
