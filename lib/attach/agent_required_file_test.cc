#include "lib/attach/agent_required_file.h"

#include "lib/cni/errors.h"
#include "tests/support/fake_agent.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const Path kSocket = "/run/ibpod/agent.sock";

struct Bed {
  TempFolder folder;
  Path state = folder.path() / "state";
  AgentMark mark{state};
  fake::FakeKernel kernel;
  fake::FakeBinder binder{kernel, folder.path()};
  fake::FakeAgent agent;
  std::vector<Path> asked;

  // Of a network with a stateDir, or an agentSocket, of its own.
  Result<bool> check(const Path& socket = {}) { return check(state, socket); }
  Result<bool> check(const Path& state_folder, const Path& agent_socket) {
    Settings settings;
    settings.state_folder = state_folder;
    settings.agent_socket = agent_socket;
    const auto connect = [this](const Path& socket) -> std::unique_ptr<nodeapi::Node> {
      asked.push_back(socket);
      return std::make_unique<fake::FakeAgent>(agent);
    };
    return check_agent(mark, settings, connect, Deadline::in(Duration(1000)));
  }
};

TEST_CASE("a mark says where the agent is, until it is removed") {
  Bed bed;
  CHECK(bed.mark.read().value() == std::nullopt);
  REQUIRE(bed.mark.remove());
  REQUIRE(bed.mark.write("/run/one.sock"));
  CHECK(bed.mark.read().value() == Path("/run/one.sock"));
  REQUIRE(bed.mark.write(kSocket));
  REQUIRE(bed.mark.write(kSocket));
  CHECK(bed.mark.read().value() == kSocket);
  CHECK(bed.mark.file().filename() == "agent");
  REQUIRE(bed.mark.remove());
  REQUIRE(bed.mark.remove());
  CHECK(bed.mark.read().value() == std::nullopt);
}

TEST_CASE(
    "a mark says whether a network has to name a partition, one of an earlier agent does not") {
  Bed bed;
  CHECK_FALSE(bed.mark.needs_partition().value());
  REQUIRE(bed.mark.write(kSocket));
  CHECK_FALSE(bed.mark.needs_partition().value());
  REQUIRE(bed.mark.write(kSocket, true));
  CHECK(bed.mark.needs_partition().value());
  CHECK(bed.mark.read().value() == kSocket);
  REQUIRE(bed.mark.write(kSocket));
  CHECK_FALSE(bed.mark.needs_partition().value());
  CHECK_FALSE(AgentMark("tests/data/first_version/node").needs_partition().value());
  bed.folder.write("state/agent", R"({"agentSocket":"/a.sock","withoutPartition":"allow"})");
  CHECK(bed.mark.needs_partition().error().text().ends_with(
      "withoutPartition: expected refuse, got \"allow\""));
}

TEST_CASE("without a mark nobody is asked") {
  Bed bed;
  bed.agent.away = Error(Code::unavailable, "nobody listens");
  CHECK_FALSE(bed.check().value());
  CHECK(bed.asked.empty());
}

TEST_CASE("without a mark the agent that a network names has to answer") {
  Bed bed;
  CHECK_FALSE(bed.check(kSocket).value());
  bed.agent.binder = &bed.binder;
  CHECK(bed.check(kSocket).value());
  CHECK(bed.asked == std::vector<Path>{kSocket, kSocket});
  bed.agent.away = Error(Code::unavailable, "nobody listens");
  const Error error = bed.check(kSocket).error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "agentSocket: the node's agent does not answer at /run/ibpod/agent.sock (nobody listens): "
        "start ibpod-agent, or leave the key out where there is to be none");
}

