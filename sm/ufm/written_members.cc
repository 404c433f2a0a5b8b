#include "sm/ufm/written_members.h"

#include "lib/json/read.h"
#include "lib/json/version.h"

#include <utility>

namespace ibpod::sm::ufm {
namespace {

using json::Value;

constexpr int64_t kNewest = 1;
constexpr std::string_view kEnding = ".json";
constexpr size_t kMostBytes = 256 << 20;  // a million members

// The name comes from the P_Key alone: "0x0010.json".
std::string name_of(ib::PKey pkey) { return pkey.text() + std::string(kEnding); }

// Nothing if the file is not one of ours, or is about to be renamed.
std::optional<ib::PKey> pkey_of(const std::string& name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  const auto pkey = ib::PKey::parse_partition(name.substr(0, name.size() - kEnding.size()));
  return pkey && name_of(*pkey) == name ? std::optional(*pkey) : std::nullopt;
}

std::string text_of(ib::PKey pkey, const WrittenPartition& partition) {
  Value members = Value::array();
  for (const auto& [guid, member] : partition) {
    Value one = Value::object();
    one.set("guid", guid.text())
        .set("membership", std::string(ib::name(member.values.membership)))
        .set("index0", member.values.index0)
        .set("leaving", member.leaving)
        .set("intended", member.intended);
    members.push(one);
  }
  Value document = Value::object();
  document.set(json::kVersion, kNewest).set("pkey", pkey.text()).set("members", members);
  return document.text() + "\n";
}

Status parse_member(const Value& value, WrittenPartition& partition) {
  const Value guid = TRY(value.at("guid"));
  const ib::Guid port = TRY(json::read_parsed(guid, &ib::Guid::parse));
  const Value membership = TRY(value.at("membership"));
  const Words<ib::Membership> words{{"limited", ib::Membership::limited},
                                    {"full", ib::Membership::full}};
  WrittenMember member;
  member.values.membership = TRY(json::read_word(membership, words));
  const Value index0 = TRY(value.at("index0"));
  member.values.index0 = TRY(index0.boolean());
  const Value leaving = TRY(value.at("leaving"));
  member.leaving = TRY(leaving.boolean());
  // Earlier releases did not write it. Their entries count as shown: as intended ones, they would
  // make each of our P_Keys that has a foreign member another user's, and the ports of running pods
  // would be removed from it. What remains open is a P_Key that another user took in the moment in
  // which such a release ended.
  if (const auto intended = value.find("intended")) member.intended = TRY(intended->boolean());
  if (!partition.emplace(port, member).second) return guid.wrong("the port is there twice");
  return ok();
}

Result<WrittenPartition> parse(ib::PKey expected, const std::string& text) {
  const Value document = TRY(Value::parse(text));
  TRY(json::check_version(document, kNewest));
  const Value pkey = TRY(document.at("pkey"));
  const ib::PKey found = TRY(json::read_parsed(pkey, &ib::PKey::parse_partition));
  if (found != expected)
    return pkey.wrong("expected " + expected.text() + " as in the file's name, got " +
                      found.text());
  const Value members = TRY(document.at("members"));
  const std::vector<Value> elements = TRY(members.elements());
  WrittenPartition partition;
  for (const Value& element : elements) TRY(parse_member(element, partition));
  return partition;
}

Result<WrittenPartition> read(const Path& file, ib::PKey pkey) {
  const std::string text = TRY(read_file(file, kMostBytes));
  Result<WrittenPartition> partition = parse(pkey, text);
  if (partition) return partition;
  const bool damaged = partition.error().code() == Code::invalid;
  const std::string advice =
      " is damaged: restore it from a backup, or remove it, and remove from P_Key " + pkey.text() +
      " in UFM what no partition of ibpod-sm has";
  return std::move(partition).error().during(file.string() + (damaged ? advice : ""));
}

}  // namespace

const WrittenMember* find_member(const WrittenPartition* partition, ib::Guid guid) {
  if (partition == nullptr) return nullptr;
  const auto found = partition->find(guid);
  return found == partition->end() ? nullptr : &found->second;
}

Result<WrittenMembers> WrittenMembers::open(Path folder) {
  TRY(make_folders(folder));
  WrittenMembers members(std::move(folder));
  const std::vector<std::string> names = TRY(list_folder(members.folder_));
  for (const std::string& name : names) {
    const std::optional<ib::PKey> pkey = pkey_of(name);
    if (!pkey) continue;
    WrittenPartition partition = TRY(read(members.folder_ / name, *pkey));
    if (!partition.empty()) members.all_[*pkey] = std::move(partition);
  }
  return members;
}

const WrittenPartition* WrittenMembers::find(ib::PKey pkey) const {
  const auto found = all_.find(pkey);
  return found == all_.end() ? nullptr : &found->second;
}

Status WrittenMembers::write(ib::PKey pkey, WrittenPartition partition) {
  const Path file = folder_ / name_of(pkey);
  if (partition.empty()) {
    TRY(remove_file(file));
    all_.erase(pkey);
    return ok();
  }
  TRY(write_file_atomically(file, text_of(pkey, partition)));
  all_[pkey] = std::move(partition);
  return ok();
}

}  // namespace ibpod::sm::ufm
