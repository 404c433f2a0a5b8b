#include "tests/support/fake_sysfs.h"

#include "lib/ib/guid.h"
#include "lib/ib/hex.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace ibpod::fake {
namespace {

namespace fs = std::filesystem;

ib::PciAddress address_of(unsigned bus, unsigned number) {
  return *ib::PciAddress::parse("0000:" + ib::hex(bus, 2) + ":" + ib::hex(number / 8, 2) + "." +
                                std::to_string(number % 8));
}

// As sysfs prints them: 0011:2233:4455:6677.
std::string guid_text(unsigned long guid) {
  std::string text = ib::hex(guid, 16);
  for (const size_t place : {12U, 8U, 4U}) text.insert(place, ":");
  return text;
}

std::string first_name(const Path& folder) {
  const auto names = list_folder(folder);
  if (!names || names->empty()) throw std::logic_error(folder.string() + " is empty");
  return names->front();
}

}  // namespace

FakeSysfs::FakeSysfs(unsigned pkeys, uint32_t device_class)
    : pkeys_(pkeys), device_class_(device_class) {
  fs::create_directories(at("bus/pci/devices"));
  fs::create_directories(at("class/infiniband"));
}

void FakeSysfs::write(const Path& file, const std::string& content) const {
  fs::create_directories(at(file).parent_path());
  folder_.write(file.string(), content + "\n");
}

// Relative, as all links of a sysfs are.
void FakeSysfs::link(const Path& from, const Path& to) const {
  fs::create_directories(at(from).parent_path());
  fs::create_directory_symlink(fs::relative(at(to), at(from).parent_path()), at(from));
}

void FakeSysfs::write_ids(const Path& home, uint16_t device, uint32_t device_class,
                          int numa) const {
  const std::string class_text = ib::hex(device_class, 6);
  write(home / "vendor", "0x15b3");
  write(home / "device", "0x" + ib::hex(device, 4));
  write(home / "class", "0x" + class_text);
  std::string upper = ib::hex(device, 8);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  write(home / "modalias", "pci:v000015B3d" + upper + "sv000015B3sd00000007bc" +
                               class_text.substr(0, 2) + "sc" + class_text.substr(2, 2) + "i" +
                               class_text.substr(4));
  write(home / "numa_node", std::to_string(numa));
}

ib::PciAddress FakeSysfs::add_pf() {
  const unsigned root = 0x10 * ++pfs_;
  const ib::PciAddress address = address_of(root + 1, 0);
  const std::string bus = "0000:" + ib::hex(root, 2);
  Function pf{.home = Path("devices/pci" + bus) / (bus + ":01.0") / address.text()};
  pf.guid = 0xb8cef60300000000 | pfs_ << 16;
  write_ids(pf.home, 0x101b, device_class_, static_cast<int>(pfs_ - 1) % 2);
  write(pf.home / "sriov_totalvfs", "127");
  write(pf.home / "sriov_numvfs", "0");
  write(pf.home / "sriov_drivers_autoprobe", "1");
  add_bound(address, pf);
  return address;
}

ib::PciAddress FakeSysfs::add_vf(const ib::PciAddress& pf_address) {
  Function& pf = functions_.at(pf_address);
  const unsigned bus =
      static_cast<unsigned>(*ib::parse_hex(std::string_view(pf_address.text()).substr(5, 2)));
  unsigned number = 1;
  while (functions_.contains(address_of(bus, number))) ++number;
  pf.vfs = std::max(pf.vfs, number);
  const ib::PciAddress address = address_of(bus, number);
  Function vf{.home = pf.home.parent_path() / address.text(), .number = number};
  vf.guid = pf.guid + vf.number;
  write_ids(vf.home, 0x101c, device_class_, static_cast<int>(bus / 0x10 - 1) % 2);
  link(vf.home / "physfn", pf.home);
  link(pf.home / ("virtfn" + std::to_string(number - 1)), vf.home);
  write(pf.home / "sriov_numvfs", std::to_string(pf.vfs));
  add_bound(address, vf);
  return address;
}

void FakeSysfs::add_pfs(unsigned pfs, unsigned vfs_of_each) {
  for (unsigned pf = 0; pf < pfs; ++pf) {
    const ib::PciAddress address = add_pf();
    for (unsigned vf = 0; vf < vfs_of_each; ++vf) add_vf(address);
  }
}

ib::PciAddress FakeSysfs::add_function(const std::string& text, uint32_t device_class) {
  const ib::PciAddress address = *ib::PciAddress::parse(text);
  const Function function{.home = Path("devices/pci0000:00") / text};
  write_ids(function.home, 1, device_class, -1);
  link(Path("bus/pci/devices") / text, function.home);
  functions_.emplace(address, function);
  return address;
}

void FakeSysfs::add_bound(const ib::PciAddress& address, const Function& function) {
  link(Path("bus/pci/devices") / address.text(), function.home);
  functions_.emplace(address, function);
  bind(address);
}

