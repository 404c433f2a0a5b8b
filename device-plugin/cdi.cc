#include "device-plugin/cdi.h"

#include "lib/base/join.h"
#include "lib/base/run_on_thread.h"
#include "lib/json/value.h"

#include <algorithm>
#include <set>

namespace ibpod::device_plugin {
namespace {

using json::Value;

// Device names that begin with a digit, as PCI addresses do, came with 0.5.0; nothing later is
// used.
constexpr const char* kVersion = "0.5.0";
constexpr std::string_view kEnding = ".json";

std::string kind_of(const Pool& pool) { return pool.prefix + "/ib"; }

Path file_of(const CdiFolder& folder, const ib::PciAddress& device) {
  return folder.path / (folder.owner + "-" + device.text() + std::string(kEnding));
}

// The device that a file of ours is about; nothing for the files of others.
std::optional<ib::PciAddress> device_of(const CdiFolder& folder, std::string_view name) {
  const std::string start = folder.owner + "-";
  if (!name.starts_with(start) || !name.ends_with(kEnding)) return std::nullopt;
  name.remove_prefix(start.size());
  if (name.size() < kEnding.size()) return std::nullopt;
  const auto device = ib::PciAddress::parse(name.substr(0, name.size() - kEnding.size()));
  return device ? std::optional(*device) : std::nullopt;
}

std::string spec_of(const Pool& pool, const PoolDevice& pool_device) {
  Value nodes = Value::array();
  for (const DeviceNode& node : device_nodes_of(pool, pool_device))
    nodes.push(Value::object().set("path", node.path).set("permissions", node.permissions));
  Value device = Value::object();
  device.set("name", pool_device.device.address.text())
      .set("containerEdits", Value::object().set("deviceNodes", nodes));
  return Value::object()
             .set("cdiVersion", kVersion)
             .set("kind", kind_of(pool))
             .set("devices", Value::array().push(device))
             .pretty() +
         "\n";
}

bool is_name_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/';
}

// True if `text` has `word` as a whole word: good enough to find a name in JSON and YAML alike.
bool has_word(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool begins = at == 0 || !is_name_part(text[at - 1]);
    if (begins && (end == text.size() || !is_name_part(text[end]))) return true;
  }
  return false;
}

// The CDI devices of ours, as pairs of kind and name.
using Names = std::set<std::pair<std::string, std::string>>;

Status check_foreign(const Path& file, const Names& ours) {
  const std::string text = TRY(read_file(file));
  for (const auto& [kind, name] : ours) {
    if (has_word(text, kind) && has_word(text, name))
      return Error(Code::exists, file.string() + " also defines our device " + kind + "=" + name +
                                     ": no runtime can resolve it; remove that file");
  }
  return ok();
}

Status scan_folder(const CdiFolder& folder, const Path& path, const Names& ours) {
  const std::vector<std::string> names = TRY(list_folder(path));
  Errors errors;
  for (const std::string& name : names) {
    const Path file = path / name;
    const bool is_spec = file.extension() == ".json" || file.extension() == ".yaml";
    const bool own = path == folder.path && device_of(folder, name);
    if (is_spec && !own) errors.collect(check_foreign(file, ours));
  }
  return errors.status();
}

Status scan_other_folders(const CdiFolder& folder, const Names& ours) {
  if (folder.other_folders.empty()) return ok();
  Errors errors;
  errors.collect(run_in_mount_namespace(folder.other_folders_mount_namespace,
                                        "search for other CDI files", [&]() -> Status {
                                          for (const Path& other : folder.other_folders)
                                            errors.collect(scan_folder(folder, other, ours));
                                          return ok();
                                        }));
  return errors.status();
}

Status remove_stale(const CdiFolder& folder, const std::set<ib::PciAddress>& kept) {
  const std::vector<std::string> names = TRY(list_folder(folder.path));
  Errors errors;
  for (const std::string& name : names) {
    const std::optional<ib::PciAddress> device = device_of(folder, name);
    if (device && kept.count(*device) == 0) errors.collect(remove_file(folder.path / name));
  }
  return errors.status();
}

}  // namespace

std::string cdi_name(const Pool& pool, const PoolDevice& pool_device) {
  if (!pool.cdi || device_nodes_of(pool, pool_device).empty()) return "";
  return kind_of(pool) + "=" + pool_device.device.address.text();
}

Status refresh_cdi(const CdiFolder& folder, const Pool& pool, const PoolDevice& pool_device) {
  if (pool.kind != PoolKind::device) return ok();
  const Path file = file_of(folder, pool_device.device.address);
  if (cdi_name(pool, pool_device).empty()) return remove_file(file);
  const std::string spec = spec_of(pool, pool_device);
  const Result<std::string> before = read_file(file);
  return before && *before == spec ? ok() : write_file_atomically(file, spec);
}

Status tidy_cdi(const CdiFolder& folder, const std::vector<PoolContents>& all_contents,
                const std::set<ib::PciAddress>& in_use) {
  std::set<ib::PciAddress> kept = in_use;
  Names ours;
  for (const PoolContents& contents : all_contents) {
    for (const PoolDevice& pool_device : contents.devices) {
      if (cdi_name(contents.pool, pool_device).empty()) continue;
      kept.insert(pool_device.device.address);
      ours.emplace(kind_of(contents.pool), pool_device.device.address.text());
    }
  }
  Errors errors;
  errors.collect(remove_stale(folder, kept));
  errors.collect(scan_folder(folder, folder.path, ours));
  errors.collect(scan_other_folders(folder, ours));
  return errors.status();
}

Status compare_nodes(const std::string& device, const std::vector<std::string>& granted,
                     const std::vector<DeviceNode>& present) {
  std::set<std::string> now;
  for (const DeviceNode& node : present) now.insert(node.path);
  const std::set<std::string> then(granted.begin(), granted.end());
  if (now == then) return ok();
  const auto list = [](const std::set<std::string>& paths) {
    return paths.empty() ? "nothing" : join(paths, ", ");
  };
  return Error(Code::unavailable,
               "device " + device + " was granted with " + list(then) + " but has " + list(now) +
                   " now: the container cannot open it; use a pool with \"cdi\": true");
}

}  // namespace ibpod::device_plugin
