#include "lib/base/files.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace ibpod {
namespace {

TEST_CASE("an Fd closes what it owns when it goes, and when something else is moved into it") {
  const TempFolder folder;
  const auto is_open = [](int number) { return ::fcntl(number, F_GETFD) >= 0; };
  const int first = ::open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  const int second = ::open(folder.path().c_str(), O_RDONLY | O_CLOEXEC);
  {
    Fd fd(first);
    Fd other(second);
    fd = std::move(other);
    CHECK_FALSE(is_open(first));
    // The test is about the state after a move.
    // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
    CHECK_FALSE(other.valid());
    CHECK(fd.get() == second);
  }
  CHECK_FALSE(is_open(second));
}

TEST_CASE("a file is read back as it was written, and only its owner may") {
  const TempFolder folder;
  const Path path = folder.path() / "record";
  const std::string content = std::string("a\0b", 3) + std::string(100000, 'x');
  REQUIRE(write_file_atomically(path, content));
  CHECK(read_file(path).value() == content);
  struct stat found;
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
}

TEST_CASE("a file is replaced as a whole, and nothing is left beside it") {
  const TempFolder folder;
  const Path path = folder.path() / "record";
  REQUIRE(write_file_atomically(path, "a long old content"));
  REQUIRE(write_file_atomically(path, "new"));
  CHECK(read_file(path).value() == "new");
  CHECK(list_folder(folder.path()).value() == std::vector<std::string>{"record"});
}

TEST_CASE("a file has two names, and what is under one stays when the other goes") {
  const TempFolder folder;
  const Path first = folder.path() / "a", second = folder.path() / "b";
  REQUIRE(write_file_atomically(first, "one"));
  CHECK(link_file(first, second));
  CHECK(link_file(first, second));
  REQUIRE(remove_file(first));
  CHECK(read_file(second).value() == "one");
  CHECK(link_file(first, folder.path() / "c").error().code() == Code::not_found);
}

TEST_CASE("a file that cannot be put in place is told of, and nothing is left beside it") {
  const TempFolder folder;
  std::filesystem::create_directory(folder.path() / "taken");
  const Status written = write_file_atomically(folder.path() / "taken", "x");
  CHECK_FALSE(written);
  CHECK(list_folder(folder.path()).value() == std::vector<std::string>{"taken"});
  CHECK(write_file_atomically(folder.path() / "none/x", "x").error().code() == Code::not_found);
}

TEST_CASE("a missing file, one that is too large and a folder are errors of their own") {
  const TempFolder folder;
  const Path path = folder.write("large", "12345");
  CHECK(read_file(path, 5).value() == "12345");
  CHECK(read_file(path, 4).error().code() == Code::invalid);
  CHECK(read_file(folder.path() / "none").error().code() == Code::not_found);
  CHECK(read_file(folder.path()).error().text() ==
        folder.path().string() + " is not a regular file");
}

TEST_CASE("removing a file twice is a success") {
  const TempFolder folder;
  const Path path = folder.write("record", "x");
  CHECK(remove_file(path));
  CHECK_FALSE(path_exists(path));
  CHECK(remove_file(path));
}

TEST_CASE("folders are made with all above them, once or twice") {
  const TempFolder folder;
  const Path path = folder.path() / "a/b/c";
  CHECK(make_folders(path));
  CHECK(make_folders(path));
  CHECK(std::filesystem::is_directory(path));
  folder.write("file", "");
  CHECK_FALSE(make_folders(folder.path() / "file/x"));
}

TEST_CASE("a listing is sorted; a folder that does not exist has no names; a file is no folder") {
  const TempFolder folder;
  folder.write("b", "");
  folder.write("a", "");
  CHECK(list_folder(folder.path()).value() == std::vector<std::string>{"a", "b"});
  CHECK(list_folder(folder.path() / "none").value().empty());
  CHECK_FALSE(list_folder(folder.path() / "a"));
}

TEST_CASE("a dangling link exists") {
  const TempFolder folder;
  std::filesystem::create_symlink("nowhere", folder.path() / "link");
  CHECK(path_exists(folder.path() / "link"));
  CHECK_FALSE(path_exists(folder.path() / "none"));
}

TEST_CASE("what is not a regular file is not read, and not waited for") {
  const TempFolder folder;
  const Path fifo = folder.path() / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(read_file(fifo).error().text() == fifo.string() + " is not a regular file");
  CHECK(read_file(folder.path()).error().text() ==
        folder.path().string() + " is not a regular file");
  CHECK(read_file("/dev/zero").error().code() == Code::invalid);
  CHECK(read_file("/proc/self/stat"));
}

TEST_CASE(
    "a deadline never has less than nothing left, and can be brought forward but not put off") {
  const Deadline passed = Deadline::in(Duration(-5));
  CHECK(passed.passed());
  CHECK(passed.left() == Duration(0));
  CHECK(passed.at_most(Duration(1000)).passed());
  CHECK(Deadline::in(Duration(100000)).at_most(Duration(1000)).left() <= Duration(1000));
}

}  // namespace
}  // namespace ibpod
