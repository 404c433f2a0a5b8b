#include "lib/fabric/group_flags.h"

#include <array>

namespace ibpod::fabric {
namespace {

constexpr uint64_t code(Rate rate) { return static_cast<uint64_t>(rate); }

// From kFirstRate to kLastRate.
constexpr std::array kGbps = {"2.5", "10",  "30",  "5",  "20",  "40",  "60",
                              "80",  "120", "14",  "56", "112", "168", "25",
                              "100", "200", "300", "28", "50",  "400", "600"};
static_assert(kGbps.size() == code(kLastRate) - code(kFirstRate) + 1);

}  // namespace

std::optional<Mtu> mtu_of(uint64_t code) {
  if (code < 1 || code > static_cast<uint64_t>(Mtu::mtu_4096)) return std::nullopt;
  return static_cast<Mtu>(code);
}

std::optional<Rate> rate_of(uint64_t number) {
  if (number < code(kFirstRate) || number > code(kLastRate)) return std::nullopt;
  return static_cast<Rate>(number);
}

std::string gbps(Rate rate) {
  return rate_of(code(rate)) ? kGbps[code(rate) - code(kFirstRate)] : "unknown";
}

}  // namespace ibpod::fabric
