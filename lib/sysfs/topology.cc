#include "lib/sysfs/topology.h"

#include "lib/ib/hex.h"

#include <charconv>

namespace ibpod::sysfs {
namespace {

Path file_of(const ib::PciAddress& function, const char* name) {
  return Path("bus/pci/devices/" + function.text() + "/" + name);
}

Error unreadable(const Path& file, const std::string& content) {
  return Error(Code::internal, file.string() + " contains \"" + content + "\"");
}

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The hexadecimal number of `digits` behind a mark.
std::optional<uint64_t> take_hex(std::string_view& text, std::string_view mark, size_t digits) {
  if (!text.starts_with(mark) || text.size() < mark.size() + digits) return std::nullopt;
  const auto number = ib::parse_hex(text.substr(mark.size(), digits));
  text.remove_prefix(mark.size() + digits);
  return number;
}

// "pci:v000015B3d0000101Csv000015B3sd00000007bc02sc07i00"
std::optional<PciIds> parse_modalias(std::string_view text) {
  const auto vendor = take_hex(text, "pci:v", 8);
  const auto device = take_hex(text, "d", 8);
  take_hex(text, "sv", 8);
  take_hex(text, "sd", 8);
  const auto base = take_hex(text, "bc", 2);
  const auto sub = take_hex(text, "sc", 2);
  const auto interface = take_hex(text, "i", 2);
  if (!vendor || !device || !base || !sub || !interface) return std::nullopt;
  return PciIds{ib::hex(*vendor, 4), ib::hex(*device, 4),
                static_cast<uint32_t>(*base << 16 | *sub << 8 | *interface)};
}

}  // namespace

Result<std::vector<ib::PciAddress>> functions(const Sysfs& sysfs) {
  const std::vector<std::string> names = TRY(sysfs.list("bus/pci/devices"));
  std::vector<ib::PciAddress> all;
  for (const std::string& name : names) {
    const Result<ib::PciAddress> address = ib::PciAddress::parse(name);
    if (address) all.push_back(*address);
  }
  return all;
}

Result<PciIds> pci_ids(const Sysfs& sysfs, const ib::PciAddress& function) {
  const Path file = file_of(function, "modalias");
  const std::string content = TRY(sysfs.read(file));
  const std::optional<PciIds> ids = parse_modalias(content);
  if (!ids) return unreadable(file, content);
  return *ids;
}

Result<std::optional<int>> numa_node(const Sysfs& sysfs, const ib::PciAddress& function) {
  const Path file = file_of(function, "numa_node");
  const Result<std::string> content = sysfs.read(file);
  // A kernel without NUMA has no such file.
  if (!content && content.error().code() == Code::not_found) return std::optional<int>();
  if (!content) return content.error();
  std::optional<int> node = parse_number<int>(*content);
  if (!node) return unreadable(file, *content);
  if (*node < 0) node.reset();
  return node;
}

Result<std::string> pcie_root(const Sysfs& sysfs, const ib::PciAddress& function) {
  const std::optional<Path> path =
      TRY(sysfs.link_target(Path("bus/pci/devices") / function.text()));
  if (!path) return std::string();
  // ../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.2; elsewhere a bridge of the platform
  // comes first.
  for (const Path& part : *path) {
    const std::string& name = part.native();
    if (name.starts_with("pci") && name.find(':') != name.npos) return name;
  }
  return std::string();
}

Result<std::optional<uint32_t>> acpi_index(const Sysfs& sysfs, const ib::PciAddress& function) {
  const Path file = file_of(function, "acpi_index");
  const Result<std::string> content = sysfs.read(file);
  if (!content && content.error().code() == Code::not_found) return std::optional<uint32_t>();
  if (!content) return content.error();
  const std::optional<uint32_t> index = parse_number<uint32_t>(*content);
  if (!index) return unreadable(file, *content);
  return index;
}

Result<std::optional<uint32_t>> iommu_group(const Sysfs& sysfs, const ib::PciAddress& function) {
  const Path link = file_of(function, "iommu_group");
  const std::optional<std::string> name = TRY(sysfs.link_name(link));
  if (!name) return std::optional<uint32_t>();
  const std::optional<uint32_t> group = parse_number<uint32_t>(*name);
  if (!group) return unreadable(link, *name);
  return group;
}

}  // namespace ibpod::sysfs
