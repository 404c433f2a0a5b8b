#include "lib/attach/device_info.h"

#include "tests/support/attach_fixture.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const ib::PciAddress kDevice = ib::PciAddress::parse("0000:3b:00.2").value();

std::vector<node::RdmaDevice> named(const std::vector<std::string>& names) {
  std::vector<node::RdmaDevice> devices;
  for (const std::string& name : names) devices.push_back({.name = name});
  return devices;
}

Status write(const Path& file, const ib::PciAddress& device,
             const std::vector<node::RdmaDevice>& rdma,
             const std::optional<TableEntry>& membership) {
  Fixture fixture(false);
  return update_device_info(fixture.records, file, device, rdma, membership);
}

json::Value read(const Path& file) { return json::Value::parse(read_file(file).value()).value(); }
std::string devices(const Path& file) {
  return read(file).at("pci")->at("rdma-device")->string().value();
}

TEST_CASE("the device plugin's file says what the device is by now, and whatever else it said") {
  const TempFolder folder;
  const Path file = folder.write("info", R"({"type":"pci","version":"1.1.0","other":{"a":1},"pci":{
    "pci-address":"0000:3b:00.2","representor-device":"eth3","rdma-device":"mlx5_7"}})");
  REQUIRE(write(file, kDevice, named({"mlx5_3"}), TableEntry{3, ib::PKey(0x8001)}));
  CHECK(devices(file) == "mlx5_3");
  const json::Value pci = *read(file).find("pci");
  CHECK(pci.at("representor-device")->string().value() == "eth3");
  CHECK(pci.at("pkey")->string().value() == "0x8001");
  CHECK(pci.at("pkey-index")->integer().value() == 3);
  CHECK(read(file).find("other"));
}

TEST_CASE("a P_Key that was verified for the last pod is not told the next one") {
  const TempFolder folder;
  const Path file = folder.path() / "info";
  REQUIRE(write(file, kDevice, {}, TableEntry{3, ib::PKey(0x8001)}));
  REQUIRE(write(file, kDevice, {}, std::nullopt));
  CHECK_FALSE(read(file).at("pci")->find("pkey"));
  CHECK_FALSE(read(file).at("pci")->find("pkey-index"));
}

TEST_CASE("a file that is not there is made; of two RDMA devices both are named") {
  const TempFolder folder;
  REQUIRE(write(folder.path() / "info", kDevice, named({"mlx5_3", "mlx5_4"}), {}));
  CHECK(devices(folder.path() / "info") == "mlx5_3,mlx5_4");
  CHECK(read(folder.path() / "info").at("type")->string().value() == "pci");
  CHECK(read(folder.path() / "info").at("pci")->at("pci-address")->string().value() ==
        "0000:3b:00.2");
}

TEST_CASE("a folder that is missing after the boot is made; one that is there stays as it is") {
  const TempFolder folder;
  const Path file = folder.path() / "k8s.cni.cncf.io/devinfo/cni/info";
  REQUIRE(write(file, kDevice, {}, std::nullopt));
  CHECK(read(file).at("pci")->at("pci-address")->string().value() == "0000:3b:00.2");
  // As Multus makes the folder; root is not affected.
  std::filesystem::permissions(file.parent_path(), std::filesystem::perms::none);
  REQUIRE(write(file, kDevice, named({"mlx5_3"}), std::nullopt));
  CHECK(devices(file) == "mlx5_3");
  CHECK(std::filesystem::status(file.parent_path()).permissions() == std::filesystem::perms::none);
}

TEST_CASE("a folder that cannot be made is an error that names it") {
  const TempFolder folder;
  const Path file = folder.write("devinfo", "a file") / "cni/info";
  const auto refused = write(file, kDevice, {}, std::nullopt);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find((folder.path() / "devinfo").string()) != std::string::npos);
}

TEST_CASE("a function without verbs has no RDMA device") {
  const TempFolder folder;
  REQUIRE(write(folder.path() / "info", kDevice, {}, std::nullopt));
  CHECK_FALSE(read(folder.path() / "info").at("pci")->find("rdma-device"));
}

TEST_CASE("the file of a device that another attachment has is refused, not replaced") {
  Fixture fixture(false);
  REQUIRE(fixture.add());
  const TempFolder folder;
  const std::string text = R"({"pci":{"pci-address":")" + fixture.vf_config.device.text() + "\"}}";
  const Path file = folder.write("info", text);
  const auto refused = update_device_info(fixture.records, file, kDevice, {}, std::nullopt);
  CHECK(refused.error().code() == Code::denied);
  CHECK(read_file(file).value() == text);
  REQUIRE(fixture.del());
  CHECK(update_device_info(fixture.records, file, kDevice, {}, std::nullopt));
}

TEST_CASE("a file that is none is refused, not replaced") {
  const TempFolder folder;
  for (const char* content : {"", "[]", R"({"pci":7})"}) {
    const Path file = folder.write("info", content);
    CHECK(write(file, kDevice, {}, std::nullopt).error().code() == Code::invalid);
    CHECK(read_file(file).value() == content);
  }
}

}  // namespace
}  // namespace ibpod::attach
