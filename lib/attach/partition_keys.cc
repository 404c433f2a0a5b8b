#include "lib/attach/partition_keys.h"

#include "lib/ib/partition_name.h"

#include <algorithm>

namespace ibpod::attach {
namespace {

using json::Fields;
using json::Value;
using PartitionRequests = std::vector<node::PartitionRequest>;

Status check_name(const std::string& name) {
  if (ib::is_partition_name(name)) return ok();
  return Error(Code::invalid, "invalid partition name \"" + name + "\": expected up to " +
                                  std::to_string(ib::kMostPartitionName) +
                                  " letters, digits and ._-");
}

Status check_membership(const std::string& membership) {
  for (const char* const known : {"", "limited", "full", "both"})
    if (membership == known) return ok();
  return Error(Code::invalid,
               "membership: expected limited, full or both, got \"" + membership + "\"");
}

Result<node::PartitionRequest> read_request(const Value& value) {
  node::PartitionRequest request;
  if (value.is_string()) {
    request.name = TRY(value.string());
  } else {
    Fields fields = TRY(Fields::of(value));
    const std::optional<std::string> name = TRY(text(fields, "name"));
    const std::optional<std::string> membership = TRY(text(fields, "membership"));
    request = {name.value_or(""), membership.value_or("")};
    const std::vector<std::string> unknown = fields.unknown();
    if (!unknown.empty())
      return value.wrong("the key \"" + unknown.front() + "\" is unknown" +
                         fields.instead_of(unknown.front()));
  }
  TRY(check_name(request.name));
  TRY(check_membership(request.membership));
  return request;
}

Result<PartitionRequests> read_one(Fields& fields, const std::string& place) {
  const std::optional<std::string> name = TRY(text(fields, "partition"));
  if (!name) return PartitionRequests();
  TRY(check_name(*name).during(place));
  return PartitionRequests{{*name}};
}

Result<PartitionRequests> read_list(Fields& fields) {
  const std::optional<Value> list = TRY(fields.find("partitions"));
  PartitionRequests requests;
  if (!list) return requests;
  const std::vector<Value> elements = TRY(list->elements());
  for (const Value& element : elements) {
    const node::PartitionRequest request = TRY(read_request(element).during("partitions"));
    const bool twice = std::any_of(requests.begin(), requests.end(),
                                   [&](const auto& one) { return one.name == request.name; });
    if (twice) return Error(Code::invalid, "partitions: \"" + request.name + "\" is listed twice");
    requests.push_back(request);
  }
  if (requests.size() <= kMostPartitions) return requests;
  return Error(Code::invalid, "partitions: expected up to " + std::to_string(kMostPartitions) +
                                  ", got " + std::to_string(requests.size()));
}

// The one of two that says something.
Result<PartitionRequests> one_of(const PartitionRequests& first, const std::string& first_place,
                                 const PartitionRequests& second, const std::string& second_place) {
  if (first.empty()) return second;
  if (second.empty() || first == second) return first;
  return Error(Code::invalid, second_place + ": " + first_place + " has another partition (\"" +
                                  first.front().name + "\"): remove one of the two");
}

}  // namespace

Result<PartitionRequests> read_partitions(Keys& keys) {
  const PartitionRequests named = TRY(read_one(keys.top(), "partition"));
  const PartitionRequests listed = TRY(read_list(keys.top()));
  PartitionRequests requests = TRY(one_of(named, "partition", listed, "partitions"));
  PartitionRequests asked;
  if (keys.cni_args()) asked = TRY(read_one(*keys.cni_args(), "args.cni.partition"));
  requests = TRY(one_of(requests, "the network", asked, "args.cni.partition"));
  const std::optional<ib::PKey> pkey = TRY(keys.pkey());
  if (!pkey || requests.empty()) return requests;
  return Error(Code::invalid, "pkey: " + pkey->text() + " and partition \"" +
                                  requests.front().name +
                                  "\" are both set: remove pkey; a partition has its own P_Key");
}

}  // namespace ibpod::attach
