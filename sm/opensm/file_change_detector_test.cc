#include "sm/opensm/file_change_detector.h"

#include "tests/support/temp_folder.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using namespace std::chrono_literals;

struct WatchedFile {
  TempFolder folder;
  Path path = folder.path() / "file";
  FileChangeDetector detector{path};

  void write(const std::string& text) const { std::ofstream(path) << text; }
  // As it is called long after the last change, and at the time of the change.
  bool changed() { return detector.changed(std::chrono::system_clock::now() + 1h); }
  bool changed_just_now() { return detector.changed(std::chrono::system_clock::now() - 1h); }
};

TEST_CASE("a change is reported once, also that the file is missing") {
  WatchedFile file;
  CHECK(file.changed());
  CHECK(!file.changed());
  file.write("a");
  CHECK(file.changed());
  CHECK(!file.changed());
  file.write("ab");
  CHECK(file.changed());
  std::filesystem::remove(file.path);
  CHECK(file.changed());
  CHECK(!file.changed());
}

TEST_CASE("another file of the same content is a change") {
  WatchedFile file;
  file.write("a");
  CHECK(file.changed());
  std::ofstream(file.folder.path() / "other") << "a";
  std::filesystem::rename(file.folder.path() / "other", file.path);
  CHECK(file.changed());
}

TEST_CASE("a file that has just changed may change again without a new time stamp") {
  WatchedFile file;
  file.write("a");
  CHECK(file.changed_just_now());
  CHECK(file.changed_just_now());
  CHECK(file.changed());
  CHECK(!file.changed_just_now());
}

TEST_CASE("after reset() it counts as changed") {
  WatchedFile file;
  CHECK(file.changed());
  file.detector.reset();
  CHECK(file.changed());
  CHECK(!file.changed());
}

}  // namespace
}  // namespace ibpod::sm::opensm
