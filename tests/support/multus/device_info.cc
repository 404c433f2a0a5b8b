#include "tests/support/multus/device_info.h"

#include <algorithm>

namespace ibpod::multus {
namespace {

std::string as_file_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '-');
  return text;
}

using json::Value;

Value only(const Value& object, std::initializer_list<const char*> keys) {
  Value kept = Value::object();
  for (const char* key : keys) {
    const std::optional<Value> value = object.find(key);
    if (value) kept.set(key, *value);
  }
  return kept;
}

// As Multus writes it again: without members that its types do not have.
Result<Value> parse_known(const std::string& text) {
  const Value document = TRY(Value::parse(text));
  Value known = only(document, {"type", "version", "pci", "vdpa", "vhost-user", "memif"});
  const std::optional<Value> pci = known.find("pci");
  if (pci)
    known.set("pci", only(*pci, {"pci-address", "vhost-net", "rdma-device", "pf-pci-address",
                                 "representor-device"}));
  return known;
}

Status set_mode(const Path& path, std::filesystem::perms mode) {
  std::error_code error;
  std::filesystem::permissions(path, mode, error);
  return error ? Error::from_errno(error.value(), "chmod " + path.string()) : ok();
}

}  // namespace

Path DeviceInfo::file(const Delegate& delegate, const std::string& container) const {
  if (delegate.device.empty() || delegate.is_default) return {};
  return folder_ / "cni" / as_file_name(delegate.name + "-" + container + "_" + delegate.ifname);
}

Status DeviceInfo::copy(const Delegate& delegate, const std::string& container) const {
  const Path copy = file(delegate, container);
  if (copy.empty()) return ok();
  const std::string name = as_file_name(delegate.resource + "-" + delegate.device + "-device.json");
  const Result<std::string> text = read_file(folder_ / "dp" / name);
  const Result<Value> known = text ? parse_known(*text) : text.error();
  if (!known || path_exists(copy)) return ok();
  if (!path_exists(copy.parent_path())) {
    TRY(make_folders(copy.parent_path()));
    TRY(set_mode(copy.parent_path(), std::filesystem::perms::none));
  }
  TRY(write_file_atomically(copy, known->text()));
  return set_mode(copy, std::filesystem::perms(0444));
}

std::optional<Value> DeviceInfo::read(const Delegate& delegate,
                                      const std::string& container) const {
  const Path copy = file(delegate, container);
  if (copy.empty()) return std::nullopt;
  const Result<std::string> text = read_file(copy);
  const Result<Value> info = text ? parse_known(*text) : text.error();
  return info ? std::optional(*info) : std::nullopt;
}

Status DeviceInfo::remove(const Delegate& delegate, const std::string& container) const {
  const Path copy = file(delegate, container);
  return copy.empty() ? ok() : remove_file(copy);
}

}  // namespace ibpod::multus
