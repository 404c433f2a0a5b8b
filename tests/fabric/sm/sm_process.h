// ibpod-sm as a process on host h6 of a simulated subnet, with its OpenSM on h0.
#pragma once

#include "lib/fabricapi/client.h"
#include "tests/fabric/background.h"
#include "tests/support/temp_folder.h"

#include <functional>
#include <optional>
#include <string>

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
  };
  explicit SmProcess(Setup setup) : setup_(std::move(setup)) {}
  ~SmProcess();
  SmProcess(const SmProcess&) = delete;
  SmProcess& operator=(const SmProcess&) = delete;
  SmProcess(SmProcess&&) = delete;
  SmProcess& operator=(SmProcess&&) = delete;

  // Until it serves.
  void start();
  // With SIGKILL. OpenSM goes on.
  void kill();
  // As a service is ended; all that it has said. OpenSM goes on.
  std::string end();
  // Its OpenSM, with SIGKILL.
  void kill_opensm() const;
  pid_t pid() const { return process_->pid(); }

  fabricapi::Client client() const {
    return fabricapi::Client::over_unix(folder_.path() / "sm.sock");
  }
  // "/metrics", "/healthz" or "/readyz".
  std::string page(const std::string& path) const;
  Path state_folder() const { return folder_.path() / "state"; }
  Path partitions_conf() const { return state_folder() / "opensm/partitions.conf"; }
  // Until it is so; the test fails, with its log, if that takes a minute.
  void until(const std::function<bool()>& so);
  void until_well();

 private:
  void write_files() const;
  std::optional<pid_t> opensm() const;
  Setup setup_;
  TempFolder folder_;
  std::optional<Background> process_;
};

std::string node_of(unsigned host);
// ibsim counts the GUIDs of adapters from 0x100000, two for each: its node and its port.
constexpr ib::Guid port_guid(unsigned host) { return ib::Guid(0x100001 + 2 * host); }

}  // namespace ibpod
