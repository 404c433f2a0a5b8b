#include "agent/kubelet/device_files.h"

#include "agent/kubelet/test_files.h"
#include "device-plugin/test_devices.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod::agent::kubelet {
namespace {

using device_plugin::address;
using device_plugin::Device;
using device_plugin::PoolDevice;
using device_plugin::test_vf;
using Names = std::vector<std::string>;

const std::string kOne = "0000:3b:00.1", kTwo = "0000:3b:00.2", kThree = "0000:3b:00.3";

// An answer of the kubelet in which no pod has a device of ours.
const std::vector<gc::PodDevices> kOthers{{"default", "other", {"0000:ff:00.0"}}};

PoolDevice with_nodes(const Device& device, const std::vector<std::string>& nodes) {
  PoolDevice pool_device{device.address.text(), device, 0, ""};
  pool_device.device.char_devices = nodes;
  return pool_device;
}

TEST_CASE(
    "offered devices have CDI files as they are; those that are offered no longer have none") {
  TestFiles node;
  Device moved = test_vf(0, 0);
  REQUIRE(node.files.refresh(test_snapshot(test_pool(), {moved, test_vf(0, 1)})));
  CHECK(node.specs() == Names{"ibpod-" + kOne + ".json", "ibpod-" + kTwo + ".json"});
  CHECK(node.gives(kOne, "uverbs0"));
  moved.char_devices = {"uverbs9"};
  REQUIRE(node.files.refresh(test_snapshot(test_pool(), {moved})));
  CHECK(node.specs() == Names{"ibpod-" + kOne + ".json"});
  CHECK(node.gives(kOne, "uverbs9"));
}

TEST_CASE(
    "a look that began before the device moved into its pod leaves the file as PreStart wrote it") {
  TestFiles node;
  const snapshot::Snapshot before = test_snapshot(test_pool(), {test_vf(0, 0), test_vf(0, 1)});
  REQUIRE(node.files.refresh(before));
  REQUIRE(node.files.pre_start(kResource, test_pool(), with_nodes(test_vf(0, 0), {"uverbs7"})));
  REQUIRE(node.files.refresh(before));
  CHECK(node.gives(kOne, "uverbs7"));
  CHECK_FALSE(node.gives(kOne, "uverbs0"));
  // In the middle of the move it had none.
  Device between = test_vf(0, 0);
  between.char_devices.clear();
  REQUIRE(node.files.refresh(test_snapshot(test_pool(), {between, test_vf(0, 1)})));
  CHECK(node.gives(kOne, "uverbs7"));
}

TEST_CASE(
    "beside what was known before, the folder is tidied where a device has gone, or when asked") {
  TestFiles node;
  const snapshot::Snapshot two = test_snapshot(test_pool(), {test_vf(0, 0), test_vf(0, 1)});
  const snapshot::Snapshot one = test_snapshot(test_pool(), {test_vf(0, 0)});
  const Names both{"ibpod-" + kOne + ".json", "ibpod-" + kTwo + ".json"};
  REQUIRE(node.files.refresh(two));
  REQUIRE(node.files.refresh(one, &two));
  CHECK(node.specs() == Names{both[0]});
  REQUIRE(node.files.refresh(two, &one));
  CHECK(node.specs() == both);

  // Nothing has gone since: what is left over of the second waits for a thorough look.
  REQUIRE(node.files.refresh(one, &one));
  CHECK(node.specs() == both);
  REQUIRE(node.files.tidy_cdi(one));
  CHECK(node.specs() == Names{both[0]});
  snapshot::Snapshot attached = test_snapshot(test_pool(), {});
  attached.devices.push_back(test_vf(0, 0));
  attached.devices.back().attachment = "pod default/a (net1)";
  REQUIRE(node.files.tidy_cdi(attached));
  CHECK(node.specs() == Names{both[0]});
}

TEST_CASE("a device that is granted under another resource leaves no file of the earlier one") {
  TestFiles node;
  const auto granted = [](DeviceFiles& files, const char* resource) {
    const snapshot::Snapshot snapshot = test_snapshot(test_pool(true, resource), {test_vf(0, 0)});
    return files.grant({snapshot::find_pool_device(snapshot, kOne)}).ok();
  };
  REQUIRE(granted(node.files, "a"));
  REQUIRE(granted(node.files, "b"));
  CHECK(node.infos().size() == 1);
  DeviceFiles restarted(node.config(""));
  REQUIRE(granted(restarted, "c"));
  CHECK(node.infos() == Names{"example.com-c-" + kOne + "-device.json"});
}

TEST_CASE("the CDI file of an attached device is PreStart's alone, gone from every pool or not") {
  TestFiles node;
  REQUIRE(node.files.refresh(test_snapshot(test_pool(), {test_vf(0, 0)})));
  Device attached = test_vf(0, 0);
  attached.attachment = "pod default/a (net1)";
  attached.char_devices = {"uverbs8"};
  REQUIRE(node.files.refresh(test_snapshot(test_pool(), {attached})));
  CHECK(node.gives(kOne, "uverbs0"));
  snapshot::Snapshot without = test_snapshot(test_pool(), {attached});
  without.pool_contents.clear();
  REQUIRE(node.files.refresh(without));
  CHECK(node.gives(kOne, "uverbs0"));
}

TEST_CASE("what was just granted has its device-info file before the kubelet says whose it is") {
  TestFiles node;
  const snapshot::Snapshot snapshot =
      test_snapshot(test_pool(), {test_vf(0, 0), test_vf(0, 1), test_vf(0, 2)});
  REQUIRE(node.files.grant({snapshot::find_pool_device(snapshot, kOne)}));
  const auto write = [&](const std::string& id) {
    const snapshot::PoolDeviceRef device_ref = snapshot::find_pool_device(snapshot, id);
    return device_plugin::write_allocated(node.files.device_info_folder(),
                                          device_ref.contents->pool, *device_ref.pool_device, {});
  };
  for (const std::string& id : {kTwo, kThree}) REQUIRE(write(id));
  std::vector<gc::PodDevices> pods = kOthers;
  pods[0].devices.push_back(kThree);
  REQUIRE(node.files.tidy(snapshot, {}));
  CHECK(node.infos().size() == 3);
  REQUIRE(node.files.tidy(snapshot, pods));
  CHECK(node.infos() == Names{node.info(kOne).filename(), node.info(kThree).filename()});
}

TEST_CASE("no tidying at the same time takes the file of what is being granted") {
  const snapshot::Snapshot snapshot = test_snapshot(test_pool(), {test_vf(0, 0)});
  for (int round = 0; round < 50; ++round) {
    TestFiles node;
    std::atomic<bool> granted = false;
    std::thread tidying([&] {
      while (!granted) CHECK(node.files.tidy(snapshot, kOthers));
    });
    const Status given = node.files.grant({snapshot::find_pool_device(snapshot, kOne)});
    granted = true;
    tidying.join();
    REQUIRE(given);
    REQUIRE(node.infos().size() == 1);
  }
}

TEST_CASE("without CDI a container starts with the nodes that it was granted, and with no others") {
  TestFiles node;
  const snapshot::Snapshot snapshot = test_snapshot(test_pool(false), {test_vf(0, 0)});
  REQUIRE(node.files.grant({snapshot::find_pool_device(snapshot, kOne)}));
  const auto start = [&](const Names& nodes) {
    return node.files.pre_start(kResource, test_pool(false), with_nodes(test_vf(0, 0), nodes));
  };
  CHECK(start({"uverbs0"}));
  CHECK(start({"uverbs7"}).error().code() == Code::unavailable);
  CHECK(start({}).error().code() == Code::unavailable);
  CHECK(node.specs().empty());
}

TEST_CASE("without CDI, and without a word of what was granted, no container starts") {
  TestFiles node;
  const PoolDevice pool_device = with_nodes(test_vf(0, 0), {"uverbs0"});
  for (const char* foreign : {"", R"({"type":"pci"})"}) {
    if (*foreign != '\0') {
      REQUIRE(make_folders(node.files.device_info_folder()));
      REQUIRE(write_file_atomically(node.info(kOne), foreign));
    }
    const Status refused = node.files.pre_start(kResource, test_pool(false), pool_device);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::unavailable);
    CHECK(refused.error().text().find(node.info(kOne).string()) != std::string::npos);
  }
}

