#include "sm/partitions/values.h"

#include "lib/json/fields.h"

namespace ibpod::sm::partitions {

using json::Value;

Result<uint8_t> read_sl(const Value& value) {
  return static_cast<uint8_t>(TRY(value.integer(0, fabric::kMostSl)));
}

Result<fabric::Namespaces> read_namespaces(const Value& value) {
  return json::read_list(value, json::read_string);
}

Result<fabric::NodePatterns> read_node_patterns(const Value& value) {
  return json::read_list(value, json::read_string);
}

Result<ib::PKey> read_pkey(const Value& value) {
  const std::string text = TRY(value.string());
  const Result<ib::PKey> pkey = ib::PKey::parse_tenant(text);
  if (!pkey) return value.wrong(pkey.error().text());
  return *pkey;
}

Result<ib::Guid> read_guid(const Value& value) {
  const std::string text = TRY(value.string());
  const Result<ib::Guid> guid = ib::Guid::parse(text);
  if (!guid) return value.wrong(guid.error().text());
  return *guid;
}

Result<fabric::Membership> read_membership(const Value& value) {
  const std::string text = TRY(value.string());
  const std::optional<fabric::Membership> membership = fabric::parse_membership(text);
  if (!membership) return value.wrong("expected limited, full or both, got \"" + text + "\"");
  return *membership;
}

Result<fabric::Proof> read_proof(const Value& value) {
  const std::string text = TRY(value.string());
  const std::optional<fabric::Proof> proof = fabric::parse_proof(text);
  if (!proof) return value.wrong("expected node, port or none, got \"" + text + "\"");
  return *proof;
}

Result<fabric::Mtu> read_mtu(const Value& value) {
  const int64_t bytes = TRY(value.integer());
  for (uint64_t code = 1; const auto mtu = fabric::mtu_of(code); ++code)
    if (bytes == 128LL << code) return *mtu;
  return value.wrong("expected 256, 512, 1024, 2048 or 4096, got " + std::to_string(bytes));
}

Result<fabric::Rate> read_rate(const Value& value) {
  const Result<int64_t> number = value.integer();
  const Result<std::string> written = number ? std::to_string(*number) : value.string();
  const std::string text = TRY(written);
  std::string known;
  for (auto code = static_cast<uint64_t>(fabric::kFirstRate);
       const auto rate = fabric::rate_of(code); ++code) {
    if (gbps(*rate) == text) return *rate;
    known += " " + gbps(*rate);
  }
  return value.wrong("expected a rate in Gb/s, one of" + known + ", got " + text);
}

}  // namespace ibpod::sm::partitions
