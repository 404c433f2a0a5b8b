// ibpod-sm on host h6, OpenSM on h0, and the tests on h7 of one simulated subnet.
#pragma once

#include "tests/fabric/engine/subnet.h"
#include "tests/fabric/sm/sm_process.h"

#include <string>

namespace ibpod {

class SmFixture : public SmProcess {
 public:
  explicit SmFixture(std::string more = {}, bool both = false, std::string opensm = {})
      : SmProcess({.hosts = kHosts - 1,
                   .both = both,
                   .more = std::move(more),
                   .opensm = std::move(opensm)}) {
    start();
  }
  explicit SmFixture(Setup setup) : SmProcess(std::move(setup)) { start(); }
  // To be started by the test.
  struct Unstarted {};
  explicit SmFixture(Unstarted, std::string more = {})
      : SmProcess({.hosts = kHosts - 1, .more = std::move(more)}) {}
  SmFixture(Unstarted, Setup setup) : SmProcess(std::move(setup)) {}

  bool all_verified() const;
  // Made by the administrator.
  void create_partition(const fabric::Partition& partition);
  void create_partition(const std::string& name) { create_partition(sample_partition(name)); }
  // How it ended: "verified", "released", "busy: …".
  std::string bind(unsigned host, const std::string& partition, const std::string& container = "c1",
                   Duration timeout = Duration(20000));
  std::string unbind(unsigned host, const std::string& container = "c1",
                     Duration timeout = Duration(20000));
  // The table in the port now.
  ib::PKeyTable table(unsigned host) { return subnet.tables().at(host); }
  static Deadline deadline_in(Duration duration = Duration(30000)) {
    return Deadline::in(duration);
  }

  Subnet subnet;
};

}  // namespace ibpod
