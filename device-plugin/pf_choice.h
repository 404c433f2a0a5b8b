// PfChoice: one entry of pfNames or rootDevices, "ib0", "ib0#0,2-7" or "0000:86:00.0#0-3": a PF,
// and which of its VFs.
#pragma once

#include "lib/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::device_plugin {

// VF numbers, both ends included.
struct VfRange {
  uint32_t first = 0;
  uint32_t last = 0;
  bool operator==(const VfRange&) const = default;
};

struct PfChoice {
  std::string text;          // as it was written
  std::string pf;            // what stands before '#'
  std::vector<VfRange> vfs;  // empty: every VF
  bool unreadable = false;   // no range can be read from it: it chooses nothing
  bool operator==(const PfChoice&) const = default;

  bool has(uint32_t vf) const;
};

// A range that cannot be read makes a choice that is unreadable, not an error.
PfChoice parse_pf_choice(std::string_view text);

// The lowest VF number that both choose; nothing where there is none. They need not be of one PF.
std::optional<uint32_t> common_vf(const PfChoice& one, const PfChoice& other);

}  // namespace ibpod::device_plugin
