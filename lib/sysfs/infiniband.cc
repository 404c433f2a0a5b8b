#include "lib/sysfs/infiniband.h"

#include "lib/ib/hex.h"

#include <algorithm>
#include <charconv>

namespace ibpod::sysfs {
namespace {

Result<Path> folder_of(const std::string& device) {
  if (!device.empty() && device.find('/') == device.npos) return Path("class/infiniband") / device;
  return Error(Code::invalid, "\"" + device + "\" is not the name of an RDMA device");
}

Result<Path> folder_of(const std::string& device, unsigned port) {
  const Path folder = TRY(folder_of(device));
  return folder / "ports" / std::to_string(port);
}

Error unreadable(const Path& file, const std::string& content) {
  return Error(Code::internal, file.string() + " contains \"" + content + "\"");
}

// "4: ACTIVE"
Result<ib::PortState> read_state(const Sysfs& sysfs, const Path& file) {
  const std::string content = TRY(sysfs.read(file));
  const int number = content.empty() ? -1 : content[0] - '0';
  if (number < 0 || number > static_cast<int>(ib::PortState::active_defer)) {
    return unreadable(file, content);
  }
  return ib::PortState{number};
}

// "0x1"
Result<ib::Lid> read_lid(const Sysfs& sysfs, const Path& file) {
  const std::string content = TRY(sysfs.read(file));
  const auto lid =
      content.starts_with("0x") ? ib::parse_hex(std::string_view(content).substr(2)) : std::nullopt;
  if (!lid || *lid > 0xffff) return unreadable(file, content);
  return static_cast<ib::Lid>(*lid);
}

struct Gid {
  ib::Guid prefix, guid;
};

// "fe80:0000:0000:0000:0011:2233:4455:6677": the GUID is the second half.
Result<Gid> read_gid(const Sysfs& sysfs, const Path& file) {
  const std::string content = TRY(sysfs.read(file));
  if (content.size() != 39) return unreadable(file, content);
  Gid gid;
  gid.prefix = TRY(ib::Guid::parse(content.substr(0, 19)));
  gid.guid = TRY(ib::Guid::parse(content.substr(20)));
  return gid;
}

Result<ib::Guid> read_gid_guid(const Sysfs& sysfs, const Path& file) {
  const Gid gid = TRY(read_gid(sysfs, file));
  return gid.guid;
}

// The names of a table's entries, which are its indices, in the order of the numbers.
Result<std::vector<unsigned>> indices(const Sysfs& sysfs, const Path& folder) {
  std::vector<unsigned> numbers;
  const std::vector<std::string> names = TRY(sysfs.list(folder));
  for (const std::string& name : names) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || *end != '\0') return unreadable(folder, name);
    numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Result<ib::PKeyTable> read_pkeys(const Sysfs& sysfs, const Path& folder,
                                 std::optional<ib::PKey> until) {
  ib::PKeyTable table;
  const std::vector<unsigned> numbers = TRY(indices(sysfs, folder));
  for (const unsigned number : numbers) {
    if (number != table.size())
      return unreadable(folder, "it has no entry " + std::to_string(table.size()));
    const std::string content = TRY(sysfs.read(folder / std::to_string(number)));
    const ib::PKey key = TRY(ib::PKey::parse(content));
    table.push_back(key);
    if (until && key.same_partition(*until) && key.membership() == ib::Membership::full) break;
  }
  return table;
}

// Below the port's folder.
Result<ib::Port> read_port(const Sysfs& sysfs) {
  ib::Port port;
  port.state = TRY(read_state(sysfs, "state"));
  port.lid = TRY(read_lid(sysfs, "lid"));
  port.guid = TRY(read_gid_guid(sysfs, "gids/0"));
  return port;
}

}  // namespace

Result<ib::Guid> port_guid(const Sysfs& sysfs, const std::string& rdma_device, unsigned number) {
  const Path folder = TRY(folder_of(rdma_device, number));
  return read_gid_guid(sysfs, folder / "gids/0");
}

Result<ib::Guid> subnet_prefix(const Sysfs& sysfs, const std::string& rdma_device,
                               unsigned number) {
  const Path folder = TRY(folder_of(rdma_device, number));
  const Gid gid = TRY(read_gid(sysfs, folder / "gids/0"));
  return gid.prefix;
}

Result<ib::Guid> node_guid(const Sysfs& sysfs, const std::string& rdma_device) {
  const Path folder = TRY(folder_of(rdma_device));
  const std::string content = TRY(sysfs.read(folder / "node_guid"));
  return ib::Guid::parse(content);
}

Result<ib::Port> port_without_pkeys(const Sysfs& sysfs, const std::string& rdma_device,
                                    unsigned number) {
  const Path folder = TRY(folder_of(rdma_device, number));
  const Sysfs below = TRY(sysfs.below(folder));
  return read_port(below).during(folder.string());
}

Result<ib::PKeyTable> pkeys(const Sysfs& sysfs, const std::string& rdma_device, unsigned number,
                            std::optional<ib::PKey> until) {
  const Path folder = TRY(folder_of(rdma_device, number));
  const ib::PKeyTable table = TRY(read_pkeys(sysfs, folder / "pkeys", until));
  // A port has 1 place at least (IBA 1.4, volume 1, 10.9): the device is not to be seen from here.
  if (table.empty())
    return Error(Code::not_found, (folder / "pkeys").string() + ": the port has no P_Key table");
  return table;
}

Result<ib::Port> port(const Sysfs& sysfs, const std::string& rdma_device, unsigned number,
                      std::optional<ib::PKey> until) {
  ib::Port port = TRY(port_without_pkeys(sysfs, rdma_device, number));
  port.pkeys = TRY(pkeys(sysfs, rdma_device, number, until));
  return port;
}

Result<std::vector<unsigned>> ports(const Sysfs& sysfs, const std::string& rdma_device) {
  const Path folder = TRY(folder_of(rdma_device));
  return indices(sysfs, folder / "ports");
}

Result<LinkLayer> link_layer(const Sysfs& sysfs, const std::string& rdma_device, unsigned port) {
  const Path folder = TRY(folder_of(rdma_device, port));
  const std::string content = TRY(sysfs.read(folder / "link_layer"));
  if (content == "InfiniBand") return LinkLayer::infiniband;
  if (content == "Ethernet") return LinkLayer::ethernet;
  return LinkLayer::unspecified;
}

Result<std::string> device_of_uverbs(const Sysfs& sysfs, const std::string& uverbs) {
  if (uverbs.empty() || uverbs.find('/') != uverbs.npos) {
    return Error(Code::invalid, "\"" + uverbs + "\" is not the name of a character device");
  }
  return sysfs.read(Path("class/infiniband_verbs") / uverbs / "ibdev");
}

std::vector<std::string> devices_with_verbs(const Sysfs& sysfs,
                                            const std::vector<std::string>& char_devices) {
  std::vector<std::string> devices;
  for (const std::string& name : char_devices) {
    if (!name.starts_with("uverbs")) continue;
    Result<std::string> owner = device_of_uverbs(sysfs, name);
    if (owner) devices.push_back(std::move(owner).value());
  }
  return devices;
}

}  // namespace ibpod::sysfs
