#include "lib/base/private_file.h"

#include "tests/support/run_tests.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod {
namespace {

constexpr gid_t kForeign = 54321;

void set_mode(const Path& path, mode_t mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }

// The error's text; empty: none.
std::string fault(const Path& path) {
  const Status status = check_private(path);
  return status ? std::string() : status.error().text();
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("a private file: only its owner, and the readers of our own group, have access") {
  const TempFolder folder;
  const Path key = folder.write("key", "secret");
  for (const mode_t mode : {0600U, 0400U, 0700U, 0640U, 0440U}) {
    CAPTURE(mode);
    set_mode(key, mode);
    CHECK(fault(key) == "");
    CHECK(read_private_file(key, 100).value() == "secret");
  }
  for (const mode_t mode : {0644U, 0604U, 0602U, 0601U, 0620U, 0660U, 0666U}) {
    CAPTURE(mode);
    set_mode(key, mode);
    CHECK(has(fault(key), "run chmod 0600 " + key.string() + " (for a Secret: defaultMode 0400)"));
    CHECK_FALSE(read_private_file(key, 100));
  }
  set_mode(key, 0644);
  CHECK(has(fault(key), "has mode 0644"));
  CHECK_FALSE(has(fault(key), "secret"));
  set_mode(key, 0600);
  CHECK_FALSE(read_private_file(key, 5));
}

TEST_CASE("a trusted file: others may read it, and not write it") {
  const TempFolder folder;
  const Path options = folder.write("options", "sweep");
  for (const mode_t mode : {0600U, 0644U, 0444U, 0755U}) {
    CAPTURE(mode);
    set_mode(options, mode);
    CHECK(read_trusted_file(options, 100).value() == "sweep");
  }
  for (const mode_t mode : {0664U, 0620U, 0602U, 0666U}) {
    CAPTURE(mode);
    set_mode(options, mode);
    const auto refused = read_trusted_file(options, 100);
    REQUIRE_FALSE(refused);
    CHECK(has(refused.error().text(), "run chmod go-w " + options.string()));
  }
}

TEST_CASE("a private file: another's, or one of another group") {
  if (!root_can("change the owner of a file")) return;
  const TempFolder folder;
  const Path key = folder.write("key", "secret");
  set_mode(key, 0640);
  REQUIRE(::chown(key.c_str(), 0, kForeign) == 0);
  CHECK(has(fault(key), "has mode 0640"));
  REQUIRE(::chown(key.c_str(), kForeign, 0) == 0);
  CHECK(has(fault(key), "belongs to user 54321"));
}

TEST_CASE("a private file is a file, and is there") {
  const TempFolder folder;
  CHECK(check_private(folder.path() / "key").error().code() == Code::not_found);
  CHECK(has(fault(folder.path()), "not a regular file"));
  const Path fifo = folder.path() / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(has(fault(fifo), "not a regular file"));
  std::filesystem::create_symlink("loop", folder.path() / "loop");
  CHECK(has(fault(folder.path() / "loop"), "too many links"));
}

TEST_CASE("a private file: a folder on its way that others can write") {
  const TempFolder folder;
  const Path open = folder.path() / "open";
  std::filesystem::create_directories(open / "inner");
  const Path key = folder.write("open/inner/key", "secret");
  set_mode(key, 0600);
  CHECK(fault(key) == "");
  set_mode(open, 0777);
  CHECK(has(fault(key), "run chmod go-w " + open.string()));
  set_mode(open, 01777);
  CHECK(fault(key) == "");
  set_mode(open, 0775);
  CHECK(fault(key) == "");
  if (!root_can("change the owner of a file")) return;
  REQUIRE(::chown(open.c_str(), 0, kForeign) == 0);
  CHECK(has(fault(key), "has mode 0775"));
  set_mode(open, 0755);
  CHECK(fault(key) == "");
  REQUIRE(::chown(open.c_str(), kForeign, 0) == 0);
  CHECK(has(fault(key), "belongs to user"));
}

TEST_CASE("a private file: links count with the folders that they are in and lead through") {
  const TempFolder folder;
  for (const char* name : {"keys", "open", "safe"})
    std::filesystem::create_directory(folder.path() / name);
  const Path key = folder.write("keys/key", "secret");
  set_mode(key, 0600);
  std::filesystem::create_symlink("../keys", folder.path() / "open" / "link");
  std::filesystem::create_symlink("../open/link/key", folder.path() / "safe" / "key");
  const Path link = folder.path() / "safe" / "key";
  CHECK(fault(link) == "");
  CHECK(read_private_file(link, 100).value() == "secret");
  set_mode(folder.path() / "open", 0777);
  CHECK(has(fault(link), "run chmod go-w"));
}

TEST_CASE("a private file: a link that another user has made in a sticky folder") {
  if (!root_can("change the owner of a file")) return;
  const TempFolder folder;
  const Path key = folder.write("key", "secret");
  set_mode(key, 0600);
  const Path open = folder.path() / "open";
  std::filesystem::create_directory(open);
  set_mode(open, 01777);
  const Path link = open / "link";
  std::filesystem::create_symlink("../key", link);
  CHECK(fault(link) == "");
  REQUIRE(::lchown(link.c_str(), kForeign, 0) == 0);
  CHECK(has(fault(link), "the link " + link.string() + " belongs to user 54321"));
  CHECK(has(fault(link), "run chown -h root " + link.string()));
  CHECK_FALSE(read_private_file(link, 100));
  CHECK(read_trusted_file(link, 100).error().code() == Code::denied);
  // A link to a folder on the way counts as much.
  const Path way = open / "way";
  std::filesystem::create_directory_symlink("..", way);
  CHECK(fault(way / "key") == "");
  REQUIRE(::lchown(way.c_str(), kForeign, 0) == 0);
  CHECK(fault(way / "key") != "");
  CHECK(check_trusted_folder(way).error().code() == Code::denied);
}

TEST_CASE("a private file of a Secret's volume: the kubelet's default mode is refused") {
  const TempFolder folder;
  const Path mount = folder.path();
  std::filesystem::create_directory(mount / "..2026_11_26");
  const Path real = folder.write("..2026_11_26/tls.key", "secret");
  std::filesystem::create_directory_symlink("..2026_11_26", mount / "..data");
  std::filesystem::create_symlink("..data/tls.key", mount / "tls.key");
  set_mode(mount, 01777);
  for (const auto& [mode, good] :
       {std::pair{0644U, false}, std::pair{0600U, true}, std::pair{0400U, true}}) {
    CAPTURE(mode);
    set_mode(real, mode);
    CHECK(fault(mount / "tls.key").empty() == good);
  }
  // With fsGroup: the files are of that group, which the process is in.
  set_mode(mount, 03777);
  set_mode(real, 0440);
  CHECK(fault(mount / "tls.key") == "");
}

TEST_CASE("a folder is trusted if no other user can replace what is in it") {
  const TempFolder folder;
  const Path inner = folder.path() / "a" / "b";
  REQUIRE(make_folders(inner));
  CHECK(check_trusted_folder(inner));
  CHECK(check_trusted_folder(inner / "not" / "there"));
  REQUIRE(::chmod(inner.parent_path().c_str(), 0777) == 0);
  CHECK(check_trusted_folder(inner).error().code() == Code::denied);
  REQUIRE(::chmod(inner.parent_path().c_str(), 01777) == 0);
  CHECK(check_trusted_folder(inner));
  REQUIRE(::chmod(inner.c_str(), 01777) == 0);
  CHECK(check_trusted_folder(inner).error().code() == Code::denied);
  if (!root_can("change the owner of a folder")) return;
  REQUIRE(::chown(inner.c_str(), 65534, 65534) == 0);
  CHECK(check_trusted_folder(inner).error().code() == Code::denied);
}

}  // namespace
}  // namespace ibpod
