#include "tests/support/multus/device_info.h"

#include <algorithm>

namespace ibpod::multus {
namespace {

std::string as_file_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '-');
  return text;
}

}  // namespace

Path DeviceInfo::file(const Delegate& delegate, const std::string& container) const {
  if (delegate.device.empty()) return {};
  return folder_ / "cni" / as_file_name(delegate.name + "-" + container + "_" + delegate.ifname);
}

Status DeviceInfo::copy(const Delegate& delegate, const std::string& container) const {
  if (delegate.device.empty()) return ok();
  TRY(make_folders(folder_ / "cni"));
  const std::string name = as_file_name(delegate.resource + "-" + delegate.device + "-device.json");
  const Result<std::string> text = read_file(folder_ / "dp" / name);
  return text ? write_file_atomically(file(delegate, container), *text) : ok();
}

std::optional<json::Value> DeviceInfo::read(const Delegate& delegate,
                                            const std::string& container) const {
  if (delegate.device.empty()) return std::nullopt;
  const Result<std::string> text = read_file(file(delegate, container));
  const Result<json::Value> info = text ? json::Value::parse(*text) : text.error();
  return info ? std::optional(*info) : std::nullopt;
}

Status DeviceInfo::remove(const Delegate& delegate, const std::string& container) const {
  return delegate.device.empty() ? ok() : remove_file(file(delegate, container));
}

}  // namespace ibpod::multus
