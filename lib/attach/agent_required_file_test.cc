#include "lib/attach/agent_required_file.h"

#include "lib/attach/agent_client.h"
#include "lib/cni/errors.h"
#include "tests/support/fake_agent.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const Path kSocket = "/run/ibpod/agent.sock";

struct AgentFixture {
  TempFolder folder;
  Path state = folder.path() / "state";
  AgentRequiredFile required_file{state};
  fake::FakeKernel kernel;
  fake::FakeBinder binder{kernel, folder.path()};
  fake::FakeAgent agent;
  std::vector<Path> questions;

  // For a network with its own stateDir or agentSocket.
  Result<bool> check(const Path& socket = {}) { return check(state, socket); }
  Result<bool> check(const Path& state_folder, const Path& agent_socket) {
    Settings settings;
    settings.state_folder = state_folder;
    settings.agent_socket = agent_socket;
    const auto connect = [this](const Path& socket) -> std::unique_ptr<nodeapi::Node> {
      questions.push_back(socket);
      return std::make_unique<fake::FakeAgent>(agent);
    };
    return AgentClient(required_file, settings, connect).ask(Deadline::in(Duration(1000)));
  }
};

TEST_CASE("a mark says where the agent is, until it is removed") {
  AgentFixture fixture;
  CHECK(fixture.required_file.read().value() == std::nullopt);
  REQUIRE(fixture.required_file.remove());
  REQUIRE(fixture.required_file.write("/run/one.sock"));
  CHECK(fixture.required_file.read().value() == Path("/run/one.sock"));
  REQUIRE(fixture.required_file.write(kSocket));
  REQUIRE(fixture.required_file.write(kSocket));
  CHECK(fixture.required_file.read().value() == kSocket);
  CHECK(fixture.required_file.file().filename() == "agent");
  REQUIRE(fixture.required_file.remove());
  REQUIRE(fixture.required_file.remove());
  CHECK(fixture.required_file.read().value() == std::nullopt);
}

TEST_CASE(
    "a mark says whether a network has to name a partition, one of an earlier agent does not") {
  AgentFixture fixture;
  CHECK_FALSE(fixture.required_file.needs_partition().value());
  REQUIRE(fixture.required_file.write(kSocket));
  CHECK_FALSE(fixture.required_file.needs_partition().value());
  REQUIRE(fixture.required_file.write(kSocket, true));
  CHECK(fixture.required_file.needs_partition().value());
  CHECK(fixture.required_file.read().value() == kSocket);
  REQUIRE(fixture.required_file.write(kSocket));
  CHECK_FALSE(fixture.required_file.needs_partition().value());
  CHECK_FALSE(AgentRequiredFile("tests/data/first_version/node").needs_partition().value());
  fixture.folder.write("state/agent", R"({"agentSocket":"/a.sock","withoutPartition":"allow"})");
  CHECK(fixture.required_file.needs_partition().error().text().ends_with(
      "withoutPartition: expected refuse, got \"allow\""));
}

TEST_CASE("without a mark no agent is asked") {
  AgentFixture fixture;
  fixture.agent.away = Error(Code::unavailable, "connection refused");
  CHECK_FALSE(fixture.check().value());
  CHECK(fixture.questions.empty());
}

TEST_CASE("without a mark the agent that a network names has to answer") {
  AgentFixture fixture;
  CHECK_FALSE(fixture.check(kSocket).value());
  fixture.agent.binder = &fixture.binder;
  CHECK(fixture.check(kSocket).value());
  CHECK(fixture.questions == std::vector<Path>{kSocket, kSocket});
  fixture.agent.away = Error(Code::unavailable, "connection refused");
  const Error error = fixture.check(kSocket).error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "agentSocket: the node's agent does not answer at /run/ibpod/agent.sock "
        "(connection refused): start ibpod-agent, or remove the key if the node has no agent");
}