TEST_CASE("what comes without nodes needs no such word: a ticket, a device without RDMA") {
  TestFiles node;
  device_plugin::Pool plain = test_pool();
  plain.selectors.resize(1);
  plain.selectors[0].rdma = false;
  CHECK(node.files.pre_start(kResource, plain, with_nodes(test_vf(0, 0), {"uverbs0"})));
  device_plugin::Pool slots = test_pool();
  slots.kind = device_plugin::PoolKind::ipoib_slot;
  CHECK(node.files.pre_start(kResource, slots,
                             {"0000:3b:00.0-1", device_plugin::test_pf(0, 2), 0, ""}));
  CHECK(node.specs().empty());
}

TEST_CASE("agents that share a folder for CDI files leave each other's alone") {
  TestFiles one;
  config::Config config = one.config("/run/other/agent.sock");
  DeviceFiles other(config);
  REQUIRE(one.files.refresh(test_snapshot(test_pool(), {test_vf(0, 0)})));
  REQUIRE(other.refresh(test_snapshot(test_pool(), {test_vf(0, 1)})));
  REQUIRE(one.files.refresh(test_snapshot(test_pool(), {test_vf(0, 0)})));
  CHECK(one.specs().size() == 2);
  config.agent_socket = "/run/third/agent.sock";
  REQUIRE(DeviceFiles(config).refresh(test_snapshot(test_pool(), {test_vf(0, 2)})));
  CHECK(one.specs().size() == 3);
  REQUIRE(other.refresh(test_snapshot(test_pool(), {})));
  CHECK(one.specs().size() == 2);
  CHECK(one.gives(kOne, "uverbs0"));
}

}  // namespace
}  // namespace ibpod::agent::kubelet
