#include "lib/node/device_info.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::node {
namespace {

const ib::PciAddress kDevice = ib::PciAddress::parse("0000:3b:00.2").value();

TEST_CASE("a device-info file is made, and what others wrote into it stays") {
  const TempFolder folder;
  const Path file = folder.path() / "dp/example.com-vf-0000:3b:00.2-device.json";
  DeviceInfo info = read_device_info(file).value();
  info.set_device(kDevice, "mlx5_3");
  REQUIRE(write_device_info(file, info));
  CHECK(json::Value::parse(read_file(file).value()).value().text() ==
        json::Value::parse(R"({"type": "pci", "version": "1.1.0",
                               "pci": {"pci-address": "0000:3b:00.2", "rdma-device": "mlx5_3"}})")
            .value()
            .text());

  REQUIRE(write_file_atomically(file, R"({"pci": {"rdma-device": "mlx5_3", "x": 1}, "y": 2})"));
  info = read_device_info(file).value();
  info.set_device(kDevice, "");
  REQUIRE(write_device_info(file, info));
  CHECK(json::Value::parse(read_file(file).value()).value().text() ==
        json::Value::parse(R"({"pci": {"rdma-device": "mlx5_3", "x": 1,
                                       "pci-address": "0000:3b:00.2"}, "y": 2})")
            .value()
            .text());
}

TEST_CASE("a device-info file of another form is refused") {
  const TempFolder folder;
  const Path file = folder.path() / "device.json";
  for (const char* text : {"", "[]", R"({"pci": 7})"}) {
    CAPTURE(text);
    REQUIRE(write_file_atomically(file, text));
    const auto refused = read_device_info(file);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK(refused.error().text().starts_with(file.string() + ": "));
  }
}

}  // namespace
}  // namespace ibpod::node
