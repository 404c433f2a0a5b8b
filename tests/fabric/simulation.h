// A simulated subnet: ibsim, and OpenSM on it. A program that runs in its environment, with its
// library loaded before all others, sees a port of the subnet instead of the machine's own.
//
// An OpenSM there may hang at its end: it cancels the thread that receives. If that thread had a
// lock of umad2sim (0.10), another thread waits for the lock, and the library's destructor for that
// thread, without end. A killed OpenSM stays a client of ibsim, which has room for ten.
#pragma once

#include "tests/fabric/background.h"
#include "tests/support/temp_folder.h"

#include <map>
#include <memory>
#include <string>

namespace ibpod {

class Simulation {
 public:
  // Starts a network (ibsim's netlist) with a partitions.conf; the subnet manager is on host "h0".
  // Returns when it reports that the subnet is up.
  static Result<Simulation> start(const std::string& network, const std::string& partitions);
  Simulation(Simulation&&) = default;

  // The environment for a program on that host.
  static std::map<std::string, std::string> environment(const std::string& host,
                                                        const std::string& socket);
  std::map<std::string, std::string> at(const std::string& host) const {
    return environment(host, socket_);
  }
  // The process of the subnet manager.
  pid_t manager() const { return manager_.pid(); }
  const Path& folder() const { return folder_->path(); }
  // OpenSM's program, the first in PATH.
  static Path opensm();
  // The library between a program and the simulator; empty: it is not installed.
  static std::string library();

 private:
  Simulation(std::unique_ptr<TempFolder> folder, std::string socket, Background network,
             Background manager);
  std::unique_ptr<TempFolder> folder_;
  std::string socket_;
  Background network_;
  Background manager_;
};

}  // namespace ibpod
