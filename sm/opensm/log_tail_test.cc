#include "sm/opensm/log_tail.h"

#include "tests/support/temp_folder.h"

#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

struct Log {
  TempFolder folder;
  Path path = folder.path() / "log";
  LogTail tail{path};

  void append(const std::string& text) const { std::ofstream(path, std::ios::app) << text; }
  std::string read() {
    std::string all;
    for (std::string more = tail.read().value(); !more.empty(); more = tail.read().value())
      all += more;
    return all;
  }
};

TEST_CASE("what is appended is read once, from a file that is not there yet, too") {
  Log log;
  CHECK(log.read().empty());
  log.append("a\nb");
  CHECK(log.read() == "a\nb");
  CHECK(log.read().empty());
  const std::string much(3 * LogTail::kMost + 5, 'x');
  log.append(much);
  CHECK(log.read() == much);
  CHECK(!log.tail.take_lost());
}

TEST_CASE("a file that is truncated goes on from its beginning, and something may be lost") {
  Log log;
  log.append("a long line\n");
  log.read();
  std::filesystem::resize_file(log.path, 0);
  log.append("new\n");
  CHECK(log.read() == "new\n");
  CHECK(log.tail.take_lost());
  CHECK(!log.tail.take_lost());
}

TEST_CASE("a file that is rotated away is read to its end, then the new one") {
  Log log;
  log.append("1\n");
  log.read();
  log.append("2\n");
  std::filesystem::rename(log.path, log.folder.path() / "log.1");
  CHECK(log.read() == "2\n");
  std::ofstream(log.folder.path() / "log.1", std::ios::app) << "3\n";
  CHECK(log.read() == "3\n");  // no new file has been made yet
  log.append("4\n");
  CHECK(log.read() == "4\n");
  CHECK(!log.tail.take_lost());
}

TEST_CASE("what was there before can be left out, but for its end") {
  Log log;
  log.append("12345");
  REQUIRE(log.tail.skip(2));
  CHECK(log.read() == "45");
  REQUIRE(log.tail.skip(100));
  CHECK(log.read() == "12345");
  REQUIRE(log.tail.skip(0));
  log.append("6");
  CHECK(log.read() == "6");
}

TEST_CASE("a log that cannot be read is an error") {
  TempFolder folder;
  CHECK(!LogTail(folder.path()).read());
}

}  // namespace
}  // namespace ibpod::sm::opensm
