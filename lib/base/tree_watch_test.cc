#include "lib/base/tree_watch.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <poll.h>

namespace ibpod {
namespace {

// inotify tells at once: what is not there now never comes.
bool told(const TreeWatch& watch) {
  pollfd waiting{watch.fd(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

struct Tree {
  TempFolder folder;
  Tree() { std::filesystem::create_directory(folder.path() / "old"); }
};

TEST_CASE("files and folders that come and go are told, in the folders inside too") {
  const Tree tree;
  TreeWatch watch = TreeWatch::open(tree.folder.path()).value();
  CHECK_FALSE(told(watch));
  tree.folder.write("old/file", "x");
  CHECK(told(watch));
  CHECK(watch.drain().ok());
  CHECK_FALSE(told(watch));
  std::filesystem::remove(tree.folder.path() / "old/file");
  CHECK(told(watch));
  CHECK(watch.drain().ok());
  std::filesystem::remove(tree.folder.path() / "old");
  CHECK(told(watch));
}

TEST_CASE("a folder that is new is watched once its coming has been drained") {
  const Tree tree;
  TreeWatch watch = TreeWatch::open(tree.folder.path()).value();
  std::filesystem::create_directory(tree.folder.path() / "new");
  CHECK(told(watch));
  CHECK(watch.drain().ok());
  tree.folder.write("new/file", "x");
  CHECK(told(watch));
}

TEST_CASE("more than one read's worth of changes is one telling") {
  const Tree tree;
  TreeWatch watch = TreeWatch::open(tree.folder.path()).value();
  for (int i = 0; i < 1000; ++i) tree.folder.write("old/" + std::to_string(i), "");
  CHECK(watch.drain().ok());
  CHECK_FALSE(told(watch));
}

TEST_CASE("a root that goes and comes back is watched again") {
  const Tree tree;
  const Path root = tree.folder.path() / "root";
  std::filesystem::create_directory(root);
  TreeWatch watch = TreeWatch::open(root).value();
  std::filesystem::remove(root);
  CHECK(told(watch));
  CHECK(watch.drain().ok());
  std::filesystem::create_directory(root);
  CHECK(watch.drain().ok());
  tree.folder.write("root/file", "x");
  CHECK(told(watch));
}

TEST_CASE("a root that is not there is not found") {
  const Tree tree;
  CHECK(TreeWatch::open(tree.folder.path() / "nowhere").error().code() == Code::not_found);
}

}  // namespace
}  // namespace ibpod
