#include "lib/attach/device_info.h"

#include "lib/base/join.h"
#include "lib/json/value.h"

namespace ibpod::attach {
namespace {

using json::Value;

Result<Value> read_or_begin(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text && text.error().code() != Code::not_found) return text.error();
  if (!text) return Value::object().set("type", "pci").set("version", "1.1.0");
  Value document = TRY(Value::parse(*text).during(file.string()));
  if (!document.is_object()) return Error(Code::invalid, file.string() + ": expected an object");
  return document;
}

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

Status write_device_info(const node::Records& records, const Path& file,
                         const ib::PciAddress& device, const std::vector<node::RdmaDevice>& rdma,
                         const std::optional<TableEntry>& membership) {
  Value document = TRY(read_or_begin(file));
  Value pci = document.find("pci").value_or(Value::object());
  if (!pci.is_object()) return Error(Code::invalid, file.string() + ": pci: expected an object");
  TRY(check_not_anothers(records, file, pci, device));
  pci.set("pci-address", device.text());
  const std::string names = join(rdma, ",", &node::RdmaDevice::name);
  if (!names.empty()) pci.set("rdma-device", names);
  if (membership)
    pci.set("pkey", membership->key.text())
        .set("pkey-index", static_cast<int64_t>(membership->index));
  else
    pci.erase("pkey").erase("pkey-index");
  document.set("pci", pci);
  const std::string text = document.pretty() + "\n";
  const Result<std::string> before = read_file(file);
  if (before && *before == text) return ok();
  TRY(make_folders(file.parent_path()));
  return write_file_atomically(file, text);
}

Status warn_of_other_char_devices(const Context& context, const node::Function& before) {
  const std::optional<node::Function> now = TRY(context.host.kernel.function(before.address));
  if (!now || before.char_devices == now->char_devices) return ok();
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : join(names, ", ");
  };
  context.log.warn(
      "the RDMA character devices of " + now->address.text() + " changed from " +
      list(before.char_devices) + " to " + list(now->char_devices) +
      ": a container that is allowed them by number may have access to the wrong ones");
  return ok();
}

}  // namespace ibpod::attach
