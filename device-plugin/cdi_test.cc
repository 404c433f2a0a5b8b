#include "device-plugin/cdi.h"

#include "device-plugin/test_devices.h"
#include "lib/json/value.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

Pool pool() {
  Pool made;
  made.prefix = "example.com";
  made.name = "ib_vfs";
  return made;
}

std::vector<PoolContents> pool_contents(uint32_t vfs = 2) {
  return assign({pool()}, test_node(1, vfs));
}

Status refresh_all(const CdiFolder& folder, const std::vector<PoolContents>& all) {
  for (const PoolDevice& pool_device : all[0].devices)
    TRY(refresh_cdi(folder, all[0].pool, pool_device));
  return ok();
}

std::vector<std::string> names(const Path& folder) { return list_folder(folder).value(); }
using Names = std::vector<std::string>;

TEST_CASE("one file for each device, with its nodes and no more") {
  const TempFolder temp;
  REQUIRE(refresh_all({temp.path()}, pool_contents()));
  CHECK(names(temp.path()) == Names{"ibpod-0000:3b:00.1.json", "ibpod-0000:3b:00.2.json"});
  const auto spec =
      json::Value::parse(read_file(temp.path() / "ibpod-0000:3b:00.2.json").value()).value();
  CHECK(spec.text() ==
        R"({"cdiVersion":"0.5.0","kind":"example.com/ib","devices":[{"name":"0000:3b:00.2",)"
        R"("containerEdits":{"deviceNodes":[{"path":"/dev/infiniband/rdma_cm","permissions":"rw"},)"
        R"({"path":"/dev/infiniband/uverbs1","permissions":"rw"}]}}]})");
}

TEST_CASE("a device whose nodes were renumbered has them in its file after a refresh") {
  const TempFolder temp;
  std::vector<PoolContents> all = pool_contents(1);
  REQUIRE(refresh_all({temp.path()}, all));
  all[0].devices[0].device.char_devices = {"uverbs77"};
  REQUIRE(refresh_all({temp.path()}, all));
  const std::string text = read_file(temp.path() / "ibpod-0000:3b:00.1.json").value();
  CHECK(text.find("/dev/infiniband/uverbs77") != std::string::npos);
  CHECK(text.find("/dev/infiniband/uverbs0") == std::string::npos);
}

TEST_CASE("a device that moves to another pool still has one file; without nodes it has none") {
  const TempFolder temp;
  std::vector<PoolContents> all = pool_contents(1);
  REQUIRE(refresh_all({temp.path()}, all));
  all[0].pool.prefix = "example.org";
  REQUIRE(refresh_all({temp.path()}, all));
  CHECK(names(temp.path()).size() == 1);
  CHECK(read_file(temp.path() / "ibpod-0000:3b:00.1.json")->find("example.org/ib") !=
        std::string::npos);
  all[0].devices[0].device.char_devices.clear();
  CHECK(cdi_name(all[0].pool, all[0].devices[0]).empty());
  REQUIRE(refresh_all({temp.path()}, all));
  CHECK(names(temp.path()).empty());
}

TEST_CASE("stale files of ours go, everybody else's stay") {
  const TempFolder temp;
  REQUIRE(refresh_all({temp.path()}, pool_contents(3)));
  for (const char* foreign :
       {"nvidia.yaml", "ibpod-2-0000:3b:00.1.json", "ibpod-x.json", "ibpod-.json",
        "ibpod-0000:3b:00.1.yaml", ".ibpod-0000:3b:00.9.json.7"})
    temp.write(foreign, "{}");
  REQUIRE(tidy_cdi({temp.path()}, pool_contents(1)));
  CHECK(names(temp.path()) == Names{".ibpod-0000:3b:00.9.json.7", "ibpod-.json",
                                    "ibpod-0000:3b:00.1.json", "ibpod-0000:3b:00.1.yaml",
                                    "ibpod-2-0000:3b:00.1.json", "ibpod-x.json", "nvidia.yaml"});
}

