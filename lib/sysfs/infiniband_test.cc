#include "lib/sysfs/infiniband.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::sysfs {
namespace {

// mlx5_0 with one port, texts as the kernel writes them.
class Device {
 public:
  Device() {
    std::filesystem::create_directories(folder_.path() / port_ / "gids");
    std::filesystem::create_directories(folder_.path() / port_ / "pkeys");
    folder_.write("class/infiniband/mlx5_0/node_guid", "0011:2233:4455:7700\n");
    set("state", "4: ACTIVE");
    set("lid", "0x1f");
    set("gids/0", "fe80:0000:0000:0000:0011:2233:4455:6600");
    for (int i = 0; i < 12; ++i) set("pkeys/" + std::to_string(i), "0x0000");
    set("pkeys/0", "0x7fff");
    set("pkeys/10", "0x8001");
  }
  void set(const std::string& file, const std::string& content) const {
    folder_.write((port_ / file).string(), content + "\n");
  }
  void remove(const std::string& file) const {
    std::filesystem::remove(folder_.path() / port_ / file);
  }
  Result<ib::Port> read() const { return port(sysfs_, "mlx5_0", 1); }
  const Sysfs& sysfs() const { return sysfs_; }

 private:
  const Path port_ = "class/infiniband/mlx5_0/ports/1";
  TempFolder folder_;
  Sysfs sysfs_ = Sysfs::open(folder_.path()).value();
};

TEST_CASE("a port is read with its P_Keys in the order of their places") {
  const Device device;
  const ib::Port port = device.read().value();
  CHECK(port.state == ib::PortState::active);
  CHECK(port.lid == 0x1f);
  CHECK(port.guid == ib::Guid(0x0011223344556600));
  CHECK(port.pkeys.size() == 12);
  CHECK(ib::text(port.pkeys) == "0:0x7fff 10:0x8001");
  CHECK(*node_guid(device.sysfs(), "mlx5_0") == ib::Guid(0x0011223344557700));
}

TEST_CASE("a table is read up to the full key of a partition, and whole without one") {
  const Device device;
  const auto size = [&](uint16_t key) {
    return port(device.sysfs(), "mlx5_0", 1, ib::PKey(key))->pkeys.size();
  };
  CHECK(size(0x8001) == 11);
  CHECK(size(0x0001) == 11);
  CHECK(size(0x7fff) == 12);  // a limited member's: a full one could follow
  CHECK(size(0x8002) == 12);
  device.set("pkeys/11", "whatever");
  CHECK(size(0x8001) == 11);
}

TEST_CASE("every state is known by its number") {
  const Device device;
  device.set("state", "1: DOWN");
  CHECK(device.read()->state == ib::PortState::down);
  device.set("state", "5: ACTIVE_DEFER");
  CHECK(device.read()->state == ib::PortState::active_defer);
}

TEST_CASE("a file that holds something else is named with what it holds") {
  struct {
    const char* file;
    const char* content;
  } const cases[] = {
      {"state", "ACTIVE"}, {"state", ""},           {"state", "9: NEW"},   {"lid", "1"},
      {"lid", "0x12345"},  {"lid", "0x"},           {"gids/0", "fe80::1"}, {"pkeys/3", "whatever"},
      {"pkeys/3", ""},     {"pkeys/nothing", "0x0"}};
  for (const auto& wrong : cases) {
    CAPTURE(wrong.file);
    CAPTURE(wrong.content);
    const Device device;
    device.set(wrong.file, wrong.content);
    CHECK(!device.read().ok());
  }
  const Device device;
  device.set("state", "ACTIVE");
  CHECK(device.read().error().text() ==
        "class/infiniband/mlx5_0/ports/1: state contains \"ACTIVE\"");
}

TEST_CASE("a table with a gap is no table") {
  const Device device;
  device.remove("pkeys/5");
  CHECK(!device.read().ok());
}

// As the host sees a device of a pod's namespace.
TEST_CASE("a table that is not to be seen is no empty one") {
  const Device device;
  for (int i = 0; i < 12; ++i) device.remove("pkeys/" + std::to_string(i));
  CHECK(pkeys(device.sysfs(), "mlx5_0", 1).error().code() == Code::not_found);
  device.remove("pkeys");
  CHECK(pkeys(device.sysfs(), "mlx5_0", 1).error().code() == Code::not_found);
  CHECK(pkeys(device.sysfs(), "mlx5_1", 1).error().code() == Code::not_found);
}

TEST_CASE("a device or port that is not there is not found") {
  const Device device;
  CHECK(port(device.sysfs(), "mlx5_1", 1).error().code() == Code::not_found);
  CHECK(port(device.sysfs(), "mlx5_0", 2).error().code() == Code::not_found);
  CHECK(node_guid(device.sysfs(), "mlx5_1").error().code() == Code::not_found);
  CHECK(node_guid(device.sysfs(), "..").error().code() == Code::invalid);
  CHECK(node_guid(device.sysfs(), "a/b").error().code() == Code::invalid);
}

}  // namespace
}  // namespace ibpod::sysfs
