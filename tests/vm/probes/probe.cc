#include "tests/vm/probes/probe.h"

#include "lib/base/join.h"

#include <algorithm>
#include <ostream>
#include <sstream>

namespace ibpod::probes {
namespace {

constexpr std::string_view kMagic = "ibpod-probe";

std::string transport_of(const std::string& way) { return way.substr(0, way.find(':')); }

}  // namespace

std::string text(const Tenants& tenants) { return join(tenants, ","); }

Tenants parse_tenants(std::string_view text) {
  Tenants tenants;
  std::istringstream words{std::string(text)};
  for (std::string one; std::getline(words, one, ',');)
    if (!one.empty()) tenants.insert(one);
  return tenants;
}

bool may_talk(const Tenants& one, const Tenants& other) {
  return std::any_of(one.begin(), one.end(),
                     [&](const auto& name) { return other.contains(name); });
}

std::string bytes_of(const Probe& probe) {
  std::ostringstream words;
  words << kMagic << ' ' << probe.pod << ' ' << probe.session << ' ' << text(probe.tenants) << ' '
        << probe.way << ' ' << probe.sequence << ' ';
  std::string bytes = words.str();
  bytes.resize(kProbeBytes, '\0');
  return bytes;
}

std::optional<Probe> parse_probe(std::string_view bytes) {
  std::istringstream words{std::string(bytes.substr(0, kProbeBytes))};
  std::string magic, tenants;
  Probe probe;
  if (!(words >> magic >> probe.pod >> probe.session >> tenants >> probe.way >> probe.sequence))
    return {};
  if (magic != kMagic) return {};
  probe.tenants = parse_tenants(tenants);
  return probe;
}

void Tally::received(std::string_view bytes, uint64_t now) {
  const std::optional<Probe> probe = parse_probe(bytes);
  if (probe && may_talk(probe->tenants, own_)) return count(*probe, now);
  ++wrong_;
  if (probe)
    out_ << "WRONG: from " << probe->pod << " of " << text(probe->tenants) << " by " << probe->way;
  else
    out_ << "WRONG: no probe";
  out_ << std::endl;
}

void Tally::count(const Probe& probe, uint64_t now) {
  Way& seen = ways_[{probe.pod, probe.way}];
  Sum& sum = sums_[{probe.pod, transport_of(probe.way)}];
  // Probes that were sent before this program listened are not missing.
  if (seen.session == probe.session && probe.sequence > seen.next) {
    const uint32_t missing = probe.sequence - seen.next;
    sum.missing += missing;
    out_ << "missing: " << missing << " from " << probe.pod << " by " << transport_of(probe.way)
         << " since " << seen.last << " until " << now << std::endl;
  }
  seen = {probe.session, probe.sequence + 1, now};
  ++sum.right;
}

void Tally::broke(const std::string& pod, const std::string& way) {
  ++broken_;
  out_ << "broken: " << way << " to " << pod << std::endl;
}

void Tally::report() const {
  Sum all;
  for (const auto& [key, sum] : sums_) {
    out_ << "from " << key.first << " by " << key.second << ": " << sum.right << " right, "
         << sum.missing << " missing\n";
    all.right += sum.right;
    all.missing += sum.missing;
  }
  out_ << "all: " << all.right << " right, " << wrong_ << " wrong, " << all.missing << " missing, "
       << broken_ << " broken" << std::endl;
}

}  // namespace ibpod::probes
