#include "tests/support/ufm/rest_body.h"

#include "lib/json/value.h"
#include "tests/support/ufm/rest_text.h"

namespace ibpod::fake_ufm {
namespace {

using json::Value;

Result<ib::Membership> read_membership(const Value& value) {
  const std::string word = TRY(value.string());
  if (word == "full") return ib::Membership::full;
  if (word == "limited") return ib::Membership::limited;
  return value.wrong("expected full or limited");
}

template <typename Item>
Result<std::vector<Item>> read_items(const Value& body, const char* key,
                                     Result<Item> (*read)(const Value&)) {
  std::vector<Item> items;
  const std::optional<Value> list = body.find(key);
  if (!list) return items;
  const std::vector<Value> elements = TRY(list->elements());
  for (const Value& element : elements) {
    Item item = TRY(read(element));
    items.push_back(item);
  }
  return items;
}

template <typename T>
Status take(const Value& body, const char* key, std::optional<T>& target,
            Result<T> (*read)(const Value&)) {
  const std::optional<Value> value = body.find(key);
  if (!value) return ok();
  target = TRY(read(*value));
  return ok();
}

Result<bool> read_flag(const Value& value) { return value.boolean(); }
Result<std::string> read_string(const Value& value) { return value.string(); }
Result<ib::Guid> read_guid_of(const Value& value) {
  const std::string text = TRY(value.string());
  return read_guid(text);
}

Status take_number(const std::optional<Value>& value, int64_t least, int64_t most, int& target) {
  if (!value) return ok();
  const int64_t number = TRY(value->integer(least, most));
  target = static_cast<int>(number);
  return ok();
}

Status take_qos(const Value& body, Call& call) {
  Qos qos;
  const auto mtu = body.find("mtu_limit"), level = body.find("service_level"),
             rate = body.find("rate_limit");
  TRY(take_number(mtu, 1, 5, qos.mtu_limit));
  TRY(take_number(level, 0, 15, qos.service_level));
  if (rate) {
    if (!rate->is_number()) return rate->wrong("expected a number");
    qos.rate_limit = rate->text();
  }
  if (mtu || level || rate) call.qos = qos;
  return ok();
}

Result<Value> read_object(const std::string& body) {
  Value object = TRY(Value::parse(body));
  if (!object.is_object()) return object.wrong("expected an object");
  return object;
}

Result<Call> read_call(Operation operation, const Value& object) {
  Call call{.operation = operation};
  const Value pkey = TRY(object.at("pkey"));
  const std::string text = TRY(pkey.string());
  call.pkey = TRY(read_pkey(text));
  call.guids = TRY(read_items<ib::Guid>(object, "guids", read_guid_of));
  TRY(take(object, "membership", call.membership, read_membership));
  call.memberships = TRY(read_items<ib::Membership>(object, "memberships", read_membership));
  TRY(take(object, "index0", call.index0, read_flag));
  TRY(take(object, "ip_over_ib", call.ip_over_ib, read_flag));
  TRY(take(object, "partition_name", call.partition_name, read_string));
  TRY(take_qos(object, call));
  return call;
}

}  // namespace

Result<Call> read_body(Operation operation, const std::string& body) {
  const Value object = TRY(read_object(body));
  return read_call(operation, object);
}

Result<HostsBody> read_hosts_body(const std::string& body) {
  const Value object = TRY(read_object(body));
  HostsBody read{};
  read.call = TRY(read_call(Operation::post, object));
  const Value names = TRY(object.at("hosts_names"));
  const std::string list = TRY(names.string());
  read.hosts = split(list, ',');
  return read;
}

}  // namespace ibpod::fake_ufm
