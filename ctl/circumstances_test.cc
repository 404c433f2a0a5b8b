// Every command in every circumstance that keeps it from what it is for: what it says, and how it
// ends. A script may go by the exit code, and `rm -rf` may come after it.
#include "ctl/connect.h"
#include "ctl/session.h"
#include "ctl/test_service.h"
#include "lib/fabricapi/test_fake_service.h"
#include "lib/nodeapi/client.h"

#include <sstream>

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

constexpr auto kNothing = "/nonexistent/agent.sock";

Outcome type(const std::string& line, Session& session) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  session.agent = nodeapi::connect;
  session.paths.agent = kNothing;
  if (!session.connect) session.connect = connect;
  return run(words, session);
}

// A command of the SM service's.
struct Row {
  const char* line;
  // A service that has none of the requested objects; and the message.
  int nothing;
  const char* said;
  // With a typo in it, and the word that is meant.
  const char* typo;
  const char* meant;
};

const Row kRows[] = {
    {"partition list", 0, "NAME", "partiton list", "partition"},
    {"partition get blue", kNotFound, "there is no partition blue", "partition gett blue", "get"},
    {"partition create blue", 0, "blue", "partition create blue --pkye 0x0101", "--pkey"},
    {"partition update blue --index0", kNotFound, "there is no partition blue",
     "partition update blue --indx0", "--index0"},
    {"partition delete blue", kNotFound, "there is no partition blue", "partition rm blue",
     "delete"},
    {"partition delete blue --forget-ports", kNotFound, "there is no partition blue",
     "partition delete blue --forget-port", "--forget-ports"},
    {"partition member add blue 0x0002c90300a1b2c3", kNotFound, "there is no partition blue",
     "partition member ad blue 0x1", "add"},
    {"partition member remove blue 0x0002c90300a1b2c3", kNotFound, "there is no partition blue",
     "partition members remove blue 0x1", "member"},
    {"plan", 0, "nothing would change", "paln", "plan"},
    {"plan partition create blue", 0, "nothing would change", "plan partition creat blue",
     "create"},
    {"plan partition update blue --index0", kNotFound, "there is no partition blue",
     "plan partiton update blue", "partition"},
    {"plan partition delete blue", kNotFound, "there is no partition blue",
     "plan partition delte blue", "delete"},
    {"plan partition member add blue 0x0002c90300a1b2c3", kNotFound, "there is no partition blue",
     "plan partition membr add blue", "member"},
    {"binding list", 0, "POD", "bindings list", "binding"},
    {"binding get n1 c1 net1", kNotFound, "there is no such binding", "binding show n1 c1 net1",
     "get"},
    {"binding release n1 c1 net1", kNotFound, "there is no such binding",
     "binding relase n1 c1 net1", "release"},
    {"node list", 0, "NODE", "node ls", "list"},
    {"node forget n1", kNotFound, "there is no node n1", "node forgt n1", "forget"},
    {"node forget n1 --force", kNotFound, "there is no node n1", "node forget n1 --forc",
     "--force"},
    {"explain team-a/web-0", kNotFound, "no binding of a pod of this name", "explian team-a/web-0",
     "explain"},
    {"explain 0x0002c90300a1b2c3", kNotFound, "no binding", "explain 0x1 --namespce a",
     "--namespace"},
};

void check(const Outcome& outcome, int exit, std::string_view said) {
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit == exit);
  const std::string all = exit == 0 ? outcome.out : outcome.err;
  CHECK(all.find(said) != all.npos);
  if (exit != 0) CHECK(outcome.out.empty());
  CHECK(outcome.err.find("error: error") == std::string::npos);
}

Outcome at(const Row& row, const SmAddress& address) {
  Session session;
  session.sm = address;
  return type(row.line, session);
}

TEST_CASE("what there is not is exit code 4, and an empty list none") {
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.line));
    test::State state;
    state.has_pods = false;
    Session session;
    session.connect = [&](const SmAddress&) -> Result<std::unique_ptr<Service>> {
      return std::unique_ptr<Service>(new test::StateService(state));
    };
    check(type(row.line, session), row.nothing, row.said);
  }
}

TEST_CASE("another fabric, no answer, no permission and no file have codes of their own") {
  fabricapi::Served<fabricapi::FakeService> fixture;
  fabricapi::Served<fabricapi::FakeService> strict;
  strict.service.denial = Error(Code::denied, "CN=guest has no role");
  SmAddress other, unreachable, denied, no_file;
  other.address = "unix:" + fixture.socket.string();
  other.fabric = "east";
  unreachable.address = "unix:/nonexistent/sm.sock";
  denied.address = "unix:" + strict.socket.string();
  no_file.address = "sm.example:7473";
  no_file.certificate = no_file.key = no_file.ca = "/nonexistent/admin.pem";
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.line));
    check(at(row, other), kOtherFabric, "fabric: expected \"default\", the fabric of this service");
    check(at(row, unreachable), kUnavailable, "/nonexistent/sm.sock");
    check(at(row, denied), kDenied, "CN=guest has no role");
    check(at(row, no_file), kOwnFiles, "/nonexistent/admin.pem: No such file or directory");
  }
}

// It keeps the last of those requests that can override a refusal.
struct Overridden : fabricapi::FakeService {
  Reactor* DeletePartition(Context* context, const v1::DeletePartitionRequest* request,
                           v1::Partition* response) override {
    deleted = *request;
    return FakeService::DeletePartition(context, request, response);
  }
  Reactor* ForgetNode(Context* context, const v1::ForgetNodeRequest* request,
                      v1::FabricNode* response) override {
    forgotten = *request;
    return FakeService::ForgetNode(context, request, response);
  }
  v1::DeletePartitionRequest deleted;
  v1::ForgetNodeRequest forgotten;
};

