#include "lib/sysfs/pci.h"

#include <algorithm>
#include <charconv>

namespace ibpod::sysfs {
namespace {

Path folder_of(const ib::PciAddress& function) { return Path("bus/pci/devices") / function.text(); }

// A name that becomes one component of a path.
Status check_name(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == name.npos) return ok();
  return Error(Code::invalid, "\"" + name + "\" is not the name of a device or driver");
}

std::optional<uint32_t> number_behind(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (name.empty() || error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

// The function that a link such as "physfn" names. A link to anything else counts as none.
Result<std::optional<ib::PciAddress>> function_behind(const Sysfs& sysfs, const Path& link) {
  const std::optional<std::string> name = TRY(sysfs.link_name(link));
  std::optional<ib::PciAddress> function;
  if (!name) return function;
  const Result<ib::PciAddress> parsed = ib::PciAddress::parse(*name);
  if (parsed) function = *parsed;
  return function;
}

// The kernel answers ENODEV when it may not bind by hand: say why if it can be seen.
Error explain(const Sysfs& sysfs, const ib::PciAddress& function, Error error) {
  if (error.error_number() != ENODEV) return error;
  if (!exists(sysfs, function)) return std::move(error).during("the device is gone");
  const auto pf = pf_of(sysfs, function);
  if (!pf || !*pf) return error;
  const auto autoprobe = sysfs.read(folder_of(**pf) / "sriov_drivers_autoprobe");
  if (!autoprobe || *autoprobe != "0") return error;
  return Error(Code::unsupported, error.text() + " (sriov_drivers_autoprobe of " + (*pf)->text() +
                                      " is 0: the kernel does not bind its VFs)");
}

// The number of a VF by its distance from VF 0, where they follow one another without gaps, as most
// do (a VF stride of 1): nothing where they do not. One link, and not one for each VF.
std::optional<uint32_t> index_by_distance(const Sysfs& sysfs, const ib::PciAddress& pf,
                                          const ib::PciAddress& vf) {
  const auto first = function_behind(sysfs, folder_of(pf) / "virtfn0");
  if (!first || !*first) return std::nullopt;
  if (**first == vf) return 0;
  const uint32_t distance = vf.number() - (*first)->number();
  const auto there = function_behind(sysfs, folder_of(pf) / ("virtfn" + std::to_string(distance)));
  return there && *there == vf ? std::optional(distance) : std::nullopt;
}

}  // namespace

bool exists(const Sysfs& sysfs, const ib::PciAddress& function) {
  return !function.empty() && sysfs.exists(folder_of(function));
}

Result<std::optional<std::string>> driver(const Sysfs& sysfs, const ib::PciAddress& function) {
  return sysfs.link_name(folder_of(function) / "driver");
}

Result<std::optional<ib::PciAddress>> pf_of(const Sysfs& sysfs, const ib::PciAddress& function) {
  return function_behind(sysfs, folder_of(function) / "physfn");
}

Result<std::vector<ib::PciAddress>> vfs_of(const Sysfs& sysfs, const ib::PciAddress& pf) {
  std::vector<uint32_t> numbers;
  const std::vector<std::string> names = TRY(sysfs.list(folder_of(pf)));
  for (const std::string& name : names) {
    if (const auto number = number_behind("virtfn", name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  std::vector<ib::PciAddress> vfs;
  for (const uint32_t number : numbers) {
    const auto vf =
        TRY(function_behind(sysfs, folder_of(pf) / ("virtfn" + std::to_string(number))));
    // VFs come and go together: one that is missing now shifts the places of those behind it.
    if (!vf)
      return Error(Code::unavailable, "the VFs of " + pf.text() + " changed while they were read");
    vfs.push_back(*vf);
  }
  return vfs;
}

Result<uint32_t> vf_index(const Sysfs& sysfs, const ib::PciAddress& pf, const ib::PciAddress& vf) {
  if (const auto index = index_by_distance(sysfs, pf, vf)) return *index;
  const std::vector<std::string> names = TRY(sysfs.list(folder_of(pf)));
  for (const std::string& name : names) {
    const auto number = number_behind("virtfn", name);
    if (!number) continue;
    const auto function = TRY(function_behind(sysfs, folder_of(pf) / name));
    if (function == vf) return *number;
  }
  return Error(Code::not_found, vf.text() + " is not a VF of " + pf.text());
}

Status unbind(const Sysfs& sysfs, const ib::PciAddress& function) {
  const std::optional<std::string> bound = TRY(driver(sysfs, function));
  if (!bound) return ok();
  Status done = sysfs.write(folder_of(function) / "driver/unbind", function.text());
  // Another process was faster.
  if (!done && done.error().code() == Code::not_found) return ok();
  return done;
}

Status bind(const Sysfs& sysfs, const ib::PciAddress& function, const std::string& driver) {
  TRY(check_name(driver));
  Status done = sysfs.write(Path("bus/pci/drivers") / driver / "bind", function.text());
  if (done) return done;
  return explain(sysfs, function, std::move(done).error())
      .during("bind " + function.text() + " to " + driver);
}

Result<std::vector<std::string>> netdevs(const Sysfs& sysfs, const ib::PciAddress& function) {
  return sysfs.list(folder_of(function) / "net");
}

Result<std::vector<std::string>> rdma_devices(const Sysfs& sysfs, const ib::PciAddress& function) {
  return sysfs.list(folder_of(function) / "infiniband");
}

bool has_rdma(const Sysfs& sysfs, const ib::PciAddress& function) {
  const Path folder = folder_of(function);
  return sysfs.exists(folder / "infiniband_verbs") || sysfs.exists(folder / "infiniband_mad") ||
         sysfs.exists(folder / "infiniband");
}

Result<std::optional<ib::PciAddress>> function_of_netdev(const Sysfs& sysfs,
                                                         const std::string& netdev) {
  TRY(check_name(netdev));
  return function_behind(sysfs, Path("class/net") / netdev / "device");
}

Result<std::optional<ib::PciAddress>> function_of_rdma_device(const Sysfs& sysfs,
                                                              const std::string& device) {
  TRY(check_name(device));
  return function_behind(sysfs, Path("class/infiniband") / device / "device");
}

Result<std::vector<std::string>> char_devices(const Sysfs& sysfs, const ib::PciAddress& function) {
  std::vector<std::string> names = TRY(sysfs.list(folder_of(function) / "infiniband_verbs"));
  const std::vector<std::string> mad = TRY(sysfs.list(folder_of(function) / "infiniband_mad"));
  names.insert(names.end(), mad.begin(), mad.end());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ibpod::sysfs