void FakeSysfs::bind(const ib::PciAddress& address, const std::string& driver) {
  const Path home = this->home(address);
  fs::create_directories(at("bus/pci/drivers") / driver);
  link(home / "driver", Path("bus/pci/drivers") / driver);
  const std::string number = std::to_string(next_device_);
  if (driver == "vfio-pci") {
    fs::create_directories(at("kernel/iommu_groups") / number);
    link(home / "iommu_group", Path("kernel/iommu_groups") / number);
  }
  if (driver != "mlx5_core") return;
  add_rdma_device(address, "mlx5_" + number, true);
  write(home / "net" / ("ib" + number) / "type", "32");
  link(Path("class/net") / ("ib" + number), home / "net" / ("ib" + number));
  link(home / "net" / ("ib" + number) / "device", home);
}

void FakeSysfs::add_rdma_device(const ib::PciAddress& address, const std::string& name,
                                bool verbs) {
  const Function& function = functions_.at(address);
  const Path device = function.home / "infiniband" / name;
  // A VF's node GUID is another one than its port's.
  const unsigned long node =
      function.number == 0 ? function.guid : function.guid | 0x0000000080000000;
  write(device / "node_guid", guid_text(node));
  write_port(device, 1, function.guid);
  link(device / "device", function.home);
  link(Path("class/infiniband") / name, device);
  const std::string number = std::to_string(next_device_++);
  if (verbs) add_char_device(function.home, "infiniband_verbs", "uverbs" + number, name);
  add_char_device(function.home, "infiniband_mad", "umad" + number, name);
  add_char_device(function.home, "infiniband_mad", "issm" + number, name);
}

void FakeSysfs::write_port(const Path& device, unsigned number, unsigned long guid) const {
  const Path port = device / "ports" / std::to_string(number);
  write(port / "state", "4: ACTIVE");
  write(port / "phys_state", "5: LinkUp");
  write(port / "lid", "0x1f");
  write(port / "link_layer", "InfiniBand");
  write(port / "gids/0", "fe80:0000:0000:0000:" + guid_text(guid));
  for (unsigned i = 0; i < pkeys_; ++i) {
    write(port / "pkeys" / std::to_string(i), i == 0 ? "0x7fff" : i == 1 ? "0x8001" : "0x0000");
  }
}

void FakeSysfs::add_char_device(const Path& home, const std::string& kind, const std::string& name,
                                const std::string& device) const {
  write(home / kind / name / "ibdev", device);
  link(Path("class") / kind / name, home / kind / name);
}

void FakeSysfs::remove_class_entries(const Path& home, const std::string& kind) const {
  const auto names = list_folder(at(home / kind));
  for (const std::string& name : *names) fs::remove(at("class") / kind / name);
  fs::remove_all(at(home / kind));
}

void FakeSysfs::remove_netdev(const ib::PciAddress& function) {
  remove_class_entries(home(function), "net");
}

void FakeSysfs::remove_netdevs() {
  for (const auto& [address, function] : functions_)
    if (path_exists(at(function.home / "net"))) remove_netdev(address);
}

void FakeSysfs::unbind(const ib::PciAddress& function) {
  for (const char* kind : {"net", "infiniband", "infiniband_verbs", "infiniband_mad"}) {
    remove_class_entries(home(function), kind);
  }
  for (const char* made : {"driver", "iommu_group"}) fs::remove(at(home(function) / made));
}

void FakeSysfs::vanish(const ib::PciAddress& function) {
  unbind(function);
  const Function gone = functions_.at(function);
  if (gone.number > 0) {
    fs::remove(fs::canonical(at(gone.home / "physfn")) /
               ("virtfn" + std::to_string(gone.number - 1)));
  }
  fs::remove(at("bus/pci/devices") / function.text());
  fs::remove_all(at(gone.home));
  functions_.erase(function);
}

std::string FakeSysfs::rdma_device(const ib::PciAddress& function) const {
  return first_name(at(home(function) / "infiniband"));
}

std::string FakeSysfs::netdev(const ib::PciAddress& function) const {
  return first_name(at(home(function) / "net"));
}

void FakeSysfs::add_smi(const ib::PciAddress& function, const std::string& name) {
  add_rdma_device(function, name, false);
}

void FakeSysfs::add_port(const ib::PciAddress& function, unsigned number) {
  const Path device = home(function) / "infiniband" / rdma_device(function);
  write_port(device, number, functions_.at(function).guid + (number << 8));
}

void FakeSysfs::move_rdma(const ib::PciAddress& address, FakeSysfs& pod) {
  const Path home = this->home(address);
  fs::create_directories(pod.at(home));
  fs::copy(at(home / "infiniband"), pod.at(home / "infiniband"),
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  pod.link(Path("bus/pci/devices") / address.text(), home);
  const auto names = list_folder(at(home / "infiniband"));
  for (const std::string& name : *names) {
    pod.link(Path("class/infiniband") / name, home / "infiniband" / name);
  }
  pod.functions_.emplace(address, functions_.at(address));
  remove_class_entries(home, "infiniband");
  remove_class_entries(home, "net");
}

void FakeSysfs::set_port(const ib::PciAddress& function, const std::string& file,
                         const std::string& content) {
  write(home(function) / "infiniband" / rdma_device(function) / "ports/1" / file, content);
}

void FakeSysfs::set(const ib::PciAddress& function, const std::string& file,
                    const std::string& content) {
  write(home(function) / file, content);
}

}  // namespace ibpod::fake
