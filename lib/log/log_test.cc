#include "lib/log/log.h"

#include "tests/support/run_tests.h"
#include "tests/support/temp_folder.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace ibpod::log {
namespace {

// Standard error goes into a file for as long as this lives.
class CapturedErrors {
 public:
  explicit CapturedErrors(const Path& file) : file_(file), before_(::dup(2)) {
    const Fd own(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    ::dup2(own.get(), 2);
  }
  ~CapturedErrors() { ::dup2(before_.get(), 2); }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  std::string text() const { return read_file(file_).value(); }

 private:
  Path file_;
  Fd before_;
};

TEST_CASE("a line is one JSON object: time, level, message, the common members, then its own") {
  const TempFolder folder;
  const CapturedErrors errors(folder.path() / "stderr");
  Log log(Level::info);
  log.always("containerID", "c1").always("device", "0000:af:00.1");
  log.write(Level::warning, "two\nlines", json::Value::object().set("us", 7));
  const std::string text = errors.text();
  CHECK(text.find('\n') == text.size() - 1);
  const json::Value line = json::Value::parse(text).value();
  std::vector<std::string> keys;
  const auto members = line.members().value();
  for (const auto& [key, value] : members) keys.push_back(key);
  CHECK(keys == std::vector<std::string>{"time", "level", "msg", "containerID", "device", "us"});
  CHECK(line.at("level").value().string().value() == "warning");
  CHECK(line.at("msg").value().string().value() == "two\nlines");
  const std::string time = line.at("time").value().string().value();
  CHECK(time.size() == std::string("2026-01-31T12:00:00.123Z").size());
  CHECK(time.ends_with('Z'));
}

TEST_CASE("no name of a pod's or a fabric's node can command the terminal that shows the log") {
  const TempFolder folder;
  const CapturedErrors errors(folder.path() / "stderr");
  Log log(Level::info);
  log.always("pod", "a\x1b]0;x\x07");
  log.write(Level::info, "port \xc2\x9b 2J\x7f\r\n{\"level\":\"error\"}");
  const std::string text = errors.text();
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  CHECK(std::all_of(text.begin(), text.end() - 1, is_plain));
  CHECK(text.back() == '\n');
}

TEST_CASE("what is below the least level is not written") {
  const TempFolder folder;
  const CapturedErrors errors(folder.path() / "stderr");
  Log log(Level::warning);
  log.write(Level::debug, "no");
  log.write(Level::info, "no");
  CHECK(errors.text().empty());
  log.set_least(Level::debug);
  log.write(Level::debug, "yes");
  CHECK(errors.text().find("\"yes\"") != std::string::npos);
}

TEST_CASE("a log file gets every line too, appended, and only its owner reads it") {
  const TempFolder folder;
  const CapturedErrors errors(folder.path() / "stderr");
  const Path file = folder.path() / "ibpod.log";
  for (const char* run : {"first", "second"}) {
    Log log(Level::info);
    REQUIRE(log.open(file));
    log.write(Level::error, run);
  }
  CHECK(read_file(file).value() == errors.text());
  CHECK(errors.text().find("first") < errors.text().find("second"));
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("a log file that cannot be opened, or is a link, is an error") {
  const TempFolder folder;
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "link");
  Log log(Level::info);
  CHECK_FALSE(log.open(folder.path() / "absent" / "file"));
  CHECK_FALSE(log.open(folder.path() / "link"));
  // A FIFO without a reader: a blocking open() would wait for one.
  REQUIRE(::mkfifo((folder.path() / "fifo").c_str(), 0600) == 0);
  CHECK_FALSE(log.open(folder.path() / "fifo"));
  CHECK_FALSE(log.open("/dev/null"));
}

TEST_CASE("a log file that others can write or replace is an error, and gets no line") {
  const TempFolder folder;
  const Path own = folder.path() / "own", file = own / "ibpod.log";
  std::filesystem::create_directory(own);
  const auto refusal = [&] {
    const Status opened = Log(Level::info).open(file);
    return opened ? std::string() : opened.error().text();
  };
  CHECK(refusal() == "");
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  CHECK(refusal() == file.string() +
                         " has mode 0666: other users can write to it; run chmod go-w " +
                         file.string());
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  CHECK(refusal() == "");
  for (const mode_t mode : {0777U, 01777U}) {
    REQUIRE(::chmod(own.c_str(), mode) == 0);
    CHECK(refusal().ends_with(", or name a file in a folder that only root can write"));
  }
  REQUIRE(::chmod(own.c_str(), 0700) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  CHECK(refusal().find("other users can replace files in it") != std::string::npos);
  REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
  CHECK(refusal() == "");
}

TEST_CASE("a log file of another user, or in a folder of another's or a group's, is an error") {
  if (!root_can("change the owner of a file")) return;
  constexpr uid_t kForeign = 54321;
  const TempFolder folder;
  const Path own = folder.path() / "own", file = own / "ibpod.log";
  std::filesystem::create_directory(own);
  REQUIRE(Log(Level::info).open(file));
  REQUIRE(::chown(file.c_str(), kForeign, 0) == 0);
  CHECK_FALSE(Log(Level::info).open(file));
  REQUIRE(::chown(file.c_str(), 0, 0) == 0);
  REQUIRE(::chown(own.c_str(), kForeign, 0) == 0);
  CHECK_FALSE(Log(Level::info).open(file));
  REQUIRE(::chown(own.c_str(), 0, kForeign) == 0);
  REQUIRE(::chmod(own.c_str(), 0775) == 0);
  CHECK_FALSE(Log(Level::info).open(file));
  REQUIRE(::chmod(own.c_str(), 0755) == 0);
  // As Ubuntu has /var/log.
  REQUIRE(::chown(folder.path().c_str(), 0, kForeign) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0775) == 0);
  CHECK(Log(Level::info).open(file));
  REQUIRE(::lchown(folder.path().c_str(), kForeign, 0) == 0);
  CHECK_FALSE(Log(Level::info).open(file));
}

TEST_CASE("levels are read by name, those of older configurations too") {
  CHECK(parse_level("debug").value() == Level::debug);
  CHECK(parse_level("warn").value() == Level::warning);
  CHECK(parse_level("panic").value() == Level::error);
  CHECK(parse_level("Info").error().text() ==
        "\"Info\" is not a log level: expected debug, info, warning or error");
}

}  // namespace
}  // namespace ibpod::log