TEST_CASE("with a mark the agent has to answer at the mark's socket") {
  Bed bed;
  REQUIRE(bed.mark.write(kSocket));
  CHECK_FALSE(bed.check().value());
  bed.agent.binder = &bed.binder;
  CHECK(bed.check(kSocket).value());
  CHECK(bed.asked == std::vector<Path>{kSocket, kSocket});
  bed.agent.away = Error(Code::unavailable, "nobody listens");
  const Error error = bed.check().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "nothing is attached on this node while its agent is away (" + bed.mark.file().string() +
            " says so), and it does not answer at /run/ibpod/agent.sock (nobody listens): start "
            "ibpod-agent, or have it allow this with \"standalone\": \"allow\" in its "
            "configuration; where there is to be no agent, remove the file");
}

TEST_CASE("a mark of the first version says where the agent is") {
  CHECK(AgentMark("tests/data/first_version/node").read().value() == kSocket);
}

TEST_CASE("a mark without a version is of the first one") {
  Bed bed;
  std::filesystem::create_directory(bed.folder.path() / "state");
  bed.folder.write("state/agent", R"({"agentSocket":"/run/ibpod/agent.sock"})");
  CHECK(bed.mark.read().value() == kSocket);
}

TEST_CASE("a mark of a newer version is one, and stays as it is") {
  const std::string text = R"({"version":2,"agents":["/run/ibpod/agent.sock"]})";
  Bed bed;
  std::filesystem::create_directory(bed.folder.path() / "state");
  bed.folder.write("state/agent", text);
  const std::string why =
      bed.mark.file().string() +
      ": its version is 2, and this program reads none above 1: a newer ibpod wrote it (run that "
      "one again; the file is left as it is)";
  CHECK(bed.mark.read().error().text() == why);
  CHECK(bed.mark.write(kSocket).error().text() == why);
  CHECK(bed.mark.remove().error().text() == why);
  const Error error = bed.check().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text().find(why) != std::string::npos);
  CHECK_FALSE(bed.check(kSocket));
  CHECK(bed.asked.empty());
  CHECK(read_file(bed.mark.file()).value() == text);
}

TEST_CASE("a mark that cannot be understood is one, and names its file") {
  for (const char* text : {"", "{", "[]", "{}", R"({"version":0,"agentSocket":"/a"})",
                           R"({"agentSocket":7})", R"({"agentSocket":"agent.sock"})"}) {
    CAPTURE(text);
    Bed bed;
    std::filesystem::create_directory(bed.folder.path() / "state");
    bed.folder.write("state/agent", text);
    CHECK(bed.mark.read().error().text().starts_with(bed.mark.file().string()));
    const Error error = bed.check().error();
    CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
    CHECK(error.text().find("where to ask is not known: ") != std::string::npos);
    CHECK(bed.asked.empty());
    CHECK_FALSE(bed.check(kSocket));
    REQUIRE(bed.mark.write(kSocket));
    CHECK(bed.check());
  }
}

TEST_CASE("a network leads neither past the mark nor to another agent") {
  Bed bed;
  const AgentMark other(bed.folder.path() / "other");
  CHECK(AgentMark::that_holds(bed.folder.path() / "other", bed.state).file() == other.file());
  REQUIRE(bed.mark.write(kSocket));
  CHECK(AgentMark::that_holds(bed.folder.path() / "other", bed.state).file() == bed.mark.file());
  const Error folder = bed.check(bed.folder.path() / "other", {}).error();
  CHECK(folder.code() == Code::invalid);
  CHECK(folder.text() == "stateDir: " + (bed.folder.path() / "other").string() +
                             ": this node's agent keeps its records in " + bed.state.string() +
                             ": leave the key out");
  CHECK_FALSE(bed.check(bed.state / "", {}).value());  // the same one
  bed.asked.clear();
  const Error socket = bed.check("/run/other.sock").error();
  CHECK(socket.code() == Code::invalid);
  CHECK(socket.text() ==
        "agentSocket: /run/other.sock: this node's agent answers at /run/ibpod/agent.sock: leave "
        "the key out");
  CHECK(bed.asked.empty());
  REQUIRE(other.write("/run/other.sock"));  // by whoever has that folder
  CHECK(AgentMark::that_holds(bed.folder.path() / "other", bed.state).file() == bed.mark.file());
}

}  // namespace
}  // namespace ibpod::attach
