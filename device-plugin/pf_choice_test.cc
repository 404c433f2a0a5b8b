#include "device-plugin/pf_choice.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

TEST_CASE("a choice is a PF, and numbers of VFs after a hash") {
  struct Case {
    const char* text;
    const char* pf;
    std::vector<uint32_t> in;
    std::vector<uint32_t> out;
  };
  for (const Case& one : {Case{"ib0", "ib0", {0, 7, 65535}, {}},
                          {"ib0#3", "ib0", {3}, {2, 4}},
                          {"ib0#0,2-7,9", "ib0", {0, 2, 5, 7, 9}, {1, 8, 10}},
                          {"0000:86:00.0#0-1,3,4", "0000:86:00.0", {0, 1, 3, 4}, {2, 5}}}) {
    CAPTURE(one.text);
    const PfChoice choice = parse_pf_choice(one.text);
    CHECK(choice.pf == one.pf);
    CHECK_FALSE(choice.unreadable);
    for (const uint32_t vf : one.in) CHECK(choice.has(vf));
    for (const uint32_t vf : one.out) CHECK_FALSE(choice.has(vf));
  }
}

TEST_CASE("a range that cannot be read chooses nothing") {
  for (const char* text : {"ib0#", "ib0#x", "ib0#1-", "ib0#-1", "ib0#7-2", "ib0#1,,2", "ib0#1,",
                           "ib0# 1", "ib0#1#2", "ib0#70000", "ib0#4294967296", "ib0#0-0x3"}) {
    CAPTURE(text);
    const PfChoice choice = parse_pf_choice(text);
    CHECK(choice.pf == "ib0");
    CHECK(choice.unreadable);
    for (const uint32_t vf : {0U, 1U, 2U}) CHECK_FALSE(choice.has(vf));
    CHECK_FALSE(common_vf(choice, parse_pf_choice("ib0")));
  }
}

TEST_CASE("what two choices have in common") {
  const auto common = [](const char* one, const char* other) {
    return common_vf(parse_pf_choice(one), parse_pf_choice(other));
  };
  CHECK(common("ib0#0-3", "ib0#3-5") == 3U);
  CHECK(common("ib0#7,1-2", "ib0") == 1U);
  CHECK(common("ib0", "ib0") == 0U);
  CHECK_FALSE(common("ib0#0-3", "ib0#4-7"));
}

}  // namespace
}  // namespace ibpod::device_plugin
