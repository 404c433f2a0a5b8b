#include "lib/attach/device_info.h"

#include "lib/json/value.h"

#include <algorithm>
#include <sstream>

namespace ibpod::attach {
namespace {

using json::Value;

constexpr std::string_view kFolder = "/dev/infiniband/";

// "uverbs" of "/dev/infiniband/uverbs12".
std::string class_of(std::string_view device) {
  if (device.starts_with(kFolder)) device.remove_prefix(kFolder.size());
  return std::string(device.substr(0, device.find_first_of("0123456789")));
}

// Which classes the file gave out: what it did not give, it shall not give now. A new file gives
// verbs and rdma_cm, never umad or issm: a pod with umad can send SMPs.
std::vector<std::string> classes_given(const Value& pci) {
  const std::optional<Value> list = pci.find("rdma-device");
  if (!list || !list->is_string()) return {"rdma_cm", "uverbs"};
  std::vector<std::string> classes;
  std::istringstream rest(*list->string());
  for (std::string device; std::getline(rest, device, ',');) classes.push_back(class_of(device));
  return classes;
}

std::string devices_now(const std::vector<std::string>& classes, const node::Function& function) {
  std::vector<std::string> devices;
  const auto given = [&](const std::string& one) {
    return std::find(classes.begin(), classes.end(), one) != classes.end();
  };
  for (const std::string& device : function.char_devices) {
    if (given(class_of(device))) devices.push_back(device);
  }
  // What is on vfio-pci has no verbs here, and no use for the connection manager.
  if (given("rdma_cm") && !devices.empty()) devices.push_back("rdma_cm");
  std::string list;
  for (const std::string& device : devices)
    list += (list.empty() ? "" : ",") + std::string(kFolder) + device;
  return list;
}

Result<Value> read_or_begin(const Path& file) {
  const Result<std::string> text = read_file(file);
  if (!text && text.error().code() != Code::not_found) return text.error();
  if (!text) return Value::object().set("type", "pci").set("version", "1.1.0");
  Value document = TRY(Value::parse(*text).during(file.string()));
  if (!document.is_object()) return Error(Code::invalid, file.string() + ": expected an object");
  return document;
}

// Without a device-info file nobody corrects what the container is about to be allowed.
void warn_of_other_char_devices(const Context& context, const node::Function& before,
                                const node::Function& now) {
  if (before.char_devices == now.char_devices) return;
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? "none" : text;
  };
  context.warn("the RDMA character devices of " + now.address.text() + " are " +
               list(now.char_devices) + " now, were " + list(before.char_devices) +
               ", and there is no CNIDeviceInfoFile to correct: the container may be allowed the "
               "wrong ones");
}

}  // namespace

Status write_device_info(const Path& file, const node::Function& function,
                         const std::optional<Membership>& membership) {
  Value document = TRY(read_or_begin(file));
  Value pci = document.find("pci").value_or(Value::object());
  if (!pci.is_object()) return Error(Code::invalid, file.string() + ": pci: expected an object");
  const std::string devices = devices_now(classes_given(pci), function);
  pci.set("pci-address", function.address.text());
  if (!devices.empty()) pci.set("rdma-device", devices);
  if (membership)
    pci.set("pkey", membership->key.text())
        .set("pkey-index", static_cast<int64_t>(membership->index));
  document.set("pci", pci);
  const std::string text = document.pretty() + "\n";
  const Result<std::string> before = read_file(file);
  return before && *before == text ? ok() : write_file_atomically(file, text);
}

Status tell_devices(const Context& context, const Path& file, const node::Function& before,
                    const std::optional<Membership>& membership) {
  const std::optional<node::Function> now = TRY(context.kernel.function(before.address));
  if (!now) return ok();
  if (!file.empty()) {
    return write_device_info(file, *now, membership).during("CNIDeviceInfoFile");
  }
  warn_of_other_char_devices(context, before, *now);
  return ok();
}

}  // namespace ibpod::attach
