// Reports from nodes that are trusted, and their possible effects.
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

struct Blue : Fixture {
  Blue() { partition("blue"); }
  // The log lines that contain `part`.
  size_t lines(const std::string& part) const {
    std::istringstream all(read_file(folder.path() / "log").value());
    size_t found = 0;
    for (std::string line; std::getline(all, line);) found += line.find(part) != line.npos ? 1 : 0;
    return found;
  }
  bool shows(const std::string& metric) {
    return telemetry.metrics().text().find("\n" + metric + "\n") != std::string::npos;
  }
  std::string plan_of(const fabric::Partition& partition) {
    std::string notes;
    controller->set_time(now());
    controller->calls().plan(kAdministrator,
                             {.partition = partition, .without = {}, .update = true},
                             [&](const Result<v1::PlanResponse>& plan) {
                               for (const std::string& note : plan.value().notes())
                                 notes += note + "\n";
                             });
    tick();
    return notes;
  }
  std::string explanation_of(const std::string& subject) {
    std::string findings;
    controller->set_time(now());
    controller->calls().explain(kAdministrator, {{subject}},
                                [&](const Result<fabricapi::Explanation>& explanation) {
                                  for (const auto& one : explanation.value().subjects)
                                    for (const std::string& finding : one.findings)
                                      findings += finding + "\n";
                                });
    tick();
    return findings;
  }
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE_FIXTURE(Blue, "a node that a partition does not name is refused, warned of and counted") {
  fabric::Partition red;
  red.name = "red";
  red.membership = fabric::Membership::full;
  red.allowed = {"*"};
  red.nodes = {"n2"};
  create(red);
  CHECK(bind(kNode1, request(kVf1, "red")) == "denied");
  CHECK(last.ends_with("may be in"));
  CHECK(lines("partition red does not allow this node") == 1);
  CHECK(shows("ibpod_sm_wrong_node_binds_total 1"));
  CHECK(bind(kNode1, request(kVf1, "nowhere")) == "denied");
  CHECK(shows("ibpod_sm_wrong_node_binds_total 1"));
  CHECK(bind(kNode2, request(kVf3, "red", "c1", "n2")).empty());
}

TEST_CASE_FIXTURE(Blue, "a node's first pod of a namespace that others have is in the audit log") {
  fabricapi::BindRequest one = request(kVf1, "blue");
  bind(kNode1, one);
  CHECK_MESSAGE(lines("first binding") == 0, "no other node has that namespace");
  fabricapi::BindRequest other = request(kVf3, "blue", "c1", "n2");
  bind(kNode2, other);
  CHECK(lines("\"audit\":\"first binding\"") == 1);
  CHECK(shows("ibpod_sm_first_bindings_total 1"));
  bind(kNode2, other);
  CHECK(lines("first binding") == 1);
  // The state on disk is known at the next start.
  restart();
  fabricapi::BindRequest second = request(kVf2, "blue", "c2");
  bind(kNode1, second);
  CHECK(lines("first binding") == 1);
  second = request(kVf2, "blue", "c3");
  second.pod.name_space = "another";
  unbind(kNode1, {"n1", "c2", "net1"});
  settle();
  bind(kNode1, second);
  CHECK(lines("first binding") == 1);
}

TEST_CASE_FIXTURE(Blue, "a first binding that could not be put on disk is reported when it is") {
  bind(kNode1, request(kVf1, "blue"));
  const fabricapi::BindRequest other = request(kVf3, "blue", "c1", "n2");
  store.fail_at(0, FakeStore::Failure::full);
  CHECK(!bind(kNode2, other).empty());
  CHECK(lines("first binding") == 0);
  store.fail_no_more();
  CHECK(bind(kNode2, other).empty());
  CHECK(lines("first binding") == 1);
}

TEST_CASE_FIXTURE(Blue, "a node with more namespaces than are remembered is reported, once") {
  changes.burst = 2000;
  restart();
  const auto bind_in = [&](size_t number) {
    const std::string container = "c" + std::to_string(number);
    fabricapi::BindRequest one = request(kVf1, "blue", container);
    one.pod.name_space = "ns" + std::to_string(number);
    bind(kNode1, one);
    unbind(kNode1, {"n1", container, "net1"});
    settle();
  };
  for (size_t n = 0; n < NamespaceHistory::kMostOfNode; ++n) bind_in(n);
  CHECK(lines("has had pods of more namespaces") == 0);
  for (size_t n = 0; n < 3; ++n) bind_in(NamespaceHistory::kMostOfNode + n);
  CHECK(lines("node n1 has had pods of more namespaces") == 1);
  CHECK(shows("ibpod_sm_first_bindings_total 3"));
}

TEST_CASE_FIXTURE(Blue,
                  "the number of bindings on ports that no scan has found is limited per node") {
  limits.unseen_of_node = 1;
  ports.erase(kVf1);
  ports.erase(kVf2);
  restart();
  settle();
  read(true);
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  CHECK(bind(kNode1, request(kVf2, "blue", "c2")) == "busy");
  for (const char* word : {"node n1", "1 bindings", "reached (1)", "limits.unseenPortsOfNode"})
    CHECK_MESSAGE(has(last, word), last);
  CHECK_MESSAGE(bind(kNode1, request(kVf1, "blue")).empty(), "it has that one already");
  CHECK_MESSAGE(bind(kNode2, request(kVf3, "blue", "c1", "n2")).empty(),
                "another node has its own");
  ports[kVf2] = {};
  read(true);
  CHECK(bind(kNode1, request(kVf2, "blue", "c2")).empty());
}

TEST_CASE_FIXTURE(Blue, "repeated calls that change nothing do not fill the log") {
  for (int n = 0; n < 100; ++n) bind(kNode1, request(kVf1, "blue"));
  CHECK(lines("\"audit\":\"bind\"") <= 12);
  for (int n = 0; n < 100; ++n) unbind(kNode1, {"n1", "none", "net1"});
  CHECK(lines("\"audit\":\"unbind\"") <= 12);
}

TEST_CASE_FIXTURE(
    Blue, "a change that no longer allows existing members is planned with a note, and explained") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  read(true);
  fabric::Partition blue = registry->partitions.view().find("blue")->spec;
  CHECK_FALSE(has(plan_of(blue), "no longer allowed"));
  CHECK_FALSE(has(explanation_of(kVf1.text()), "not open"));
  blue.nodes = {"n2"};
  CHECK(has(plan_of(blue), "1 bindings are no longer allowed (by namespace or node)"));
  controller->calls().update_partition(kAdministrator, blue, [](const auto&) {});
  tick();
  CHECK(has(explanation_of(kVf1.text()),
            "partition blue is no longer open to this namespace on this node"));
}

TEST_CASE_FIXTURE(Blue, "a fault of a port at the subnet manager is explained, once") {
  using Kind = engine::PortFault::Kind;
  engine.faults = {{kVf3, Kind::not_added, "the subnet manager refuses it"},
                   {kVf1, Kind::not_removed, "it is still a member"}};
  CHECK(has(explanation_of(kVf3.text()), "the subnet manager refuses it\n"));
  CHECK_FALSE(has(explanation_of(kVf3.text()), "it is still a member"));
  bind(kNode1, request(kVf1, "blue"));
  engine_says();
  settle();
  const std::string findings = explanation_of(kVf1.text());
  const size_t first = findings.find("it is still a member");
  REQUIRE(first != findings.npos);
  CHECK(findings.find("it is still a member", first + 1) == findings.npos);
}

}  // namespace
}  // namespace ibpod::sm::controller::test
