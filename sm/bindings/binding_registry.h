// BindingRegistry: the bindings: the port and the partitions of each attachment, and whether the
// port's table was verified.
//
// It has no clock and reads no fabric: time and observations are arguments. Callers are authorized
// by role and node before they get here (sm/api/call_gate.h). A request either succeeds, or returns
// an Error and changes nothing. Changes are durable after Journal::commit().
#pragma once

#include "lib/fabricapi/calls.h"
#include "sm/bindings/port_facts.h"
#include "sm/state/journal.h"
#include "sm/verify/port_requests.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::sm::bindings {

class BindingRegistry final : public verify::PortRequests {
 public:
  using Caller = fabricapi::Caller;

  // `journal` outlives it.
  explicit BindingRegistry(state::Journal& journal) : journal_(journal) {}

  // Creates the binding of an attachment, or renews the lease of the existing one. Other partitions
  // than before change the binding: lost keys must leave the table before new ones come. Errors:
  // see admit() (admission.h), and `may_change` for a call that would create or change a binding.
  Result<fabric::Binding> bind(const Caller& caller, const fabricapi::BindRequest& request,
                               const PortFacts& facts, state::Now now,
                               const Status& may_change = ok());
  // Returns the binding as `releasing`, or as `released` if there is none. invalid for a node of an
  // unknown cluster (check_known_cluster()).
  Result<fabric::Binding> unbind(const fabric::Attachment& attachment, state::Now now);
  // Handles all leases that have ended.
  Status expire(state::Now now);
  // The end of the earliest lease; nothing: there is no lease.
  std::optional<state::Steady> next_expiry() const;

  // --- observations; they may stage changes: call commit() after them, too

  // Records that sweeps read this version from now on. Call it after each commit(): all keys of a
  // new binding may already be in this version.
  void note_written(uint64_t version, state::Now now);
  // Records that the port's table matches `version` (or, with Proof::none, that the port is
  // absent). Returns false and does nothing if the port's keys have changed since.
  bool note_verified(ib::Guid guid, uint64_t version, fabric::Proof proof,
                     fabric::Enforcement enforcement, state::Now now);
  // As note_verified(), but keys that the port must not have may come back: no binding is released,
  // and none gets keys for which others must have left.
  bool note_present(ib::Guid guid, uint64_t version, fabric::Proof proof,
                    fabric::Enforcement enforcement, state::Now now);
  // Records that the port holds no key of a former membership, or will never have a table again.
  // Returns as note_verified().
  bool note_clean(ib::Guid guid, uint64_t version, fabric::Proof proof, state::Now now);
  // Sets why the bindings of a port are not verified. A verified binding becomes `unknown` if the
  // port cannot be read (unreachable, timeout, port_down, port_unknown, vport, duplicate),
  // `written` if its table is wrong (refused, foreign_key, missing_key); else it stays.
  void set_condition(ib::Guid guid, const fabric::Condition& status, state::Now now);
  // All verified bindings become `written`: they must be verified again.
  void invalidate_verified(const fabric::Condition& status, state::Now now);
  // Records that a full scan has ended; `began` is its start.
  void note_full_scan(state::Steady began);

  // --- for the port verifier and the prober

  uint64_t changed_in(ib::Guid guid) const override;
  std::vector<const fabric::Binding*> bindings_on(ib::Guid guid) const override;
  bool needs_no_proof(ib::Guid guid) const override;
  bool is_being_forgotten(const std::string& node) const override;
  // Ports with a key that must still be added or removed.
  const std::set<ib::Guid>& unsettled() const;

  // --- lookups

  Result<fabric::Binding> binding(const fabric::Attachment& attachment) const;
  // invalid for a page token that is none, and for a node or namespace of an unknown cluster
  // (check_known_cluster()).
  Result<fabricapi::ListPage<fabric::Binding>> list(const fabricapi::BindingFilter& filter,
                                                    const fabricapi::PageRequest& page) const;
  // The ports of the node's bindings.
  std::vector<ib::Guid> ports_of(const std::string& node) const;
  std::vector<const fabric::Binding*> releasing() const;
  using Counts = std::map<std::pair<fabric::BindingState, fabric::Reason>, size_t>;
  Counts counts() const;

 private:
  enum class Source { exact, present, clean };
  struct Observed;

  const state::Records& records() const { return journal_.records(); }
  bool note_observed(const Observed& seen);
  void note_binding(state::BindingRecord& entry, const Observed& seen);

  state::Journal& journal_;
};

}  // namespace ibpod::sm::bindings