TEST_CASE(
    "another's file that names a device of ours is told, wherever it is and however written") {
  const TempFolder temp;
  const TempFolder other;
  REQUIRE(refresh_all({temp.path()}, pool_contents(1)));
  const CdiFolder folder{temp.path(), "ibpod", {other.path()}};
  for (const char* harmless : {"kind: example.com/ibx\ndevices:\n- name: \"0000:3b:00.1\"\n",
                               "kind: example.com/ib\ndevices:\n- name: \"0000:3b:00.10\"\n",
                               "kind: my.example.com/ib\n"}) {
    other.write("x.yaml", harmless);
    CHECK(tidy_cdi(folder, pool_contents(1)));
  }
  for (const char* clash : {R"({"kind":"example.com/ib","devices":[{"name":"0000:3b:00.1"}]})",
                            "kind: example.com/ib\ndevices:\n- name: 0000:3b:00.1\n"}) {
    const Path file = other.write("x.yaml", clash);
    const Status found = tidy_cdi(folder, pool_contents(1));
    REQUIRE_FALSE(found);
    CHECK(found.error().code() == Code::exists);
    CHECK(found.error().text().find(file.string() +
                                    " also defines our device example.com/ib=0000:3b:00.1") == 0);
  }
  CHECK(tidy_cdi(folder, {}));
}

TEST_CASE("the file of a device in use stays, offered or not") {
  const TempFolder temp;
  REQUIRE(refresh_all({temp.path()}, pool_contents(3)));
  REQUIRE(tidy_cdi({temp.path()}, pool_contents(1), {address("0000:3b:00.3")}));
  CHECK(names(temp.path()) == Names{"ibpod-0000:3b:00.1.json", "ibpod-0000:3b:00.3.json"});
}

TEST_CASE("other folders are looked through where the runtime has them, and that one only") {
  const TempFolder temp;
  const TempFolder other;
  other.write("x.yaml", "kind: example.com/ib\ndevices:\n- name: 0000:3b:00.1\n");
  CdiFolder folder{temp.path(), "ibpod", {other.path()}, "/nowhere"};
  CHECK(tidy_cdi(folder, pool_contents(1)).error().text() ==
        "search for other CDI files: open /nowhere: No such file or directory");
  folder.other_folders.clear();
  CHECK(tidy_cdi(folder, pool_contents(1)));
}

TEST_CASE("a folder that is none is an error, and the others are looked through all the same") {
  const TempFolder temp;
  temp.write("ibpod-0000:3b:00.7.json", "{}");
  const CdiFolder folder{temp.path(), "ibpod", {temp.write("file", "")}};
  CHECK_FALSE(tidy_cdi(folder, pool_contents(1)));
  CHECK(names(temp.path()) == Names{"file"});
  CHECK_FALSE(refresh_all({temp.path() / "file"}, pool_contents(1)));
}

TEST_CASE("granted and present nodes are compared as sets") {
  const std::vector<DeviceNode> present{{"/dev/infiniband/uverbs7", "/dev/infiniband/uverbs7"},
                                        {"/dev/infiniband/rdma_cm", "/dev/infiniband/rdma_cm"}};
  CHECK(compare_nodes("d", {"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs7"}, present));
  const Status differ = compare_nodes(
      "0000:3b:00.1", {"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs2"}, present);
  CHECK(differ.error().code() == Code::unavailable);
  CHECK(differ.error().text().find("was granted with /dev/infiniband/rdma_cm, "
                                   "/dev/infiniband/uverbs2 but has /dev/infiniband/rdma_cm, "
                                   "/dev/infiniband/uverbs7 now") != std::string::npos);
  CHECK(compare_nodes("d", {"/dev/x"}, {}).error().text().find("has nothing now") !=
        std::string::npos);
}

}  // namespace
}  // namespace ibpod::device_plugin
