#include "lib/mad/sm_info.h"

#include "lib/mad/bytes.h"

namespace ibpod::mad {
namespace {

constexpr size_t kGuid = 0;
constexpr size_t kActivity = 16;
constexpr size_t kPriorityAndState = 20;

}  // namespace

Result<SmInfo> parse_sm_info(const Data& data) {
  const auto priority_and_state = load<uint8_t, kPriorityAndState>(data);
  const unsigned state = priority_and_state & 0xf;
  if (state > static_cast<unsigned>(SmState::master))
    return Error(Code::invalid, "SMInfo has the unknown state " + std::to_string(state));
  SmInfo info;
  info.guid = ib::Guid(load<uint64_t, kGuid>(data));
  info.activity = load<uint32_t, kActivity>(data);
  info.priority = priority_and_state >> 4;
  info.state = static_cast<SmState>(state);
  return info;
}

Data encode(const SmInfo& info) {
  Data data{};
  store<kGuid>(data, info.guid.value());
  store<kActivity>(data, info.activity);
  store<kPriorityAndState>(
      data, static_cast<uint8_t>(unsigned{info.priority} << 4 | static_cast<unsigned>(info.state)));
  return data;
}

}  // namespace ibpod::mad
