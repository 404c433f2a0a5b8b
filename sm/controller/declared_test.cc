// Declared partitions, from their file to the registry.
#include "lib/base/join.h"
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

const fabric::Attachment kC1{"n1", "c1", "net1"};

struct DeclaredBed : Fixture {
  void declare(const std::string& entries) {
    const auto read = partitions::read_declared(R"({"partitions": [)" + entries + "]}");
    REQUIRE(read);
    controller->set_time(now());
    controller->declare(*read);
    tick();
  }
  // The declared partitions, and those that are being deleted: "blue red(deleting)".
  std::string there() const {
    std::string text;
    for (const auto& status : registry->partitions.view().list({}).value().items)
      add_item(
          text, " ",
          status.spec.name +
              (status.state == fabric::PartitionState::deleting ? "(deleting)" : "") +
              (status.declared || status.state == fabric::PartitionState::deleting ? ""
                                                                                   : "(free)"));
    return text;
  }
};

constexpr const char* kRed = R"({"name": "red", "pkey": "0x1001", "allowed": ["*"]})";
constexpr const char* kCrimson = R"({"name": "crimson", "pkey": "0x1001", "allowed": ["*"]})";

TEST_CASE_FIXTURE(DeclaredBed, "a partition with another one's key is made when that is gone") {
  declare(kRed);
  settle();
  CHECK(there() == "red");
  declare(kCrimson);
  CHECK(there() == "red(deleting)");
  settle();
  CHECK(there() == "crimson");
  restart();
  CHECK(there() == "crimson");
}

TEST_CASE_FIXTURE(DeclaredBed, "a partition that a pod is in goes when the pod has left") {
  declare(kRed);
  settle();
  bind(kNode1, request(kVf1, "red"));
  settle();
  CHECK(answers.back() == "verified");
  declare("");
  CHECK(there() == "red");
  unbind(kNode1, kC1);
  CHECK(there() == "red");
  settle();
  CHECK(answers.back() == "released");
  settle();
  CHECK(there().empty());
}

TEST_CASE_FIXTURE(DeclaredBed, "what could not be put on disk is declared again by itself") {
  for (const auto failure : {FakeStore::Failure::full, FakeStore::Failure::lost}) {
    declare("");
    settle();
    store.fail_at(0, failure);
    declare(kRed);
    CHECK(there().empty());
    CHECK(engine.wanted->size() == 1);
    REQUIRE(controller->due());
    ms = static_cast<int>(
        std::chrono::floor<Duration>(controller->due()->time_since_epoch()).count());
    tick();
    CHECK(there() == "red");
    CHECK(engine.wanted->size() == 2);
  }
}

TEST_CASE_FIXTURE(DeclaredBed, "one that cannot be put on disk keeps nothing else from it") {
  store.fail_at(1, FakeStore::Failure::full);
  controller->set_time(now());
  controller->declare(*partitions::read_declared(R"({"partitions": [)" + std::string(kRed) + "]}"));
  partition("mine");
  CHECK(last == "ok");
  CHECK(there() == "mine(free)");
}

TEST_CASE_FIXTURE(DeclaredBed, "what the engine could not enforce stays as it was until it can") {
  declare(kRed);
  engine.refusal = "no groups";
  declare(R"({"name": "red", "pkey": "0x1001", "ipoib": true}, {"name": "blue"})");
  CHECK(there() == "red");
  CHECK_FALSE(registry->partitions.view().find("red")->spec.ipoib.has_value());
  engine.refusal.clear();
  engine_says();
  CHECK(there() == "blue red");
  CHECK(registry->partitions.view().find("red")->spec.ipoib == true);
}

TEST_CASE_FIXTURE(DeclaredBed, "no partition is removed while an entry does not say which it is") {
  declare(std::string(kRed) + R"(, {"name": "blue"})");
  CHECK(there() == "blue red");
  declare(R"({"nmae": "blue"}, {"name": "green"})");
  CHECK(there() == "blue green red");
  declare(R"({"name": "blue", "sl": 99}, {"name": "green"})");
  CHECK(there() == "blue green red(deleting)");
}

// Doctor, a metric and `partition get` report the faults of the file.
struct FaultyBed : DeclaredBed {
  fabric::PartitionStatus get(const std::string& name) {
    fabric::PartitionStatus found;
    controller->calls().list_partitions(kReader, {}, [&](const auto& listed) {
      REQUIRE(listed);
      for (const auto& one : listed->items)
        if (one.spec.name == name) found = one;
    });
    tick();
    return found;
  }
  std::string finding() {
    std::string text;
    controller->calls().health(kReader, [&](const Result<v1::FabricHealthResponse>& health) {
      for (const v1::FabricHealthResponse::Finding& one : health->findings())
        if (one.subject() == "declared partitions") text = one.text();
    });
    tick();
    return text;
  }
  std::string good() {
    controller->update_metrics();
    const std::string metrics = telemetry.metrics().text();
    const size_t at = metrics.find("\nibpod_sm_declared_file_good ");
    return at == metrics.npos ? "" : metrics.substr(at + 29, 1);
  }
  const fabricapi::Caller kReader{fabricapi::Role::reader, "", "reader"};
};

