// The records that an ibpod of the first version has left, tests/data/first_version: what each one
// says, word for word.
#include "lib/json/value.h"
#include "lib/node/records.h"
#include "tests/support/temp_folder.h"

#include <filesystem>

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const Path kKept = "tests/data/first_version/node";

struct Kept {
  std::string folder;
  std::string pod;
  int version;
  std::string uid_end;
  uint64_t netns;
  std::string attempt;
  void (*say)(Record& record);  // what the others do not
};

Guids twice(uint64_t guid) { return {ib::Guid(guid), ib::Guid(guid)}; }

// The original state of the node's VF of this number.
Original found(int vf) {
  const uint8_t last = static_cast<uint8_t>(vf);
  const Guids guids = twice(0x02005e1000000000 + last);
  const std::string number = std::to_string(vf);
  OriginalNetdev netdev;
  netdev.name = "ib" + number;
  netdev.altnames = {"ibp59s0v" + std::to_string(vf - 1)};
  netdev.mtu = 2044;
  netdev.address = {0, 0, 0, 0x40, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0x10, 0, 0, 0, last};
  return {"mlx5_core", netdev, {}, {"mlx5_" + number}, guids, guids, LinkPolicy::automatic};
}

const std::vector<Kept> kRecords{
    {"0000:3b:00.1", "isolated", 1, "3", 1, "c41848c7",
     [](Record& record) {
       record.spec.isolation = true;
       record.spec.policy = LinkPolicy::automatic;
       record.spec.mtu = 2044;
       record.spec.pkey = ib::PKey(0x8001);
       record.spec.guids = twice(0x0200000000000b00);
       record.original = found(1);
       record.original.netdev->mode = nl::IpoibMode::connected;
       record.original.netdev->umcast = true;
     }},
    {"0000:3b:00.2", "vfio", 1, "4", 2, "ae559d40",
     [](Record& record) {
       record.spec.pkey = ib::PKey(0x8001);
       record.spec.guids = twice(0x0200000000000b01);
       record.original.driver = "vfio-pci";
       record.original.pf_configured = twice(0x02005e1000000002);
       record.original.policy = LinkPolicy::automatic;
     }},
    {"0000:3b:00.3", "attached", 2, "2", 4, "657c41e7",
     [](Record& record) {
       record.spec.guids = twice(0x0200000000000b02);
       record.spec.partitions = {{"blue", "full"}, {"red"}};
       record.original = found(3);
     }},
    {"0000:3b:00.4", "ending", 2, "1", 5, "c2d0a7f2",
     [](Record& record) {
       record.spec.guids = twice(0x0200000000000b03);
       record.spec.partitions = {{"", "full", ib::PKey(0x0001)}};
       record.original = found(4);
       record.stage = Stage::ending;
     }},
    {"0000:3b:00.5", "keyed", 2, "6", 6, "ad6e1c9a",
     [](Record& record) {
       record.spec.guids = twice(0x0200000000000b04);
       record.spec.partitions = {{"blue"}};
       record.original = found(5);
       record.stage = Stage::pkey_pending;
     }},
    {"ibpod2188d7b44b", "child", 1, "5", 3, "8342c2d6",
     [](Record& record) {
       record.plugin = "ipoib";
       record.device = ib::PciAddress::parse("0000:3b:00.0").value();
       record.spec.pkey = ib::PKey(0x8001);
       Child& child = record.child.emplace();
       child.link = "ibpod2188d7b44b";
       child.master = "ib0";
       child.parent = nl::IfIndex(2);
       child.index = nl::IfIndex(833498258);
       child.port = ib::Guid(0x02005e1000000000);
       child.pkey = ib::PKey(0x8001);
       child.umcast = true;
       child.address = {0, 0, 0, 0x41, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0x5e, 0x10, 0, 0, 0, 0};
     }},
};

Record meant(const Kept& kept, const std::string& configuration) {
  Record record;
  record.plugin = "ib-sriov";
  record.attempt = kept.attempt;
  record.network = "blue";
  record.container_id = kept.pod;
  record.ifname = "net1";
  record.pod = {"tenant", kept.pod + "-0", "8f0c21d4-5a3e-4c5c-9d60-6b1f0e7a2c1" + kept.uid_end};
  const auto device = ib::PciAddress::parse(kept.folder);
  if (device) record.device = *device;
  record.netns = {"/run/netns/" + kept.pod, {4, 0xf0000000 + kept.netns, kept.netns + 1}};
  record.boot_id = "5f2c7f04-9f1e-4c63-8d8a-1f7f2c0a9b1e";
  record.spec.ifname = "net1";
  record.configuration = configuration;
  record.cni_args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=tenant;K8S_POD_NAME=" + record.pod.name +
                    ";K8S_POD_INFRA_CONTAINER_ID=" + kept.pod + ";K8S_POD_UID=" + record.pod.uid;
  record.cni_path = "/opt/cni/bin";
  kept.say(record);
  return record;
}

Path file_of(const Kept& kept) {
  return Path("attachments") / kept.folder / (kept.pod + ":net1.json");
}
std::string version(int number) { return "\"version\": " + std::to_string(number) + ","; }

TEST_CASE("each record of the first version says today what it said then") {
  const Records records(kKept);
  CHECK(records.all().value().size() == kRecords.size());
  for (const Kept& kept : kRecords) {
    CAPTURE(kept.pod);
    CHECK(read_file(kKept / file_of(kept))->find(version(kept.version)) != std::string::npos);
    const Result<Record> record = records.read({kept.folder, kept.pod, "net1"});
    REQUIRE_MESSAGE(record.ok(), record.error().text());
    CHECK(text_of(*record) == text_of(meant(kept, record->configuration)));
    const auto network = json::Value::parse(record->configuration);
    REQUIRE(network);
    CHECK(network->at("type")->string().value() == record->plugin);
    CHECK(network->at("name")->string().value() == "blue");
  }
}

TEST_CASE("each record of a newer version is refused by its file's name, and stays as it is") {
  const TempFolder folder;
  std::filesystem::copy(kKept, folder.path(), std::filesystem::copy_options::recursive);
  for (const Kept& kept : kRecords) {
    const Path file = folder.path() / file_of(kept);
    std::string text = read_file(file).value();
    text.replace(text.find(version(kept.version)), version(kept.version).size(), version(3));
    REQUIRE(write_file_atomically(file, text));
    const Error error = Records(folder.path()).read({kept.folder, kept.pod, "net1"}).error();
    CHECK(error.code() == Code::unsupported);
    CHECK(error.text() == "record " + file.string() +
                              ": version 3 is too new: this program reads up to version 2; run the "
                              "newer ibpod that wrote it (the file is unchanged)");
    CHECK(read_file(file).value() == text);
  }
}

}  // namespace
}  // namespace ibpod::node
