#include "device-plugin/device_info.h"

#include "device-plugin/test_devices.h"
#include "lib/json/value.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

Pool pool(const std::string& prefix = "example.com", const std::string& name = "ib_vfs") {
  Pool made;
  made.prefix = prefix;
  made.name = name;
  return made;
}

PoolDevice pool_device(uint32_t vf) {
  const Device device = test_vf(0, vf);
  return {device.address.text(), device, 0, ""};
}

std::vector<std::string> names(const Path& folder) { return list_folder(folder).value(); }
using Names = std::vector<std::string>;

TEST_CASE("the file is where Multus looks and says what the specification has") {
  const TempFolder temp;
  const Path folder = temp.path() / "devinfo" / "dp";
  REQUIRE(write_allocated(folder, pool(), pool_device(1), {}));
  CHECK(names(folder) == Names{"example.com-ib_vfs-0000:3b:00.2-device.json"});
  const auto document = json::Value::parse(
      read_file(device_info_file(folder, "example.com/ib_vfs", "0000:3b:00.2")).value());
  CHECK(document->at("type")->string().value() == "pci");
  CHECK(document->at("version")->string().value() == "1.1.0");
  CHECK(document->at("pci")->text() ==
        R"({"pci-address":"0000:3b:00.2","rdma-device":"mlx5_3","pf-pci-address":"0000:3b:00.0"})");
}

TEST_CASE("what was granted can be read again after a restart") {
  const TempFolder temp;
  REQUIRE(write_allocated(temp.path(), pool(), pool_device(1), {}));
  CHECK(granted_nodes(temp.path(), "example.com/ib_vfs", "0000:3b:00.2").value() ==
        Names{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs1"});
  CHECK(read_allocated(temp.path()).value() ==
        Allocated{{address("0000:3b:00.2"), "example.com/ib_vfs"}});
  CHECK(granted_nodes(temp.path(), "example.com/ib_vfs", "0000:3b:00.3").value() == std::nullopt);
  CHECK(read_allocated(temp.path() / "none").value().empty());
}

TEST_CASE("a device that is given out under another resource is that one's, whatever its name") {
  const TempFolder temp;
  const std::string other = "example.com-z-0000:3b:00.2-device.json";
  const std::string foreign = R"({"type":"pci","pci":{"pci-address":"0000:3b:00.2"}})";
  temp.write(other, foreign);
  REQUIRE(write_allocated(temp.path(), pool(), pool_device(0), {}));
  for (const char* resource : {"a", "c", "b", "b"}) {
    CAPTURE(resource);
    const auto resources = allocated_resources(temp.path()).value();
    REQUIRE(write_allocated(temp.path(), pool("example.com", resource), pool_device(1), resources));
    CHECK(read_allocated(temp.path()).value() ==
          Allocated{{address("0000:3b:00.1"), "example.com/ib_vfs"},
                    {address("0000:3b:00.2"), "example.com/" + std::string(resource)}});
  }
  CHECK(names(temp.path()) == Names{"example.com-b-0000:3b:00.2-device.json",
                                    "example.com-ib_vfs-0000:3b:00.1-device.json", other});
  CHECK(read_file(temp.path() / other).value() == foreign);
}

TEST_CASE("the file of another program, or a damaged one, allocates no device and grants no node") {
  const TempFolder temp;
  const auto write = [&](const char* content) {
    temp.write("example.com-a-0000:3b:00.1-device.json", content);
  };
  const auto granted = [&] { return granted_nodes(temp.path(), "example.com/a", "0000:3b:00.1"); };
  write(R"({"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:3b:00.1"}})");
  CHECK(granted().value() == std::nullopt);
  for (const char* damaged : {"", "{", R"({"ibpod":7})", R"({"ibpod":{"nodes":7}})",
                              R"({"ibpod":{"nodes":[7],"resource":7,"device":"../x"}})"}) {
    CAPTURE(damaged);
    write(damaged);
    CHECK_FALSE(granted());
    CHECK(read_allocated(temp.path()).value().empty());
  }
}

TEST_CASE("tidying leaves files of devices in use, files of other resources, and unrelated files") {
  const TempFolder temp;
  for (const uint32_t vf : {0U, 1U})
    REQUIRE(write_allocated(temp.path(), pool(), pool_device(vf), {}));
  REQUIRE(write_allocated(temp.path(), pool("example.com", "ib_vfs-2"), pool_device(2), {}));
  temp.write("example.com-ib_vfs-x-device.json", "{}");
  temp.write("example.com-ib_vfs-device.json", "{}");
  REQUIRE(tidy_device_info(temp.path(), "example.com/ib_vfs", {address("0000:3b:00.2")}));
  CHECK(names(temp.path()) == Names{"example.com-ib_vfs-0000:3b:00.2-device.json",
                                    "example.com-ib_vfs-2-0000:3b:00.3-device.json",
                                    "example.com-ib_vfs-device.json",
                                    "example.com-ib_vfs-x-device.json"});
}

TEST_CASE("a ticket has no file, and a folder that cannot be made is an error") {
  const TempFolder temp;
  Pool slots = pool();
  slots.kind = PoolKind::ipoib_slot;
  REQUIRE(write_allocated(temp.path(), slots, {"0000:3b:00.0-1", test_pf(0, 2), 0, ""}, {}));
  CHECK(names(temp.path()).empty());
  const Path file = temp.write("file", "");
  CHECK_FALSE(write_allocated(file / "dp", pool(), pool_device(0), {}));
}

}  // namespace
}  // namespace ibpod::device_plugin
