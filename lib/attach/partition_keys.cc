#include "lib/attach/partition_keys.h"

#include "lib/ib/partition_name.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

using json::Fields;
using json::Value;
using Wishes = std::vector<node::PartitionWish>;

Status check_name(const std::string& name) {
  if (ib::is_partition_name(name)) return ok();
  return Error(Code::invalid, "\"" + name + "\" is no partition's name: expected up to " +
                                  std::to_string(ib::kMostPartitionName) +
                                  " letters, digits and ._-");
}

Status check_membership(const std::string& membership) {
  for (const char* const known : {"", "limited", "full", "both"})
    if (membership == known) return ok();
  return Error(Code::invalid,
               "membership: expected limited, full or both, got \"" + membership + "\"");
}

Result<node::PartitionWish> read_wish(const Value& value) {
  node::PartitionWish wish;
  if (value.is_string()) {
    wish.name = TRY(value.string());
  } else {
    Fields fields = TRY(Fields::of(value));
    const std::optional<std::string> name = TRY(text(fields, "name"));
    const std::optional<std::string> membership = TRY(text(fields, "membership"));
    wish = {name.value_or(""), membership.value_or("")};
    const std::vector<std::string> unknown = fields.unknown();
    if (!unknown.empty())
      return value.wrong("the key \"" + unknown.front() + "\" is unknown" +
                         fields.instead_of(unknown.front()));
  }
  TRY(check_name(wish.name));
  TRY(check_membership(wish.membership));
  return wish;
}

Result<Wishes> read_one(Fields& fields, const std::string& place) {
  const std::optional<std::string> name = TRY(text(fields, "partition"));
  if (!name) return Wishes();
  TRY(check_name(*name).during(place));
  return Wishes{{*name}};
}

Result<Wishes> read_list(Fields& fields) {
  const std::optional<Value> list = TRY(fields.find("partitions"));
  Wishes wishes;
  if (!list) return wishes;
  const std::vector<Value> elements = TRY(list->elements());
  for (const Value& element : elements) {
    const node::PartitionWish wish = TRY(read_wish(element).during("partitions"));
    const bool twice = std::any_of(wishes.begin(), wishes.end(),
                                   [&](const auto& one) { return one.name == wish.name; });
    if (twice) return Error(Code::invalid, "partitions: \"" + wish.name + "\" is named twice");
    wishes.push_back(wish);
  }
  if (wishes.size() <= kMostPartitions) return wishes;
  return Error(Code::invalid, "partitions: expected up to " + std::to_string(kMostPartitions) +
                                  ", got " + std::to_string(wishes.size()));
}

// The one of two that says something.
Result<Wishes> one_of(const Wishes& first, const std::string& first_place, const Wishes& second,
                      const std::string& second_place) {
  if (first.empty()) return second;
  if (second.empty() || first == second) return first;
  return Error(Code::invalid, second_place + ": " + first_place + " says otherwise (\"" +
                                  first.front().name + "\"): which one is meant?");
}

}  // namespace

Result<Wishes> read_partitions(Keys& keys) {
  const Wishes named = TRY(read_one(keys.top(), "partition"));
  const Wishes listed = TRY(read_list(keys.top()));
  Wishes wishes = TRY(one_of(named, "partition", listed, "partitions"));
  Wishes asked;
  if (keys.cni_args()) asked = TRY(read_one(*keys.cni_args(), "args.cni.partition"));
  wishes = TRY(one_of(wishes, "the network", asked, "args.cni.partition"));
  const std::optional<ib::PKey> pkey = TRY(keys.pkey());
  if (!pkey || wishes.empty()) return wishes;
  return Error(Code::invalid, "pkey: " + pkey->text() + " and partition \"" + wishes.front().name +
                                  "\" are both given; a partition has a P_Key of its own");
}

}  // namespace ibpod::attach
