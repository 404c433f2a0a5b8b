#include "lib/attach/node_config.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod::attach {
namespace {

struct File {
  TempFolder folder;
  Path path = folder.path() / "cni.json";
  explicit File(const std::string& text) { REQUIRE(write_file_atomically(path, text)); }
  Result<NodeConfig> read() const { return read_node_config(path); }
};

TEST_CASE("without a file the node has the defaults") {
  const TempFolder folder;
  const NodeConfig config = read_node_config(folder.path() / "cni.json").value();
  CHECK(config.state_folder == kStateFolder);
  CHECK(config.agent_socket.empty());
  CHECK(config.log_file.empty());
  CHECK(config.log_level == log::Level::info);
  CHECK(config.device_info_folder == kDeviceInfoFolder);
  CHECK_FALSE(config.ipam_types);
  CHECK_FALSE(config.any_device);
  CHECK_FALSE(config.allow_in_networks);
}

TEST_CASE("every key is read") {
  const File file(
      R"({"stateDir": "/s", "agentSocket": "/a.sock", "logFile": "/l", "logLevel": "debug",
    "deviceInfoDir": "/d", "ipamTypes": ["host-local", "static"], "devices": "any",
    "masterVfs": ["0000:3b:00.2"], "allowInNetworks": true})");
  const NodeConfig config = file.read().value();
  CHECK(config.state_folder == "/s");
  CHECK(config.agent_socket == "/a.sock");
  CHECK(config.log_file == "/l");
  CHECK(config.log_level == log::Level::debug);
  CHECK(config.device_info_folder == "/d");
  CHECK(config.ipam_types == std::vector<std::string>{"host-local", "static"});
  CHECK(config.any_device);
  CHECK(config.master_vfs ==
        std::vector<ib::PciAddress>{ib::PciAddress::parse("0000:3b:00.2").value()});
  CHECK(config.allow_in_networks);
}

TEST_CASE("what is wrong in it is named with the file") {
  const struct {
    const char* text;
    const char* message;
  } table[] = {
      {"[]", "expected an object"},
      {R"({"stateDir": "x"})", "stateDir: expected an absolute path without \"..\", got \"x\""},
      {R"({"logLevel": "loud"})", "logLevel: \"loud\" is not a log level"},
      {R"({"ipamTypes": "static"})", "ipamTypes: expected a list"},
      {R"({"devices": "all"})", "devices: expected allocated or any, got \"all\""},
      {R"({"masterVfs": "0000:3b:00.2"})", "masterVfs: expected a list"},
      {R"({"masterVfs": ["ib2"]})", "masterVfs: "},
      {R"({"allowInNetworks": "yes"})", "allowInNetworks: expected true or false"},
      {R"({"logfiles": "/x"})", "logfiles: unknown key; did you mean \"logFile\"?"},
      {R"({"socket": "/x"})",
       "socket: unknown key, expected one of stateDir, agentSocket, logFile"},
  };
  for (const auto& bad : table) {
    const File file(bad.text);
    const Result<NodeConfig> read = file.read();
    REQUIRE_FALSE(read);
    CHECK(read.error().text().starts_with(file.path.string() + ": "));
    CHECK_MESSAGE(read.error().text().find(bad.message) != std::string::npos, read.error().text());
  }
}

TEST_CASE("a file that others can write to, or replace, is not believed") {
  const File file("{}");
  REQUIRE(::chmod(file.path.c_str(), 0666) == 0);
  CHECK(file.read().error().code() == Code::denied);
  REQUIRE(::chmod(file.path.c_str(), 0644) == 0);
  CHECK(file.read());
  REQUIRE(::chmod(file.folder.path().c_str(), 0777) == 0);
  CHECK(file.read().error().code() == Code::denied);
}

TEST_CASE("a link or a FIFO in its place is no file") {
  const TempFolder folder;
  const Path path = folder.path() / "cni.json";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(read_node_config(path).error().text() == path.string() + " is not a regular file");
  REQUIRE(::unlink(path.c_str()) == 0);
  std::filesystem::create_symlink("/etc/hostname", path);
  CHECK_FALSE(read_node_config(path));
}

}  // namespace
}  // namespace ibpod::attach
