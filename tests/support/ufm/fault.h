// Fault: what goes wrong in a UFM with the calls that it matches. Faults queue: the first one that
// matches a call is used.
#pragma once

#include "tests/support/ufm/call.h"

#include <list>
#include <set>

namespace ibpod::fake_ufm {

enum class FaultKind {
  refuse,       // not done; answers Fault::status with Fault::text
  html,         // not done; 503 with the page of a proxy
  half_done,    // done for the first half of the GUIDs (rounded down); answers Fault::status
  ignore,       // not done, but answered as if it were
  lose_answer,  // done; the connection is reset
  hang,         // not done, never answered
  hang_after,   // done, never answered
  slow,         // done, answered after Fault::delay
  truncate,     // done, the answer ends in the middle
};
Words<FaultKind> words_of(FaultKind);

struct Fault {
  FaultKind kind = FaultKind::refuse;
  int status = 500;
  std::string text = "Internal Server Error";
  std::chrono::milliseconds delay{0};

  // Which calls. Empty: all.
  std::optional<std::string> caller = {};
  std::set<Operation> operations = {};
  std::optional<ib::PKey> pkey = {};

  int skip = 0;   // this many matching calls pass before
  int times = 1;  // 0: until faults are cleared
};

class FaultQueue {
 public:
  void push(Fault fault) { faults_.push_back(std::move(fault)); }
  void clear() { faults_.clear(); }
  // The fault of this call, if it has one, which is then used up by one.
  std::optional<Fault> take(const Call& call);

 private:
  std::list<Fault> faults_;
};

}  // namespace ibpod::fake_ufm
