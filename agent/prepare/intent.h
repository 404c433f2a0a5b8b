// Intent: what preparation has begun with a PF, on disk before the first change. The node's state
// alone cannot tell a VF that an administrator keeps without a driver from one that was about to be
// bound, nor an autoprobe that is off on purpose from one that was to go on again.
#pragma once

#include "lib/base/files.h"
#include "lib/ib/pci_address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::agent::prepare {

// Autoprobe is to be on, and these VFs are to have the driver, each with a GUID before it is bound.
struct Intent {
  ib::PciAddress pf;
  std::string boot_id;  // neither drivers nor autoprobe outlive a boot, and so no intent does
  std::string driver;
  std::vector<uint32_t> vfs;  // their numbers; those that do not exist are ignored
  bool force = false;         // whether GUIDs that they have give way
  // The VF that is being bound. Where this process ends inside a bind, the kernel's clients may
  // have given up half way (docs/kernel-notes.md#a-kill-in-a-bind): it is bound once more.
  std::optional<uint32_t> binding = {};
  bool pool_guids = false;  // whether GUIDs that are not of the pool give way
  // Those whose bind was cut short and that have got a user since: they are bound once more when
  // it has gone.
  std::vector<uint32_t> interrupted = {};
  // True: the VFs were there before and had the driver, which they lose for a moment only.
  bool rebind = false;
  bool is_half_bound(uint32_t vf) const;
  bool operator==(const Intent&) const = default;
};

// STATE/preparation/<PCI address of the PF>.json
class Intents {
 public:
  explicit Intents(const Path& state) : root_(state / "preparation") {}

  // On disk, flushed, when this returns.
  Status write(const Intent& intent) const;
  Status remove(const ib::PciAddress& pf) const;
  // invalid, naming the file, where it cannot be read; unsupported where it is of a newer version.
  Result<std::optional<Intent>> find(const ib::PciAddress& pf) const;
  // The PFs that have one, sorted.
  Result<std::vector<ib::PciAddress>> all() const;

 private:
  Path file(const ib::PciAddress& pf) const { return root_ / (pf.text() + ".json"); }
  Path root_;
};

}  // namespace ibpod::agent::prepare
