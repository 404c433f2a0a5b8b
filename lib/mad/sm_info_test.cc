#include "lib/mad/sm_info.h"

#include "lib/mad/test_answers.h"

#include <doctest/doctest.h>

namespace ibpod::mad {
namespace {

TEST_CASE("a subnet manager as another program reads it") {
  const auto info = parse_sm_info(recorded_answer("sm-info").data);
  REQUIRE(info);
  CHECK(info->guid == ib::Guid(0x100001));
  CHECK(info->priority == 0);
  CHECK(info->state == SmState::master);
  CHECK(info->activity > 0);
  CHECK(*parse_sm_info(encode(SmInfo{ib::Guid(7), 1, 15, SmState::standby})) ==
        SmInfo{ib::Guid(7), 1, 15, SmState::standby});
}

TEST_CASE("there are four states of a subnet manager") {
  Data data{};
  data.at(20) = std::byte{0xf4};
  CHECK(!parse_sm_info(data));
}

}  // namespace
}  // namespace ibpod::mad
