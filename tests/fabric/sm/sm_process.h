// ibpod-sm as a process on host h6 of a simulated subnet, with its OpenSM on h0.
#pragma once

#include "lib/fabricapi/client.h"
#include "tests/fabric/background.h"
#include "tests/support/temp_folder.h"

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <sys/types.h>

namespace ibpod {

class SmProcess {
 public:
  struct Setup {
    unsigned hosts;  // nodes n1 to this one have the port of the host of this number
    int scan_seconds = 1;
    bool both = false;        // allow_both_pkeys
    std::string more = {};    // of the configuration: `"leaseSeconds": 10, …`
    std::string opensm = {};  // of its section on OpenSM
    std::string ufm = {};     // its section on UFM: then it is given no OpenSM
    // Added to the process's environment. LD_PRELOAD goes before the library through which it sees
    // the subnet.
    std::map<std::string, std::string> environment = {};
    // Ranges of P_Keys; empty: 0x0001 to 0x00ff, and 0x1000 to 0x10ff for explicit use.
    std::string pkeys = {};
  };
  explicit SmProcess(Setup setup) : setup_(std::move(setup)) {}
  // Ends it, too, if it still runs.
  ~SmProcess();
  SmProcess(const SmProcess&) = delete;
  SmProcess& operator=(const SmProcess&) = delete;
  SmProcess(SmProcess&&) = delete;
  SmProcess& operator=(SmProcess&&) = delete;

  // Until it serves, and its OpenSM, too.
  void start();
  // Begins to start.
  void launch();
  // Waits until it serves; false: it has ended.
  bool serves();
  // Its OpenSM is master, and has what it is to have.
  bool is_healthy() const;
  // With SIGKILL. OpenSM goes on.
  void kill();
  // Waits for its end. Returns its output and its exit code, 128 + signal if a signal ended it.
  std::pair<std::string, int> reap();
  // As a service is ended; all that it has said. OpenSM goes on. The test fails where it does not
  // end in peace: with a crash, a leak or a sanitizer's report.
  std::string end();
  // Its OpenSM, with SIGKILL.
  void kill_opensm() const { signal_opensm(SIGKILL); }
  void signal_opensm(int number) const;
  std::optional<pid_t> opensm() const;
  pid_t pid() const { return process_->pid(); }

  fabricapi::Client client() const {
    return fabricapi::Client::over_unix(folder_.path() / "sm.sock");
  }
  // One that every namespace may use.
  static fabric::Partition sample_partition(const std::string& name);
  static fabricapi::BindRequest request(unsigned host, const std::string& partition,
                                        const std::string& container = "c1");
  const Path& folder() const { return folder_.path(); }
  // "/metrics", "/healthz" or "/readyz".
  std::string page(const std::string& path) const;
  // The sum of a metric's lines that begin so.
  double metric(const std::string& beginning) const;
  Path state_folder() const { return folder_.path() / "state"; }
  Path partitions_conf() const { return state_folder() / "opensm/partitions.conf"; }
  // Until it is so; the test fails, with its log, if that takes a minute.
  void until(const std::function<bool()>& so);
  void until_healthy();

 protected:
  Setup& setup() { return setup_; }
  void use(std::map<std::string, std::string> environment) {
    setup_.environment = std::move(environment);
  }
  // For the next start.
  void configure(std::string more, std::string opensm) {
    setup_.more = std::move(more);
    setup_.opensm = std::move(opensm);
  }

 private:
  std::string engine() const;
  void write_files() const;
  std::map<std::string, std::string> environment() const;
  Setup setup_;
  TempFolder folder_;
  std::optional<Background> process_;
};

std::string node_of(unsigned host);
// ibsim counts the GUIDs of adapters from 0x100000, two for each: its node and its port.
constexpr ib::Guid port_guid(unsigned host) { return ib::Guid(0x100001 + 2 * host); }

}  // namespace ibpod