TEST_CASE_FIXTURE(FaultyBed, "what a file says wrong is found by doctor, a metric and get") {
  CHECK(good().empty());
  declare(R"({"name": "green"}, {"name": "blue", "pkey": "0x7fff"})");
  CHECK(good() == "0");
  CHECK_MESSAGE(finding().find("partitions[1].pkey: ") != std::string::npos, finding());
  const fabric::PartitionStatus blue = get("blue");
  CHECK(blue.declared);
  CHECK(blue.state == fabric::PartitionState::error);
  CHECK(blue.condition.reason == fabric::Reason::misconfigured);
  CHECK(blue.condition.text.find("rejected: partitions[1].pkey: ") != std::string::npos);
  CHECK(get("green").condition.reason != fabric::Reason::misconfigured);
  declare(R"({"name": "green"}, {"name": "blue"})");
  CHECK(good() == "1");
  CHECK(finding().empty());
  CHECK(get("blue").state == fabric::PartitionState::provisioning);
}

TEST_CASE_FIXTURE(FaultyBed, "what cannot be done is named by the file's own keys") {
  partition("mine");
  declare(R"({"name": "green"}, {"name": "blue", "pkey": "0x0001"})");
  CHECK_MESSAGE(get("blue").condition.text.find("rejected: partitions[1]") != std::string::npos,
                get("blue").condition.text);
  CHECK(good() == "0");
  declare(R"({"name": "green"}, {"name": "blue", "pkey": "0x1001"})");
  CHECK(get("blue").condition.reason != fabric::Reason::misconfigured);
  engine.refusal = "the engine says so";
  declare(R"({"name": "green", "ipoib": true}, {"name": "blue", "pkey": "0x1001"})");
  CHECK(get("green").state != fabric::PartitionState::error);
  CHECK(get("green").condition.text ==
        "its declaration is rejected: partitions[0] (green): the engine says so");
  CHECK(finding().find("partitions[0] (green): the engine says so") != std::string::npos);
  engine.refusal.clear();
  engine_says();
  CHECK(good() == "1");
}

TEST_CASE_FIXTURE(FaultyBed,
                  "a partition admitted before the engine knew its P_Key is no ready one") {
  declare(R"({"name": "green", "pkey": "0x1001"}, {"name": "blue", "pkey": "0x1002"})");
  CHECK(get("green").state == fabric::PartitionState::provisioning);
  place();
  CHECK_MESSAGE(get("green").state == fabric::PartitionState::provisioning, "not swept yet");
  // The engine's first reading: what it has placed is all but that.
  engine.faults_of_partitions = {{ib::PKey(0x1001), "P_Key 0x1001 is in use"}};
  sweep();
  CHECK(get("green").state == fabric::PartitionState::error);
  CHECK(get("green").condition.reason == fabric::Reason::misconfigured);
  CHECK(get("green").condition.text == "P_Key 0x1001 is in use");
  CHECK(get("blue").state == fabric::PartitionState::ready);
  engine.faults_of_partitions.clear();
  engine_says();
  CHECK(get("green").state == fabric::PartitionState::ready);
}

TEST_CASE_FIXTURE(FaultyBed, "a file that cannot be parsed is reported until it is corrected") {
  declare(kRed);
  controller->declared_unreadable("line 3, column 1: expected }");
  tick();
  CHECK(there() == "red");
  CHECK(good() == "0");
  CHECK(finding().find("line 3, column 1: expected }") != std::string::npos);
  declare(kRed);
  CHECK(good() == "1");
  CHECK(finding().empty());
}

TEST_CASE_FIXTURE(FaultyBed, "a service level that OpenSM would make 0 is refused by its key") {
  state::Policy given = policy();
  given.unsupported.sl = "OpenSM makes every service level 0 without qos: set opensm.qos to true";
  controller.reset();
  registry = bindings::Registries::load(store, std::move(given), now()).value();
  controller = std::make_unique<Controller>(
      Controller::Deps{*registry, engine, tables, telemetry, [this] { return now().steady; }},
      ControllerSettings{.epoch = "sl"}, now());
  declare(R"({"name": "green", "sl": 0}, {"name": "blue", "sl": 2})");
  CHECK_MESSAGE(get("blue").condition.text.find(
                    "partitions[1].sl: 2, and OpenSM makes every service level 0 without qos: set "
                    "opensm.qos to true") != std::string::npos,
                get("blue").condition.text);
  CHECK(get("green").state == fabric::PartitionState::provisioning);
}

TEST_CASE_FIXTURE(DeclaredBed, "without a file what one has declared is for requests to change") {
  declare(kRed);
  declares = false;
  for (const auto failure : {FakeStore::Failure::full, FakeStore::Failure::lost}) {
    store.fail_at(0, failure);
    restart();
    CHECK(there() == "red");
  }
  tick(10'000);
  CHECK(there() == "red(free)");
  controller->calls().delete_partition(kAdministrator, "red",
                                       [&](const auto& deleted) { CHECK(deleted.ok()); });
  tick();
  restart();
  CHECK(there() == "red(deleting)");
}

}  // namespace
}  // namespace ibpod::sm::controller::test
