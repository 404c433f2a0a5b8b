#include "lib/node/record.h"

#include "lib/base/fnv.h"
#include "lib/ib/hex.h"
#include "lib/json/value.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

OriginalNetdev netdev(const std::string& name) {
  OriginalNetdev found;
  found.name = name;
  found.altnames = {"ibp59s0v0", "altérnative"};
  found.mtu = 4092;
  found.up = true;
  found.address = {0x80, 0, 1, 2, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0x10, 0, 0, 0, 0xff};
  found.mode = nl::IpoibMode::connected;
  found.umcast = true;
  found.children = {"ib0.8001"};
  return found;
}

// Every field is set, and differs from its default.
Record full_record() {
  Record record;
  record.plugin = "ib-sriov";
  record.attempt = "5eed";
  record.network = "blue";
  record.container_id = "c1";
  record.ifname = "net1";
  record.pod = {"tenant", "pod-0", "8f0c"};
  record.device = ib::PciAddress::parse("0000:3b:00.2").value();
  record.netns = {"/run/netns/x", {4, UINT64_MAX - 1, UINT64_MAX}};
  record.boot_id = "7a1c";
  const Guids guids{ib::Guid(0x1122334455667788), ib::Guid(0x1122334455667789)};
  record.spec = {"net1", guids, LinkPolicy::disable, 2044, ib::PKey(0x8001), true};
  record.original = {"mlx5_core",          netdev("ib1"), {netdev("ib2"), netdev("ib3")},
                     {"mlx5_1", "mlx5_2"}, guids,         Guids{ib::kNoGuid, ib::Guid()},
                     LinkPolicy::enable};
  record.rebind_pending = true;
  record.configuration = "{\"name\": \"blue\",\n \"x\": \"\\u0000 \\\"quoted\\\"\"}";
  record.cni_args = "IgnoreUnknown=1;K8S_POD_NAME=pod-0";
  record.cni_path = "/opt/cni/bin:/usr/lib/cni";
  return record;
}

TEST_CASE("a record reads back as it was written, with everything and with nothing") {
  CHECK(parse_record(text_of(full_record())).value() == full_record());
  Record bare;
  bare.device = full_record().device;
  CHECK(parse_record(text_of(bare)).value() == bare);
  Record vfio = full_record();
  vfio.original.netdev.reset();
  vfio.original.other_netdevs.clear();
  vfio.original.rdma_devices.clear();
  vfio.original.guids.reset();
  vfio.netns.identity.cookie.reset();
  CHECK(parse_record(text_of(vfio)).value() == vfio);
}

TEST_CASE("a record that names partitions is one of a version that older programs refuse") {
  Record record = full_record();
  CHECK(text_of(record).find("\"version\": 1") != std::string::npos);
  record.spec.partitions = {{"blue", "full"}, {"red"}, {"", "full", ib::PKey(0x0003)}};
  record.stage = Stage::pkey_pending;
  CHECK(text_of(record).find("\"version\": 2") != std::string::npos);
  CHECK(parse_record(text_of(record)).value() == record);
}

// The text of a record with `from` replaced by `to`, and a correct checksum.
std::string with(const Record& record, const std::string& from, const std::string& to) {
  const json::Value document = json::Value::parse(text_of(record)).value();
  std::string text = document.at("attachment").value().text();
  const size_t place = text.find(from);
  REQUIRE_MESSAGE(place != std::string::npos, from);
  text.replace(place, from.size(), to);
  const json::Value attachment = json::Value::parse(text).value();
  return json::Value(document)
      .set("checksum", ib::hex(fnv1a(attachment.text()), 16))
      .set("attachment", attachment)
      .text();
}

TEST_CASE("an enum may be a word or its number, and is written as the number") {
  Record record = full_record();
  record.stage = Stage::pkey_pending;
  for (const auto& [number, word] : {std::pair{R"("stage":2)", R"("stage":"pkey_pending")"},
                                     std::pair{R"("policy":2)", R"("policy":"disable")"},
                                     std::pair{R"("policy":1)", R"("policy":"enable")"},
                                     std::pair{R"("mode":1)", R"("mode":"connected")"}}) {
    CAPTURE(word);
    CHECK(parse_record(with(record, number, word)).value() == record);
  }
  CHECK(parse_record(with(record, R"("stage":2)", R"("stage":"keyed")")).error().text() ==
        "attachment.stage: unknown word \"keyed\"");
  CHECK_FALSE(parse_record(with(record, R"("stage":2)", R"("stage":3)")));
}

TEST_CASE("a hardware address has whole bytes") {
  CHECK_FALSE(parse_record(with(full_record(), "00ff\"", "00f\"")));
}

// A short record for the loops, with every feature of the format.
Record short_record() {
  Record record;
  record.device = full_record().device;
  record.container_id = "c1";
  record.spec.guids = full_record().spec.guids;
  record.original.netdev = OriginalNetdev{"ib1", {}, 2044, true, {1, 0xff}, {}, false, {}};
  return record;
}

// True if damage by a disk is either noticed or makes no difference.
bool refused_or_equal(const std::string& text) {
  const Result<Record> read = parse_record(text);
  if (read) return *read == short_record();
  return read.error().code() == Code::invalid || read.error().code() == Code::unsupported;
}

TEST_CASE("whichever byte is another one, the record is refused or the same") {
  const std::string text = text_of(short_record());
  for (size_t i = 0; i < text.size(); ++i) {
    for (const char flip : {'\x01', '\x20', '\x7f'}) {
      std::string damaged = text;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      CAPTURE(i);
      REQUIRE(refused_or_equal(damaged));
    }
  }
}

TEST_CASE("wherever it is cut, and whichever byte is missing, the record is refused or the same") {
  const std::string text = text_of(short_record());
  for (size_t i = 0; i < text.size(); ++i) {
    CAPTURE(i);
    REQUIRE(refused_or_equal(text.substr(0, i)));
    REQUIRE(refused_or_equal(text.substr(i + 1)));
    REQUIRE(refused_or_equal(text.substr(0, i) + text.substr(i + 1)));
    REQUIRE(refused_or_equal(text.substr(0, i) + text[i] + text.substr(i)));
  }
  CHECK(parse_record("").error().code() == Code::invalid);
  CHECK(parse_record(std::string(text.size(), '\0')).error().code() == Code::invalid);
}

TEST_CASE("a version that this program does not know is unsupported, whatever else is in it") {
  std::string text = text_of(full_record());
  text.replace(text.find("\"version\": 1"), 12, "\"version\": 3");
  const Error error = parse_record(text).error();
  CHECK(error.code() == Code::unsupported);
  CHECK(error.text() ==
        "version 3 is too new: this program reads up to version 2; run the newer ibpod that wrote "
        "it (the file is unchanged)");
  CHECK(parse_record(R"({"version":7})").error().code() == Code::unsupported);
}

TEST_CASE("no GUID is no GUID, zeros or ones") {
  const Guids zeros{};
  const Guids ones{ib::kNoGuid, ib::kNoGuid};
  const Guids some{ib::Guid(1), ib::Guid(2)};
  CHECK(zeros.none());
  CHECK(ones.none());
  CHECK_FALSE(some.none());
  CHECK(same(zeros, ones));
  CHECK(same(some, some));
  CHECK_FALSE(same(some, ones));
  CHECK_FALSE(same(some, Guids{ib::Guid(1), ib::Guid(3)}));
}

}  // namespace
}  // namespace ibpod::node
