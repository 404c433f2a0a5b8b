#include "ctl/convert/secret_files.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod::ctl::convert {
namespace {

const std::vector<SecretFile> kFiles{{"password", "swordfish"}, {"ca.crt", "PEM\n"}};

unsigned mode_of(const Path& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return found.st_mode & 07777U;
}

// While it lives, the umask of this process.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

TEST_CASE("files and folders are for their owner alone, whatever the umask is") {
  for (const mode_t mask : {0U, 022U, 0077U}) {
    CAPTURE(mask);
    const TempFolder work;
    const Path folder = work.path() / "etc/ufm";
    const Umask umask(mask);
    REQUIRE(write_secrets(folder, kFiles));
    CHECK(mode_of(folder.parent_path()) == 0700);
    CHECK(mode_of(folder) == 0700);
    for (const SecretFile& file : kFiles) {
      CHECK(mode_of(folder / file.name) == 0600);
      CHECK(read_file(folder / file.name).value() == file.content);
    }
    CHECK(list_folder(folder)->size() == 2);
  }
}

TEST_CASE("the owner can read and write the files, whatever the umask is") {
  const TempFolder work;
  const Umask umask(0777);
  REQUIRE(write_secrets(work.path(), kFiles));
  for (const SecretFile& file : kFiles) CHECK(mode_of(work.path() / file.name) == 0600);
}

TEST_CASE("an existing entry stays as it is, and nothing is written beside it") {
  for (const SecretFile& file : kFiles) {
    const TempFolder work;
    work.write("ufm/" + file.name, "old");
    const Status refused = write_secrets(work.path() / "ufm", kFiles);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::exists);
    CHECK(refused.error().text().find(file.name + " exists and is not overwritten") !=
          std::string::npos);
    CHECK(read_file(work.path() / "ufm" / file.name).value() == "old");
    CHECK(list_folder(work.path() / "ufm").value() == std::vector<std::string>{file.name});
  }
}

TEST_CASE("a dangling link is an existing entry") {
  const TempFolder work;
  std::filesystem::create_symlink(work.path() / "target", work.path() / "ca.crt");
  const Status refused = write_secrets(work.path(), kFiles);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::exists);
  CHECK(list_folder(work.path()).value() == std::vector<std::string>{"ca.crt"});
}

// As when another process creates the file after the check.
TEST_CASE("an entry that comes while the files are written is not overwritten") {
  const TempFolder work;
  const Status refused = write_secrets(work.path() / "ufm", {kFiles[0], {"password", "other"}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::exists);
  CHECK(list_folder(work.path())->empty());
}

TEST_CASE("after a failure nothing is left, not even the folders") {
  const TempFolder work;
  // The second file cannot be created: its name is too long.
  const std::vector<SecretFile> files{kFiles[0], {std::string(300, 'x'), "PEM"}};
  const Status failed = write_secrets(work.path() / "etc/ibpod/ufm", files);
  REQUIRE_FALSE(failed);
  CHECK(failed.error().text().find("swordfish") == std::string::npos);
  CHECK(list_folder(work.path())->empty());
}

TEST_CASE("a folder in which other users could replace the files is refused") {
  const TempFolder work;
  ::chmod(work.path().c_str(), 0777);
  const Status refused = write_secrets(work.path(), kFiles);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::denied);
  CHECK(list_folder(work.path())->empty());
  ::chmod(work.path().c_str(), 0755);
  CHECK(write_secrets(work.path(), kFiles));
}

}  // namespace
}  // namespace ibpod::ctl::convert
