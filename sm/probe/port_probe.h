// PortVisit: the questions that make one Reading, and the repairs before it, in steps: who is it
// and what is there; the writes; the tables; and who was it. It is told the answers and does no
// I/O.
#pragma once

#include "lib/fabric/topology.h"
#include "lib/mad/query.h"
#include "sm/probe/probe_result.h"
#include "sm/probe/repair.h"

#include <span>
#include <vector>

namespace ibpod::sm {

// How its questions are put.
struct VisitTerms {
  mad::Urgency urgency = mad::Urgency::scan;
  mad::MKey m_key = mad::MKey::none;
  Duration timeout{200};
  int attempts = 3;
  Duration limit{5000};  // of each step
  // Whether the switch is asked again what it enforces at this port, and whether the port is still
  // there. Otherwise that is as in the topology.
  bool leaf_anew = true;
};

class PortVisit {
 public:
  using Answers = std::vector<mad::Outcome<mad::Data>>;

  // `port` as in `topology`. Repairs of this port alone, each block at most once.
  PortVisit(const fabric::SeenPort& port, const fabric::Topology& topology, const VisitTerms& terms,
            std::vector<Repair> repairs = {});

  // The next questions; `answers` to those of the last call, none at first. None: it is over.
  std::vector<mad::Request> next(const Answers& answers);
  // When it is over.
  const Reading& reading() const { return reading_; }
  const fabric::SeenPort& port() const { return port_; }

 private:
  enum class Step { begin, compare, write, read, check, over };
  struct Write {
    Repair repair;
    bool unanswered = false;  // the Set; the block says whether it was done
  };
  using Requests = std::vector<mad::Request>;

  mad::Asking asking() const;
  mad::Place place_of(Repair::Table table) const;
  Requests compare();
  Requests write(std::span<const mad::Outcome<mad::Data>> answers);
  void written(std::span<const mad::Outcome<mad::Data>> answers);
  Requests read();
  Requests check(std::span<const mad::Outcome<mad::Data>> answers);
  void judge(std::span<const mad::Outcome<mad::Data>> answers);
  void judge_leaf(std::span<const mad::Outcome<mad::Data>> answers);
  void judge_writes();
  Requests who() const;
  std::optional<NotRead> not_the_port(std::span<const mad::Outcome<mad::Data>> answers) const;
  std::optional<NotRead> not_the_leaf(std::span<const mad::Outcome<mad::Data>> answers) const;
  void fail(const NotRead& why);
  uint16_t places_of(Repair::Table table) const;

  fabric::SeenPort port_;
  std::optional<fabric::LeafPort> leaf_;  // where it may be asked
  VisitTerms terms_;
  std::vector<Write> writes_;
  bool doubtful_ = false;
  Step step_ = Step::begin;
  Reading reading_;
};

}  // namespace ibpod::sm
