#include "lib/json/read.h"
#include "sm/config/ufm_section.h"

namespace ibpod::sm::config {
namespace {

using json::Value;

// A key that the engine ufm does not use. The section "opensm" has the key of the prober, too.
struct Unused {
  std::string_view section, key, why;
};
constexpr std::string_view kQos =
    "ibpod-sm sets no MTU, rate and service level in UFM; remove the key, and set it in UFM";
constexpr std::string_view kOpensm =
    "UFM configures its own OpenSM; remove the key (only opensm.mKeyFile is used)";
constexpr Unused kUnused[] = {
    {"defaults", "mtu", kQos},
    {"defaults", "rate", kQos},
    {"defaults", "sl", kQos},
    {"defaultPartition", "ipoib",
     "the default partition is UFM's; remove the key, and set it in UFM"},
    {"opensm", "program", kOpensm},
    {"opensm", "folder", kOpensm},
    {"opensm", "port", kOpensm},
    {"opensm", "priority", kOpensm},
    {"opensm", "maxWireSmps", kOpensm},
    {"opensm", "sweepSeconds", kOpensm},
    {"opensm", "pollingMs", kOpensm},
    {"opensm", "pollingRetries", kOpensm},
    {"opensm", "mKeyProtection", kOpensm},
    {"opensm", "logMegabytes", kOpensm},
    {"opensm", "qos", kOpensm},
    {"opensm", "allowBothPkeys", kOpensm},
    {"opensm", "smKeyFile", kOpensm},
    {"opensm", "saKeyFile", kOpensm},
    {"opensm", "moreOptionsFile", kOpensm},
    {"opensm", "pidFile", kOpensm},
    {"opensm", "logFile", kOpensm},
};

// The key in whatever case, as readers accept it. Faults of the form are reported by them.
std::optional<Value> find_key(const Value& object, std::string_view key) {
  Result<json::Fields> fields = json::Fields::of(object);
  if (!fields) return std::nullopt;
  const Result<std::optional<Value>> found = fields->find(key);
  return found ? *found : std::nullopt;
}

}  // namespace

void refuse_without_effect(const Value& document, Errors& errors) {
  std::string_view name;
  std::optional<Value> section;
  for (const Unused& one : kUnused) {
    if (name != one.section) section = find_key(document, name = one.section);
    const std::optional<Value> value = section ? find_key(*section, one.key) : std::nullopt;
    if (value)
      errors.add(value->wrong(value->ascii() +
                              " has no effect with the engine ufm: " + std::string(one.why)));
  }
}

state::Policy::Unsupported unsupported_by_ufm() {
  const std::string qos = "ibpod-sm does not set it in UFM: leave it out, and set it there";
  return {.both = "is not possible with UFM, in which a port has one membership in a partition",
          .sl = qos,
          .group = qos};
}

}  // namespace ibpod::sm::config
