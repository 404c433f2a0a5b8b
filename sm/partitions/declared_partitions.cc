#include "sm/partitions/declared_partitions.h"

#include "lib/json/read.h"
#include "sm/partitions/values.h"

#include <set>

namespace ibpod::sm::partitions {
namespace {

using json::take;
using json::Value;

Result<fabric::StaticMember> read_member(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  fabric::StaticMember member;
  TRY(value.at("guid"));
  TRY(take(fields, "guid", member.guid));
  TRY(take(fields, "membership", member.membership));
  TRY(take(fields, "comment", member.comment));
  TRY(refuse_unknown(value, fields));
  return member;
}

Result<std::vector<fabric::StaticMember>> read_members(const Value& value) {
  return json::read_list(value, read_member);
}

// An error of the whole entry, with the path of the key that the text begins with.
Error wrong_in(const Value& entry, const std::string& text) {
  const size_t colon = text.find(": ");
  if (colon == text.npos) return entry.wrong(text);
  const std::optional<Value> value = entry.find(text.substr(0, colon));
  return value ? value->wrong(text.substr(colon + 2)) : entry.wrong(text);
}

Result<fabric::Partition> read_partition(const Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  fabric::Partition partition;
  TRY(value.at("name"));
  TRY(take(fields, "name", partition.name));
  TRY(take(fields, "pkey", partition.pkey, read_pkey));
  TRY(take(fields, "membership", partition.membership));
  TRY(take(fields, "index0", partition.index0));
  TRY(take(fields, "ipoib", partition.ipoib));
  TRY(take(fields, "mtu", partition.mtu, read_mtu));
  TRY(take(fields, "rate", partition.rate, read_rate));
  TRY(take(fields, "sl", partition.sl, read_sl));
  TRY(take(fields, "allowed", partition.allowed));
  TRY(take(fields, "nodes", partition.nodes));
  TRY(take(fields, "proof", partition.proof));
  TRY(take(fields, "members", partition.members, read_members));
  TRY(refuse_unknown(value, fields));
  const Status checked = check(partition);
  if (!checked) return wrong_in(value, checked.error().text());
  return partition;
}

// The partition's name in a wrong entry; empty if the name cannot be read.
std::string name_of(const Value& entry) {
  const std::optional<Value> name = entry.find("name");
  if (!name) return "";
  const Result<std::string> text = name->string();
  if (!text) return "";
  fabric::Partition partition;
  partition.name = *text;
  return check(partition) ? *text : "";
}

void leave_out(const Error& error, const std::string& name, DeclaredPartitions& declared) {
  if (!name.empty()) {
    declared.errors.push_back(error.text());
    declared.unread.push_back(name);
    declared.unread_errors.push_back(error.text());
    return;
  }
  declared.errors.push_back(error.text() +
                            "; the partition of this entry is unknown, so no partition is removed "
                            "until the entry is corrected");
  declared.complete = false;
}

}  // namespace

Result<DeclaredPartitions> read_declared(std::string_view text) {
  const Value document = TRY(Value::parse(text, json::Comments::allowed));
  json::Fields fields = TRY(json::Fields::of(document));
  DeclaredPartitions declared;
  std::set<std::string> names;
  const std::optional<Value> partitions = TRY(fields.find("partitions"));
  if (!partitions) return document.wrong("the key \"partitions\" is missing");
  TRY(refuse_unknown(document, fields));
  const std::vector<Value> entries = TRY(partitions->elements());
  for (const Value& entry : entries) {
    Result<fabric::Partition> partition = read_partition(entry);
    if (!partition) {
      leave_out(partition.error(), name_of(entry), declared);
    } else if (!names.insert(partition->name).second) {
      // One of the two may be a wrong name of another partition.
      leave_out(entry.wrong("the name " + partition->name + " is listed twice"), "", declared);
    } else {
      declared.places.emplace(partition->name, entry.path());
      declared.partitions.push_back(*std::move(partition));
    }
  }
  return declared;
}

}  // namespace ibpod::sm::partitions
