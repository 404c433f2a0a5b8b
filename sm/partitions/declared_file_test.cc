#include "sm/partitions/declared_file.h"

#include "tests/support/temp_folder.h"

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include <doctest/doctest.h>

namespace ibpod::sm::partitions {
namespace {

// Waits for the next callback, and returns its content as text.
class Ear {
 public:
  void hear(const Result<DeclaredPartitions>& declared) {
    const std::lock_guard lock(mutex_);
    heard_.push_back(words(declared));
    changed_.notify_all();
  }
  std::string next() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return heard_.size() > taken_; });
    return heard_.size() > taken_ ? heard_[taken_++] : "nothing";
  }

 private:
  static std::string words(const Result<DeclaredPartitions>& declared) {
    if (!declared) return std::string(name(declared.error().code()));
    std::string all;
    for (const fabric::Partition& partition : declared->partitions) all += partition.name + " ";
    return all;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> heard_;
  size_t taken_ = 0;
};

TEST_CASE("a file that is not there yet, comes, is replaced and is damaged is told each time") {
  const TempFolder folder;
  const Path file = folder.path() / "partitions.json";
  Ear ear;
  const auto followed =
      DeclaredFile::follow(file, [&](const auto& declared) { ear.hear(declared); });
  REQUIRE(followed);
  CHECK(ear.next() == "not found");
  REQUIRE(write_file_atomically(file, R"({"partitions": [{"name": "blue"}]})"));
  CHECK(ear.next() == "blue ");
  REQUIRE(write_file_atomically(file, R"({"partitions": [{"name": "blue"}, {"name": "red"}]})"));
  CHECK(ear.next() == "blue red ");
  REQUIRE(write_file_atomically(file, "{"));
  CHECK(ear.next() == "invalid");
}

// The kubelet makes FILE a link to ..data/FILE, and replaces ..data, a link to ..SOME_TIME.
TEST_CASE("a ConfigMap's file is followed through its links") {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const auto publish = [&](const std::string& version, const std::string& text) {
    fs::create_directory(folder.path() / version);
    REQUIRE(write_file_atomically(folder.path() / version / "p.json", text));
    fs::create_symlink(version, folder.path() / "..data_tmp");
    fs::rename(folder.path() / "..data_tmp", folder.path() / "..data");
  };
  publish("..1", R"({"partitions": [{"name": "blue"}]})");
  fs::create_symlink("..data/p.json", folder.path() / "p.json");
  Ear ear;
  const auto followed = DeclaredFile::follow(folder.path() / "p.json",
                                             [&](const auto& declared) { ear.hear(declared); });
  REQUIRE(followed);
  CHECK(ear.next() == "blue ");
  publish("..2", R"({"partitions": [{"name": "red"}]})");
  CHECK(ear.next() == "red ");
}

TEST_CASE("a folder that goes and another that comes in its place are followed") {
  namespace fs = std::filesystem;
  const TempFolder folder;
  const auto publish = [&](const char* name, const std::string& partition) {
    fs::create_directory(folder.path() / name);
    REQUIRE(write_file_atomically(folder.path() / name / "p.json",
                                  R"({"partitions": [{"name": ")" + partition + R"("}]})"));
  };
  publish("now", "blue");
  Ear ear;
  const auto followed = DeclaredFile::follow(folder.path() / "now/p.json",
                                             [&](const auto& declared) { ear.hear(declared); });
  REQUIRE(followed);
  CHECK(ear.next() == "blue ");
  fs::rename(folder.path() / "now", folder.path() / "before");
  CHECK(ear.next() == "not found");
  publish("next", "red");
  fs::rename(folder.path() / "next", folder.path() / "now");
  CHECK(ear.next() == "red ");
  REQUIRE(write_file_atomically(folder.path() / "now/p.json",
                                R"({"partitions": [{"name": "green"}]})"));
  CHECK(ear.next() == "green ");
  fs::remove_all(folder.path() / "now");
  CHECK(ear.next() == "not found");
}

}  // namespace
}  // namespace ibpod::sm::partitions