TEST_CASE("with a mark the agent has to answer at the mark's socket") {
  AgentFixture fixture;
  REQUIRE(fixture.required_file.write(kSocket));
  CHECK_FALSE(fixture.check().value());
  fixture.agent.binder = &fixture.binder;
  CHECK(fixture.check(kSocket).value());
  CHECK(fixture.questions == std::vector<Path>{kSocket, kSocket});
  fixture.agent.away = Error(Code::unavailable, "connection refused");
  const Error error = fixture.check().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "this node attaches pods only while its agent runs (required by " +
            fixture.required_file.file().string() +
            "), but the agent does not answer at /run/ibpod/agent.sock "
            "(connection refused): start ibpod-agent, or set \"standalone\": "
            "\"allow\" in its configuration; if the node has no agent, remove the file");
}

TEST_CASE("a mark of the first version says where the agent is") {
  CHECK(AgentRequiredFile("tests/data/first_version/node").read().value() == kSocket);
}

TEST_CASE("a mark without a version is of the first one") {
  AgentFixture fixture;
  std::filesystem::create_directory(fixture.folder.path() / "state");
  fixture.folder.write("state/agent", R"({"agentSocket":"/run/ibpod/agent.sock"})");
  CHECK(fixture.required_file.read().value() == kSocket);
}

TEST_CASE("a mark of a newer version is one, and stays as it is") {
  const std::string text = R"({"version":2,"agents":["/run/ibpod/agent.sock"]})";
  AgentFixture fixture;
  std::filesystem::create_directory(fixture.folder.path() / "state");
  fixture.folder.write("state/agent", text);
  const std::string why = fixture.required_file.file().string() +
                          ": version 2 is too new: this program reads up to version 1; run the "
                          "newer ibpod that wrote it (the file is unchanged)";
  CHECK(fixture.required_file.read().error().text() == why);
  CHECK(fixture.required_file.write(kSocket).error().text() == why);
  CHECK(fixture.required_file.remove().error().text() == why);
  const Error error = fixture.check().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().find(why) != std::string::npos);
  CHECK_FALSE(fixture.check(kSocket));
  CHECK(fixture.questions.empty());
  CHECK(read_file(fixture.required_file.file()).value() == text);
}

TEST_CASE("a mark that cannot be understood is one, and names its file") {
  for (const char* text : {"", "{", "[]", "{}", R"({"version":0,"agentSocket":"/a"})",
                           R"({"agentSocket":7})", R"({"agentSocket":"agent.sock"})"}) {
    CAPTURE(text);
    AgentFixture fixture;
    std::filesystem::create_directory(fixture.folder.path() / "state");
    fixture.folder.write("state/agent", text);
    CHECK(fixture.required_file.read().error().text().starts_with(
        fixture.required_file.file().string()));
    const Error error = fixture.check().error();
    CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
    CHECK(error.text().find("its socket is not known: ") != std::string::npos);
    CHECK(fixture.questions.empty());
    CHECK_FALSE(fixture.check(kSocket));
    REQUIRE(fixture.required_file.write(kSocket));
    CHECK(fixture.check());
  }
}

TEST_CASE("a network leads neither past the mark nor to another agent") {
  AgentFixture fixture;
  const AgentRequiredFile other(fixture.folder.path() / "other");
  CHECK(AgentRequiredFile::effective(fixture.folder.path() / "other", fixture.state).file() ==
        other.file());
  REQUIRE(fixture.required_file.write(kSocket));
  CHECK(AgentRequiredFile::effective(fixture.folder.path() / "other", fixture.state).file() ==
        fixture.required_file.file());
  const Error folder = fixture.check(fixture.folder.path() / "other", {}).error();
  CHECK(folder.code() == Code::invalid);
  CHECK(folder.text() == "stateDir: " + (fixture.folder.path() / "other").string() +
                             ": this node's agent keeps its records in " + fixture.state.string() +
                             ": remove the key");
  CHECK_FALSE(fixture.check(fixture.state / "", {}).value());  // the same folder
  fixture.questions.clear();
  const Error socket = fixture.check("/run/other.sock").error();
  CHECK(socket.code() == Code::invalid);
  CHECK(socket.text() ==
        "agentSocket: /run/other.sock: this node's agent answers at /run/ibpod/agent.sock: remove "
        "the key");
  CHECK(fixture.questions.empty());
  REQUIRE(other.write("/run/other.sock"));  // written by that folder's owner
  CHECK(AgentRequiredFile::effective(fixture.folder.path() / "other", fixture.state).file() ==
        fixture.required_file.file());
}

}  // namespace
}  // namespace ibpod::attach
