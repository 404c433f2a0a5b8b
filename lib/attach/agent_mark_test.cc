#include "lib/attach/agent_mark.h"

#include "lib/cni/errors.h"
#include "tests/support/fake_agent.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::attach {
namespace {

const Path kSocket = "/run/ibpod/agent.sock";

struct Bed {
  TempFolder folder;
  AgentMark mark{folder.path() / "state"};
  fake::FakeAgent agent;
  std::vector<Path> asked;

  Status check(const Path& given = {}) {
    const auto connect = [this](const Path& socket) -> std::unique_ptr<nodeapi::Node> {
      asked.push_back(socket);
      return std::make_unique<fake::FakeAgent>(agent);
    };
    return check_agent(mark, given, connect, Deadline::in(Duration(1000)));
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

TEST_CASE("without a mark nobody is asked") {
  Bed bed;
  bed.agent.away = Error(Code::unavailable, "nobody listens");
  CHECK(bed.check());
  CHECK(bed.asked.empty());
}

TEST_CASE("with a mark the agent has to answer: at the plugin's socket, or else at the mark's") {
  Bed bed;
  REQUIRE(bed.mark.write(kSocket));
  CHECK(bed.check());
  CHECK(bed.check("/run/other.sock"));
  CHECK(bed.asked == std::vector<Path>{kSocket, "/run/other.sock"});
  bed.agent.away = Error(Code::unavailable, "nobody listens");
  const Error error = bed.check().error();
  CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
  CHECK(error.text() ==
        "nothing is attached on this node while its agent is away (" + bed.mark.file().string() +
            " says so), and it does not answer at /run/ibpod/agent.sock (nobody listens): start "
            "ibpod-agent, or have it allow this with \"standalone\": \"allow\" in its "
            "configuration; where there is to be no agent, remove the file");
}

TEST_CASE("a mark that cannot be understood is one, and names its file") {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"agentSocket":7})", R"({"agentSocket":"agent.sock"})"}) {
    CAPTURE(text);
    Bed bed;
    std::filesystem::create_directory(bed.folder.path() / "state");
    bed.folder.write("state/agent", text);
    CHECK(bed.mark.read().error().text().starts_with(bed.mark.file().string()));
    const Error error = bed.check().error();
    CHECK(cni::failure_of(error).code == cni::kTryAgainLater);
    CHECK(error.text().find("where to ask is not known: ") != std::string::npos);
    CHECK(bed.asked.empty());
    CHECK(bed.check(kSocket));
    REQUIRE(bed.mark.write(kSocket));
    CHECK(bed.check());
  }
}

}  // namespace
}  // namespace ibpod::attach