TEST_CASE("what overrides a refusal is asked of the service as it was typed, and not otherwise") {
  fabricapi::Served<Overridden> fixture;
  const Overridden& asked = fixture.service;
  SmAddress address;
  address.address = "unix:" + fixture.socket.string();
  const auto ask = [&](const char* line) {
    Session session;
    session.sm = address;
    CHECK(type(line, session).exit != kUsage);
  };
  ask("partition delete blue --forget-ports");
  CHECK(asked.deleted.name() == "blue");
  CHECK(asked.deleted.forget_ports());
  ask("partition delete blue");
  CHECK(asked.deleted.name() == "blue");
  CHECK_FALSE(asked.deleted.forget_ports());
  ask("node forget n1 --force");
  CHECK(asked.forgotten.node() == "n1");
  CHECK(asked.forgotten.force());
  ask("node forget n1");
  CHECK_FALSE(asked.forgotten.force());
}

// One that says that there is no such thing, and then something else.
struct Narrow : fabricapi::FakeService {
  Reactor* DeletePartition(Context* context, const v1::DeletePartitionRequest* request,
                           v1::Partition* response) override {
    return answer(context, request, response, []() -> Result<fabric::PartitionStatus> {
      return Error(Code::not_found, "there is no partition blue");
    });
  }
  Reactor* FabricHealth(Context* context, const v1::FabricHealthRequest* request,
                        v1::FabricHealthResponse* response) override {
    return answer(context, request, response,
                  [&]() -> Result<v1::FabricHealthResponse> { return second; });
  }
  Error second = Error(Code::internal, "");
};

TEST_CASE("where it cannot be told which fabric it is, nothing is told not to be there") {
  const auto ask = [](Error second, int exit, std::string_view said) {
    fabricapi::Served<Narrow> narrow;
    narrow.service.second = std::move(second);
    Session session;
    session.sm.address = "unix:" + narrow.socket.string();
    check(type("partition delete blue", session), exit, said);
  };
  ask(Error(Code::unavailable, "it ends"), kUnavailable, "it ends");
  // The caller has come through to the fabric that it means.
  ask(Error(Code::denied, "a node may not ask"), kNotFound, "there is no partition blue");
}

TEST_CASE("a typo is named, with the word that is meant") {
  Session session;
  session.connect = [](const SmAddress&) -> Result<std::unique_ptr<Service>> {
    FAIL("a typo must not reach the SM service");
    return Error(Code::internal, "");
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.typo));
    const Outcome outcome = type(row.typo, session);
    check(outcome, kUsage, "did you mean \"" + std::string(row.meant) + "\"?");
    CHECK(outcome.err.starts_with("error: unknown "));
  }
  for (const auto& [typo, said] :
       {std::pair{"get partitions", "unknown command \"get\" of `ibpodctl`: partition, "},
        std::pair{"help", "did you mean \"--help\"?"},
        std::pair{"version", "did you mean \"--version\"?"},
        std::pair{"-o json node list", "did you mean \"--json\"?"},
        std::pair{"partition completely", "of `ibpodctl partition`: list, get, create"},
        std::pair{"node list --xyzzy", "`ibpodctl node list --help`"}}) {
    CAPTURE(std::string(typo));
    check(type(typo, session), kUsage, said);
  }
}

// They ask this node's agent, and need neither a fabric nor a certificate.
TEST_CASE("this node's commands report an agent that does not answer, and name a typo") {
  Session session;
  for (const char* line : {"devices", "attachments", "explain 0000:3b:00.2"}) {
    CAPTURE(std::string(line));
    check(type(line, session), kUnavailable, "the node's agent at /nonexistent/agent.sock: ");
  }
  for (const auto& [typo, meant] : {std::pair{"device", "devices"},
                                    {"atachments", "attachments"},
                                    {"docter", "doctor"},
                                    {"doctor --al", "--all"}})
    check(type(typo, session), kUsage, "did you mean \"" + std::string(meant) + "\"?");
}

TEST_CASE("the doctor has exit codes of its own, and a remedy for each circumstance") {
  fabricapi::Served<fabricapi::FakeService> fixture;
  struct Case {
    std::string options;
    std::string_view said, remedy;
  };
  const Case cases[] = {
      {"--fabric east --sm unix:" + fixture.socket.string(), "fabric: expected \"default\"",
       "set --fabric or IBPOD_FABRIC to the fabric of"},
      {"--sm unix:/nonexistent/sm.sock", "/nonexistent/sm.sock", "check that ibpod-sm runs at"},
      {"--sm h:1 --certificate /nonexistent/c --key /nonexistent/k --ca /nonexistent/a",
       "/nonexistent/c", "set --certificate, --key and --ca"},
      {"--sm h:1", "requires TLS: set --certificate, --key and --ca", "set --sm to an address"},
  };
  for (const Case& test : cases) {
    Session session;
    const Outcome outcome = type("doctor --fabric-only " + test.options, session);
    INFO(outcome.out);
    CHECK(outcome.exit == 2);
    CHECK(outcome.out.find(test.said) != std::string::npos);
    CHECK(outcome.out.find(test.remedy) != std::string::npos);
  }
}

TEST_CASE("what can never be an address is wrong usage, and so is TLS without files") {
  for (const auto& [line, said] :
       {std::pair{"node list --sm nonsense", "--sm: expected unix:PATH or HOST:PORT"},
        std::pair{"node forget n1 --sm h:1", "--certificate: h:1 requires TLS"}}) {
    Session session;
    check(type(line, session), kUsage, said);
  }
}

}  // namespace
}  // namespace ibpod::ctl
