#include "lib/node/device_info.h"

#include <utility>

namespace ibpod::node {

using json::Value;

void DeviceInfo::set_device(const ib::PciAddress& device, const std::string& rdma) {
  pci.set("pci-address", device.text());
  if (!rdma.empty()) pci.set("rdma-device", rdma);
}

Result<DeviceInfo> read_device_info(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text && text.error().code() != Code::not_found) return text.error();
  DeviceInfo info;
  if (!text) return info;
  info.document = TRY(Value::parse(*text).during(file.string()));
  if (!info.document.is_object())
    return Error(Code::invalid, file.string() + ": expected an object");
  info.pci = info.document.find("pci").value_or(Value::object());
  if (!info.pci.is_object())
    return Error(Code::invalid, file.string() + ": pci: expected an object");
  return info;
}

Status write_device_info(const Path& file, const DeviceInfo& info) {
  Value document = info.document;
  const std::string text = document.set("pci", info.pci).pretty() + "\n";
  const Result<std::string> before = read_file(file);
  if (before && *before == text) return ok();
  TRY(make_folders(file.parent_path()));
  return write_file_atomically(file, text);
}

}  // namespace ibpod::node
