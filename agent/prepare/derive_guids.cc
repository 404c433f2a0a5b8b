#include "agent/prepare/derive_guids.h"

namespace ibpod::agent::prepare {
namespace {

constexpr uint64_t kGroup = uint64_t{0x01} << 56;
constexpr uint64_t kLocal = uint64_t{0x02} << 56;
constexpr uint64_t kFillerShift = 24;
constexpr uint64_t kFiller = uint64_t{0x0300} << kFillerShift;

ib::Guid guid_with(ib::Guid pf, uint64_t code) {
  const uint64_t changed = pf.value() ^ kFiller ^ code << kFillerShift;
  return ib::Guid((changed | kLocal) & ~kGroup);
}

}  // namespace

Result<node::Guids> derive_guids(ib::Guid pf, uint32_t vf) {
  if (pf.none()) return Error(Code::invalid, "cannot derive a VF's GUID: the PF has no GUID");
  if (vf >= kMostVfs) {
    return Error(Code::invalid, "cannot derive a GUID of VF " + std::to_string(vf) +
                                    ": limit reached (" + std::to_string(kMostVfs) +
                                    " VFs of a PF)");
  }
  const uint64_t code = 2 * (uint64_t{vf} + 1);
  return node::Guids{guid_with(pf, code), guid_with(pf, code + 1)};
}

}  // namespace ibpod::agent::prepare
