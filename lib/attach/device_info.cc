#include "lib/attach/device_info.h"

#include "lib/base/join.h"
#include "lib/node/device_info.h"

namespace ibpod::attach {
namespace {

using json::Value;

// A network may name the device-info file of another pod's attachment.
Status check_not_anothers(const node::Records& records, const Path& file, const Value& pci,
                          const ib::PciAddress& device) {
  const std::optional<Value> named = pci.find("pci-address");
  const Result<ib::PciAddress> other =
      ib::PciAddress::parse(named && named->is_string() ? named->string().value() : std::string());
  if (!other || *other == device) return ok();
  const std::vector<node::RecordName> names = TRY(records.in_folder(other->text()));
  if (names.empty()) return ok();
  return Error(Code::denied,
               file.string() + " belongs to " + other->text() + ", which another attachment uses");
}

}  // namespace

Status update_device_info(const node::Records& records, const Path& file,
                          const ib::PciAddress& device, const std::vector<node::RdmaDevice>& rdma,
                          const std::optional<TableEntry>& membership) {
  node::DeviceInfo info = TRY(node::read_device_info(file));
  TRY(check_not_anothers(records, file, info.pci, device));
  info.set_device(device, join(rdma, ",", &node::RdmaDevice::name));
  if (membership)
    info.pci.set("pkey", membership->key.text())
        .set("pkey-index", static_cast<int64_t>(membership->index));
  else
    info.pci.erase("pkey").erase("pkey-index");
  return node::write_device_info(file, info);
}

Status warn_of_other_char_devices(const Context& context, const ib::PciAddress& device,
                                  const std::vector<std::string>& before) {
  const std::vector<std::string> now = TRY(context.host.kernel.char_devices(device));
  if (before == now) return ok();
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : join(names, ", ");
  };
  context.log.warn(
      "the RDMA character devices of " + device.text() + " changed from " + list(before) + " to " +
      list(now) + ": a container that is allowed them by number may have access to the wrong ones");
  return ok();
}

}  // namespace ibpod::attach
