#include "sm/ufm/written_groups.h"

#include "lib/json/read.h"
#include "lib/json/version.h"
#include "sm/ufm/values.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ibpod::sm::ufm {
namespace {

using json::Value;

constexpr int64_t kNewestGroups = 1;
constexpr std::string_view kGroupsEnding = ".json";
constexpr size_t kMostGroupsBytes = 16 << 20;
constexpr int64_t kMostId = INT64_MAX;

// The name comes from the GUID alone: "0002c90300a1b2c3.json".
std::string file_of(ib::Guid pf) { return guid_text(pf) + std::string(kGroupsEnding); }

// Nothing if the file is not one of ours, or is about to be renamed.
std::optional<ib::Guid> pf_of(const std::string& name) {
  if (!name.ends_with(kGroupsEnding)) return std::nullopt;
  const auto pf = ib::Guid::parse("0x" + name.substr(0, name.size() - kGroupsEnding.size()));
  return pf && file_of(*pf) == name ? std::optional(*pf) : std::nullopt;
}

std::string text_of_port(ib::Guid pf, const WrittenPort& port) {
  Value vfs = Value::array(), groups = Value::array();
  for (const ib::Guid vf : port.vfs) vfs.push(vf.text());
  for (const uint64_t id : port.ids) groups.push(static_cast<int64_t>(id));
  Value document = Value::object();
  document.set(json::kVersion, kNewestGroups).set("pf", pf.text()).set("vfs", vfs);
  document.set("groups", groups).set("making", port.making);
  return document.text() + "\n";
}

Result<ib::Guid> to_guid(const Value& value) { return json::read_parsed(value, &ib::Guid::parse); }
Result<uint64_t> to_id(const Value& value) {
  const int64_t id = TRY(value.integer(0, kMostId));
  return static_cast<uint64_t>(id);
}

Result<WrittenPort> parse_port(ib::Guid expected, const std::string& text) {
  const Value document = TRY(Value::parse(text));
  TRY(json::check_version(document, kNewestGroups));
  const Value pf = TRY(document.at("pf"));
  const ib::Guid found = TRY(to_guid(pf));
  if (found != expected)
    return pf.wrong("expected " + expected.text() + " as in the file's name, got " + found.text());
  const Value vfs = TRY(document.at("vfs"));
  const std::vector<ib::Guid> guids = TRY(json::read_list(vfs, to_guid));
  const Value groups = TRY(document.at("groups"));
  const std::vector<uint64_t> ids = TRY(json::read_list(groups, to_id));
  const Value making = TRY(document.at("making"));
  WrittenPort port{{guids.begin(), guids.end()}, {ids.begin(), ids.end()}};
  port.making = TRY(making.boolean());
  return port;
}

Result<WrittenPort> read_port_file(const Path& file, ib::Guid pf) {
  const std::string text = TRY(read_file(file, kMostGroupsBytes));
  Result<WrittenPort> port = parse_port(pf, text);
  if (port) return port;
  const bool damaged = port.error().code() == Code::invalid;
  const std::string advice =
      " is damaged: restore it from a backup, or remove it, and remove the groups of port " +
      pf.text() + " from UFM's physical_virtual_mapping";
  return std::move(port).error().during(file.string() + (damaged ? advice : ""));
}

}  // namespace

Result<WrittenGroups> WrittenGroups::open(Path folder) {
  TRY(make_folders(folder));
  WrittenGroups groups(std::move(folder));
  const std::vector<std::string> names = TRY(list_folder(groups.folder_));
  for (const std::string& name : names) {
    const std::optional<ib::Guid> pf = pf_of(name);
    if (!pf) continue;
    WrittenPort port = TRY(read_port_file(groups.folder_ / name, *pf));
    if (!port.empty()) groups.all_[*pf] = std::move(port);
  }
  return groups;
}

WrittenPort WrittenGroups::of(ib::Guid pf) const {
  const auto found = all_.find(pf);
  return found == all_.end() ? WrittenPort() : found->second;
}

Status WrittenGroups::write(ib::Guid pf, WrittenPort port) {
  if (port == of(pf)) return ok();
  const Path file = folder_ / file_of(pf);
  if (port.empty()) {
    TRY(remove_file(file));
    all_.erase(pf);
    return ok();
  }
  TRY(write_file_atomically(file, text_of_port(pf, port)));
  all_[pf] = std::move(port);
  return ok();
}

}  // namespace ibpod::sm::ufm
