// The packets that a prober sends to every other pod, and how it judges those that it receives.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ibpod::probes {

// A pod's partitions, by name: two pods that have one in common may talk.
using Tenants = std::set<std::string>;
std::string text(const Tenants& tenants);  // "blue,red"
Tenants parse_tenants(std::string_view text);
bool may_talk(const Tenants& one, const Tenants& other);

// One message. It says who sends it, so that its receiver can tell whether it should have come.
struct Probe {
  std::string pod;
  uint32_t session = 0;  // of its prober: another one after a restart
  Tenants tenants;
  std::string way;        // "ud:0>1" from its sender's P_Key index 0 to its receiver's 1; "ip"
  uint32_t sequence = 0;  // of this way to its receiver, from 0 on
};
inline constexpr size_t kProbeBytes = 128;
// Always kProbeBytes long; what does not fit is cut off.
std::string bytes_of(const Probe& probe);
// Nothing: it is no probe.
std::optional<Probe> parse_probe(std::string_view bytes);

// The packets that have come so far.
class Tally {
 public:
  // A packet that must not have come is reported at once, a line each; a missing one when the next
  // one has come.
  Tally(Tenants own, std::ostream& out) : own_(std::move(own)), out_(out) {}

  // `now`: milliseconds since the epoch.
  void received(std::string_view bytes, uint64_t now);
  // A reliable connection to a pod of ours has broken.
  void broke(const std::string& pod, const std::string& way);

  uint64_t wrong() const { return wrong_; }
  // A line for each pod and transport: "from p2 by ud: 120 right, 0 missing"; then the sums.
  void report() const;

 private:
  struct Way {
    uint32_t session = 0, next = 0;
    uint64_t last = 0;  // when one has come
  };
  struct Sum {
    uint64_t right = 0, missing = 0;
  };
  void count(const Probe& probe, uint64_t now);

  const Tenants own_;
  std::ostream& out_;
  std::map<std::pair<std::string, std::string>, Way> ways_;  // by pod and way
  std::map<std::pair<std::string, std::string>, Sum> sums_;  // by pod and transport
  uint64_t wrong_ = 0, broken_ = 0;
};

}  // namespace ibpod::probes
