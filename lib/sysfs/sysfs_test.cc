#include "lib/sysfs/sysfs.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::sysfs {
namespace {

struct Tree {
  TempFolder folder;
  Sysfs sysfs = Sysfs::open(folder.path()).value();
  void file(const Path& path, const std::string& content) const {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    folder.write(path.string(), content);
  }
};

TEST_CASE("a file is read without the newline at its end, and only that one") {
  const Tree tree;
  tree.file("class/net/ib0/mtu", "2044\n");
  tree.file("two", "a\n\n");
  tree.file("none", "a");
  tree.file("empty", "");
  CHECK(*tree.sysfs.read("class/net/ib0/mtu") == "2044");
  CHECK(*tree.sysfs.read("two") == "a\n");
  CHECK(*tree.sysfs.read("none") == "a");
  CHECK(*tree.sysfs.read("empty") == "");
}

TEST_CASE("a file larger than a page is read whole") {
  const Tree tree;
  tree.file("large", std::string(100'000, 'x'));
  CHECK(tree.sysfs.read("large")->size() == 100'000);
}

TEST_CASE("a file that is not there is not found, in words that name it") {
  const Tree tree;
  const auto content = tree.sysfs.read("class/net/ib0/mtu");
  REQUIRE(!content);
  CHECK(content.error().code() == Code::not_found);
  CHECK(content.error().text() == "open class/net/ib0/mtu: No such file or directory");
}

TEST_CASE("a file is written as it is told") {
  const Tree tree;
  tree.file("bind", "");
  CHECK(tree.sysfs.write("bind", "0000:01:00.1").ok());
  CHECK(*tree.sysfs.read("bind") == "0000:01:00.1");
}

TEST_CASE("a file is never made by writing") {
  const Tree tree;
  const Status written = tree.sysfs.write("bind", "0000:01:00.1");
  CHECK(written.error().code() == Code::not_found);
  CHECK(!tree.sysfs.exists("bind"));
}

TEST_CASE("a folder is listed in order; one that is not there is empty") {
  const Tree tree;
  tree.file("net/ib1", "");
  tree.file("net/ib0", "");
  CHECK(*tree.sysfs.list("net") == std::vector<std::string>{"ib0", "ib1"});
  CHECK(tree.sysfs.list("infiniband")->empty());
}

TEST_CASE("a file is no folder") {
  const Tree tree;
  tree.file("net", "");
  CHECK(!tree.sysfs.list("net").ok());
}

TEST_CASE("a link is told by the last name of its target, whether that exists or not") {
  const Tree tree;
  std::filesystem::create_directory_symlink("../../bus/pci/drivers/mlx5_core",
                                            tree.folder.path() / "driver");
  CHECK(*tree.sysfs.link_name("driver") == std::optional<std::string>("mlx5_core"));
  CHECK(tree.sysfs.exists("driver"));
  CHECK(!*tree.sysfs.link_name("physfn"));
  CHECK(!tree.sysfs.exists("physfn"));
}

TEST_CASE("no path leads out of the root") {
  const Tree tree;
  tree.file("inside/file", "x");
  for (const char* path :
       {"../etc/passwd", "inside/../../x", "/etc/passwd", "inside/..", "", ".."}) {
    CAPTURE(path);
    CHECK(tree.sysfs.read(path).error().code() == Code::invalid);
    CHECK(tree.sysfs.write(path, "x").error().code() == Code::invalid);
    CHECK(tree.sysfs.list(path).error().code() == Code::invalid);
    CHECK(tree.sysfs.link_name(path).error().code() == Code::invalid);
    CHECK(!tree.sysfs.exists(path));
  }
  CHECK(tree.sysfs.exists("inside/..file") == false);
}

TEST_CASE("a folder in it is the same one under another name, and nothing above it is seen") {
  const Tree tree;
  tree.file("class/infiniband/mlx5_0/node_guid", "1\n");
  const Sysfs below = tree.sysfs.below("class/infiniband/mlx5_0").value();
  std::filesystem::rename(tree.folder.path() / "class/infiniband/mlx5_0",
                          tree.folder.path() / "class/infiniband/ibp1s0");
  CHECK(*below.read("node_guid") == "1");
  CHECK(below.read("../ibp1s0/node_guid").error().code() == Code::invalid);
  CHECK(tree.sysfs.below("class/infiniband/mlx5_0").error().code() == Code::not_found);
  CHECK_FALSE(tree.sysfs.below("class/infiniband/ibp1s0/node_guid"));
}

TEST_CASE("a root that is not there is not found") {
  const TempFolder folder;
  CHECK(Sysfs::open(folder.path() / "sys").error().code() == Code::not_found);
}

}  // namespace
}  // namespace ibpod::sysfs
