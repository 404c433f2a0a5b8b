#include "sm/partitions/values.h"

#include "lib/json/read.h"

namespace ibpod::sm::partitions {

using json::Value;

Result<uint8_t> read_sl(const Value& value) {
  return static_cast<uint8_t>(TRY(value.integer(0, fabric::kMostSl)));
}

Result<ib::PKey> read_pkey(const Value& value) {
  return json::read_parsed(value, ib::PKey::parse_tenant);
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
