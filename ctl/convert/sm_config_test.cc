#include "ctl/convert/sm_config.h"

#include <doctest/doctest.h>

namespace ibpod::ctl::convert {
namespace {

IbKubernetes site() {
  return {.host = "ufm.example.com",
          .port = 8443,
          .user = "admin",
          .password = "swordfish",
          .certificate = "PEM",
          .guids = {ib::Guid(0x0200000000000000), ib::Guid(0x02ffffffffffffff)},
          .warnings = {"one"}};
}

Ranges ranges(const std::vector<std::string>& pkeys, const std::vector<std::string>& guids = {}) {
  return read_ranges(pkeys, guids).value();
}

TEST_CASE("the configuration has UFM, the chosen P_Keys, and the pool of ib-kubernetes") {
  const auto made = make_sm_config(site(), ranges({"0x0100-0x0fff"}));
  REQUIRE(made);
  CHECK(made->document.text() ==
        R"({"engine":"ufm","ufm":{"addresses":["https://ufm.example.com:8443"],"user":"admin",)"
        R"("passwordFile":"/etc/ibpod/ufm/password","caFile":"/etc/ibpod/ufm/ca.crt"},)"
        R"("pkeys":[{"first":"0x0100","last":"0x0fff","use":"explicit"}],)"
        R"("guids":[{"first":"02:00:00:00:00:00:00:00","last":"02:ff:ff:ff:ff:ff:ff:ff"}],)"
        R"("defaults":{"ipoib":true}})");
  REQUIRE(made->files.size() == 2);
  CHECK(made->files[0].name == "password");
  CHECK(made->files[0].content == "swordfish");
  CHECK(made->files[1].name == "ca.crt");
  CHECK(made->files[1].content == "PEM");
}

TEST_CASE("without a certificate there is no file for it, and the key stays") {
  IbKubernetes from = site();
  from.certificate = "";
  const auto made = make_sm_config(from, ranges({"0x0100"}));
  REQUIRE(made);
  CHECK(made->files.size() == 1);
  CHECK(made->document.at("ufm")->at("caFile")->string().value() == "/etc/ibpod/ufm/ca.crt");
}

TEST_CASE("GUIDs that both programs could allocate are a warning") {
  const struct {
    std::vector<std::string> guids;
    size_t warnings;
  } table[] = {{{}, 2},
               {{"0x02ffffffffffffff"}, 2},
               {{"0x0600000000000001-0x06000000000000ff"}, 1},
               {{"0x0000000000000001-0x00000000000000ff"}, 1},
               {{"0x0600000000000001-0x06000000000000ff", "02:00:00:00:00:00:00:00"}, 2}};
  for (const auto& [guids, warnings] : table) {
    const auto made = make_sm_config(site(), ranges({"0x0100"}, guids));
    REQUIRE(made);
    CHECK(made->warnings.size() == warnings);
    CHECK(made->warnings.front() == "one");
    CHECK((warnings == 1 || made->warnings.back().find("guids: ") == 0));
  }
}

TEST_CASE("a pool that ibpod-sm cannot use is refused, unless other GUIDs are chosen") {
  IbKubernetes from = site();
  for (const uint64_t last : {0x06ffffffffffffffULL, 0x0300000000000000ULL}) {
    from.guids.last = ib::Guid(last);
    const auto refused = make_sm_config(from, ranges({"0x0100"}));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("GUID_POOL_RANGE_START, GUID_POOL_RANGE_END: ") == 0);
    CHECK(refused.error().text().find("choose other GUIDs by --guids") != std::string::npos);
    CHECK(make_sm_config(from, ranges({"0x0100"}, {"0x0600000000000001"})));
  }
}

TEST_CASE("a range is one value, or the first and the last") {
  const Ranges read =
      ranges({"0x0100-0x01ff", "0x1"}, {"02:00:00:00:00:00:00:01-0x02000000000000ff"});
  REQUIRE(read.pkeys.size() == 2);
  CHECK(read.pkeys[0] == sm::pool::PKeyRange{0x100, 0x1ff, sm::pool::RangeUse::by_request});
  CHECK(read.pkeys[1] == sm::pool::PKeyRange{1, 1, sm::pool::RangeUse::by_request});
  REQUIRE(read.guids.size() == 1);
  CHECK(read.guids[0] ==
        sm::pool::GuidRange{ib::Guid(0x0200000000000001), ib::Guid(0x02000000000000ff)});
}

TEST_CASE("a wrong range is refused with its option and what would be right") {
  const struct {
    std::vector<std::string> pkeys, guids;
    std::string error;
  } table[] = {
      {{}, {}, "--pkeys: it is missing: give the P_Keys that ibpod-sm alone may write"},
      {{""}, {}, "--pkeys: \"\""},
      {{"0x0100-"}, {}, "--pkeys: \"0x0100-\""},
      {{"0x0100-0x0200-0x0300"}, {}, "--pkeys: \"0x0100-0x0200-0x0300\""},
      {{"100-1ff"}, {}, "--pkeys: \"100-1ff\""},
      {{"0x0100-0x7fff"}, {}, "--pkeys: \"0x0100-0x7fff\""},
      {{"0x0000-0x0100"}, {}, "--pkeys: \"0x0000-0x0100\""},
      {{"0x8001-0x8100"}, {}, "--pkeys: \"0x8001-0x8100\""},
      {{"0x0200-0x0100"}, {}, "--pkeys: P_Key range 0x0200-0x0100: first is greater than last"},
      {{"0x0100-0x0200", "0x0200"}, {}, "--pkeys: P_Key ranges"},
      {{"0x0100"}, {"7"}, "--guids: \"7\""},
      {{"0x0100"}, {"0x0200000000000002-0x0200000000000001"}, "first is greater than last"},
      {{"0x0100"}, {"0x0100000000000000"}, "--guids: GUID range"},
      {{"0x0100"}, {"0x0000000000000000"}, "--guids: GUID range"},
  };
  for (const auto& [pkeys, guids, expected] : table) {
    CAPTURE(expected);
    const auto refused = read_ranges(pkeys, guids);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK_MESSAGE(refused.error().text().find(expected) != std::string::npos,
                  refused.error().text());
  }
}

}  // namespace
}  // namespace ibpod::ctl::convert
