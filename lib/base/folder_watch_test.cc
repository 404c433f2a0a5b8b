#include "lib/base/folder_watch.h"

#include "tests/support/temp_folder.h"

#include <fstream>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("a watch tells of what came, went and was renamed since the last look") {
  const TempFolder folder;
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  CHECK_FALSE(watch.wait(Deadline::in(Duration(0))).value());
  folder.write("a", "");
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
  CHECK_FALSE(watch.wait(Deadline::in(Duration(1))).value());
  std::filesystem::rename(folder.path() / "a", folder.path() / "b");
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
  std::filesystem::remove(folder.path() / "b");
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
}

TEST_CASE("a watch wakes up for a change that comes while it waits") {
  const TempFolder folder;
  FolderWatch watch = FolderWatch::open(folder.path()).value();
  std::thread other([&] { folder.write("a", ""); });
  CHECK(watch.wait(Deadline::in(Duration(10000))).value());
  other.join();
}

TEST_CASE("a watch reports that its folder is gone, and cannot be opened on what is not a folder") {
  const TempFolder folder;
  const Path inner = folder.path() / "inner";
  std::filesystem::create_directory(inner);
  FolderWatch watch = FolderWatch::open(inner).value();
  std::filesystem::rename(inner, folder.path() / "elsewhere");
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
  std::filesystem::rename(folder.path() / "elsewhere", inner);
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
  std::filesystem::remove(inner);
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
  CHECK(FolderWatch::open(inner).error().code() == Code::not_found);
  CHECK_FALSE(FolderWatch::open(folder.write("file", "")));
}

TEST_CASE("a watch of files tells of each write, and of files that come") {
  const TempFolder folder;
  folder.write("a", "");
  std::filesystem::create_directory(folder.path() / "inner");
  FolderWatch watch =
      FolderWatch::of_files({folder.path() / "a", folder.path() / "b", folder.path() / "inner/c"})
          .value();
  const auto changed = [&] { return watch.wait(Deadline::in(Duration(0))).value(); };
  CHECK_FALSE(changed());
  std::ofstream open_file(folder.path() / "a", std::ios::app);
  CHECK_FALSE(changed());
  open_file << "x" << std::flush;
  CHECK(changed());
  folder.write("inner/c", "");
  CHECK(changed());
  CHECK_FALSE(changed());
}

TEST_CASE("a watch of entries does not tell of what is written into files") {
  const TempFolder folder;
  folder.write("a", "");
  FolderWatch watch = FolderWatch::open(folder.path(), FolderWatch::Changes::entries).value();
  folder.write("a", "x");
  CHECK_FALSE(watch.wait(Deadline::in(Duration(0))).value());
  std::filesystem::create_directory(folder.path() / "inner");
  CHECK(watch.add(folder.path() / "inner"));
  watch.drain();
  folder.write("inner/b", "");
  CHECK(watch.wait(Deadline::in(Duration(0))).value());
}

}  // namespace
}  // namespace ibpod
