#include "lib/sysfs/sriov.h"

#include "lib/sysfs/pci.h"

#include <cerrno>
#include <charconv>

namespace ibpod::sysfs {
namespace {

constexpr std::string_view kNetworkClass = "0x02";

Path folder_of(const ib::PciAddress& function) { return Path("bus/pci/devices") / function.text(); }

// The number in an attribute, "127" or "0x15b3".
template <typename Number>
Result<Number> number_in(const Sysfs& sysfs, const Path& file) {
  const std::string text = TRY(sysfs.read(file));
  std::string_view digits = text;
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  Number number = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, number, hex ? 16 : 10);
  if (error == std::errc() && end == last) return number;
  return Error(Code::internal,
               file.string() + ": \"" + text + "\" is not a number in the expected range");
}

bool may_carry_infiniband(const Sysfs& sysfs, const ib::PciAddress& function) {
  const Path folder = folder_of(function);
  if (sysfs.exists(folder / "physfn")) return false;
  const Result<std::string> kind = sysfs.read(folder / "class");
  return (kind && kind->starts_with(kNetworkClass)) || sysfs.exists(folder / "infiniband");
}

}  // namespace

Result<std::vector<ib::PciAddress>> physical_functions(const Sysfs& sysfs) {
  std::vector<ib::PciAddress> found;
  const std::vector<std::string> names = TRY(sysfs.list("bus/pci/devices"));
  for (const std::string& name : names) {
    const Result<ib::PciAddress> function = ib::PciAddress::parse(name);
    if (function && may_carry_infiniband(sysfs, *function)) found.push_back(*function);
  }
  return found;
}

Result<PciId> pci_id(const Sysfs& sysfs, const ib::PciAddress& function) {
  PciId id;
  id.vendor = TRY(number_in<uint16_t>(sysfs, folder_of(function) / "vendor"));
  id.device = TRY(number_in<uint16_t>(sysfs, folder_of(function) / "device"));
  return id;
}

Result<uint32_t> total_vfs(const Sysfs& sysfs, const ib::PciAddress& pf) {
  const Path file = folder_of(pf) / "sriov_totalvfs";
  if (!sysfs.exists(file)) return uint32_t{0};
  return number_in<uint32_t>(sysfs, file);
}

Result<bool> autoprobe(const Sysfs& sysfs, const ib::PciAddress& pf) {
  const Path file = folder_of(pf) / "sriov_drivers_autoprobe";
  if (!sysfs.exists(file)) return true;
  const std::string now = TRY(sysfs.read(file));
  return now != "0";
}

Status set_autoprobe(const Sysfs& sysfs, const ib::PciAddress& pf, bool on) {
  return sysfs.write(folder_of(pf) / "sriov_drivers_autoprobe", on ? "1" : "0");
}

Status set_vf_count(const Sysfs& sysfs, const ib::PciAddress& pf, uint32_t count) {
  const std::string text = std::to_string(count);
  Status done = sysfs.write(folder_of(pf) / "sriov_numvfs", text);
  if (done || done.error().error_number() != ERANGE) return done;
  const uint32_t most = TRY(total_vfs(sysfs, pf));
  return Error(Code::invalid, pf.text() + " cannot create " + text + " VFs: its limit is " +
                                  std::to_string(most) + " (sriov_totalvfs)");
}

}  // namespace ibpod::sysfs
