#include "lib/attach/device_info.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

node::Function function() {
  node::Function made;
  made.address = ib::PciAddress::parse("0000:3b:00.2").value();
  made.char_devices = {"issm7", "umad7", "uverbs9"};
  return made;
}

json::Value read(const Path& file) { return json::Value::parse(read_file(file).value()).value(); }
std::string devices(const Path& file) {
  return read(file).at("pci")->at("rdma-device")->string().value();
}

TEST_CASE("what the device plugin gave is given under its new numbers, and nothing more") {
  const TempFolder folder;
  const Path file = folder.write("info", R"({"type":"pci","version":"1.1.0","other":{"a":1},"pci":{
    "pci-address":"0000:3b:00.2","representor-device":"eth3",
    "rdma-device":"/dev/infiniband/uverbs2,/dev/infiniband/umad2,/dev/infiniband/rdma_cm"}})");
  REQUIRE(write_device_info(file, function(), Membership{3, ib::PKey(0x8001)}));
  CHECK(devices(file) == "/dev/infiniband/umad7,/dev/infiniband/uverbs9,/dev/infiniband/rdma_cm");
  const json::Value pci = *read(file).find("pci");
  CHECK(pci.at("representor-device")->string().value() == "eth3");
  CHECK(pci.at("pkey")->string().value() == "0x8001");
  CHECK(pci.at("pkey-index")->integer().value() == 3);
  CHECK(read(file).find("other"));
}

TEST_CASE("a new file gives verbs and the connection manager, never umad") {
  const TempFolder folder;
  REQUIRE(write_device_info(folder.path() / "info", function(), std::nullopt));
  CHECK(devices(folder.path() / "info") == "/dev/infiniband/uverbs9,/dev/infiniband/rdma_cm");
  CHECK(read(folder.path() / "info").at("type")->string().value() == "pci");
}

TEST_CASE("a function without verbs is given none") {
  const TempFolder folder;
  node::Function vfio = function();
  vfio.char_devices.clear();
  REQUIRE(write_device_info(folder.path() / "info", vfio, std::nullopt));
  CHECK_FALSE(read(folder.path() / "info").at("pci")->find("rdma-device"));
}

TEST_CASE("a file that is none is refused, not replaced") {
  const TempFolder folder;
  for (const char* content : {"", "[]", R"({"pci":7})"}) {
    const Path file = folder.write("info", content);
    CHECK(write_device_info(file, function(), std::nullopt).error().code() == Code::invalid);
    CHECK(read_file(file).value() == content);
  }
}

}  // namespace
}  // namespace ibpod::attach
