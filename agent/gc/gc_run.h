// GcRun: what one sweep has found and done.
#pragma once

#include "agent/gc/evidence.h"
#include "lib/base/clock.h"
#include "lib/ib/pci_address.h"
#include "lib/node/records.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::gc {

// The result of one record in a run.
struct Outcome {
  node::RecordName record;
  std::optional<ib::PciAddress> vf;  // nothing for a child: its parent has others
  node::PodName pod;                 // empty where the record cannot be read
  Verdict verdict = Verdict::unknown;
  std::string reason;     // of the verdict
  bool released = false;  // it is over, and the record has gone
  std::string failure;    // why a dead one is not released yet

  // There is a record, and its pod is not known to live: no pod gets its VF until it is gone.
  bool is_quarantined() const { return verdict != Verdict::live && !released; }
  // Why, for people.
  std::string text() const { return reason + (failure.empty() ? "" : "; " + failure); }
};

// Addresses of an attachment that has ended, which IPAM has still to take back
// (node/address_releases.h). No device waits for them.
struct AddressRelease {
  node::AddressReleaseName name;
  bool released = false;     // in this pass
  std::string failure = {};  // why not
};

struct GcRun {
  std::vector<Outcome> outcomes;  // in the order of the records' names
  std::vector<AddressRelease> address_releases;
  std::string address_releases_failure;  // why they could not be listed
  std::vector<std::string> strays;       // IPoIB children that had no record
  std::string strays_failure;            // why they could not be removed, or looked for
  std::chrono::system_clock::time_point evaluated_at;  // when its records were judged
  // When the next pass can release what this one did not dare to.
  std::optional<Duration> rerun_after;

  void request_rerun(Duration later) { rerun_after = std::min(later, rerun_after.value_or(later)); }
};

}  // namespace ibpod::agent::gc
