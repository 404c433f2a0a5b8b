// PortProbe: the requests for one ProbeResult, in steps: the port's identity, its repairs if any,
// its tables, and its identity again, as the port may have been replaced. The caller sends the
// requests and passes the answers: there is no I/O here.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/mad/query.h"
#include "sm/probe/probe_result.h"
#include "sm/probe/repair.h"

#include <span>
#include <vector>

namespace ibpod::sm::probe {

// The options of a probe's requests.
struct ProbeOptions {
  mad::Urgency urgency = mad::Urgency::scan;
  mad::MKey m_key = mad::MKey::none;
  Duration timeout{200};
  int attempts = 3;
  Duration limit{5000};  // of each step
  // True: asks the switch again for its enforcement at this port, and checks that the port is still
  // there. False: takes both from the topology.
  bool reread_switch_port = true;
};

class PortProbe {
 public:
  using Answers = std::vector<mad::Outcome<mad::Data>>;

  // `port` is one of `topology`. `repairs`: of this port only, each block at most once.
  PortProbe(const fabric::Port& port, const fabric::Topology& topology, const ProbeOptions& terms,
            std::vector<Repair> repairs = {});

  // The next requests; empty at the end. `answers`: to the requests of the last call, empty at
  // first.
  std::vector<mad::Request> next(const Answers& answers);
  // Valid once next() has returned nothing.
  const ProbeResult& result() const { return result_; }
  const fabric::Port& port() const { return port_; }

 private:
  enum class Step { begin, compare, write, read, check, over };
  struct Write {
    Repair repair;
    bool unanswered = false;  // the Set was not answered; the next read shows if it was done
  };
  using Requests = std::vector<mad::Request>;

  mad::QueryOptions query_options() const;
  mad::PortAddress destination_of(Repair::Table table) const;
  Requests compare();
  Requests write(std::span<const mad::Outcome<mad::Data>> answers);
  void written(std::span<const mad::Outcome<mad::Data>> answers);
  Requests read();
  Requests check(std::span<const mad::Outcome<mad::Data>> answers);
  void take_table(std::span<const mad::Outcome<mad::Data>> answers);
  void take_switch_table(std::span<const mad::Outcome<mad::Data>> answers);
  void take_writes();
  Requests identity_requests() const;
  std::optional<ProbeError> port_mismatch(std::span<const mad::Outcome<mad::Data>> answers) const;
  std::optional<ProbeError> switch_port_mismatch(
      std::span<const mad::Outcome<mad::Data>> answers) const;
  void fail(const ProbeError& why);
  uint16_t entries_of(Repair::Table table) const;

  fabric::Port port_;
  std::optional<fabric::SwitchPort> switch_port_;  // if its table can be read
  ProbeOptions options_;
  std::vector<Write> writes_;
  bool duplicate_guid_ = false;
  Step step_ = Step::begin;
  ProbeResult result_;
};

}  // namespace ibpod::sm::probe
