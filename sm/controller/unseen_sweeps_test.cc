// An engine whose subnet manager's sweeps are not seen, and which has faults of single ports: what
// ibpod-sm promises with it, and when.
#include "sm/controller/test_fixture.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller::test {
namespace {

using engine::PortFault;
using fabric::BindingState;
using fabric::Reason;

const fabric::Attachment kC1{"n1", "c1", "net1"};

struct Unseen : Fixture {
  Unseen() {
    engine.follows_sweeps = engine.repairs = false;
    partition("blue");
    partition("red");
    settle();
  }
  void set_faults(std::vector<PortFault> faults) {
    engine.faults = std::move(faults);
    engine_says();
  }
  // The partitions are in place and in the tables; that a sweep has read them is not known yet.
  void write_placed() {
    place();
    write_tables();
    read();
  }
};

TEST_CASE_FIXTURE(Unseen, "a Bind is answered by the port's table, without waiting for a sweep") {
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  write_placed();
  CHECK(engine.now.swept < engine.now.placed);
  CHECK(answers.back() == "verified");
  CHECK(binding(kC1).proof == fabric::Proof::port);
}

TEST_CASE_FIXTURE(Unseen, "the first Bind of a process does not wait for a sweep either") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  engine.now.placed = engine.now.swept = 0;
  restart();
  engine_says();
  CHECK(bind(kNode1, request(kVf2, "blue", "c2")).empty());
  write_placed();
  CHECK(engine.now.swept == 0);
  CHECK(answers.back() == "verified");
}

TEST_CASE_FIXTURE(Unseen, "a key counts as removed only after a sweep") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  SUBCASE("of an Unbind") {
    CHECK(unbind(kNode1, kC1).empty());
    write_placed();
    CHECK(answers.back().empty());
    CHECK(binding(kC1).state == BindingState::releasing);
    end_sweep();
    CHECK_MESSAGE(answers.back().empty(), "the table was read before it");
    read();
    CHECK(answers.back() == "released");
  }
  SUBCASE("of a Bind with another partition, which has its keys only after that") {
    CHECK(bind(kNode1, request(kVf1, "red")).empty());
    write_placed();
    CHECK(binding(kC1).applied.empty());
    end_sweep();
    read();
    CHECK(binding(kC1).applied.size() == 1);
    CHECK(answers.back().empty());
    write_placed();
    CHECK(answers.back() == "verified");
  }
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(Unseen, "a table that stays wrong is reported, and not written by ibpod-sm") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  ports[kVf1].table[5] = ib::PKey(0x8077);
  read(true);
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(binding(kC1).condition.reason == Reason::foreign_key);
  CHECK(tables.repairs.empty());
}

TEST_CASE_FIXTURE(Unseen, "a port that is not added shows why, while it is not verified") {
  bind(kNode1, request(kVf1, "blue"));
  bind(kNode1, request(kVf2, "blue", "c2"));
  set_faults({{kVf1, PortFault::Kind::not_added, "UFM refuses the port"}});
  CHECK(binding(kC1).condition == fabric::Condition{Reason::misconfigured, "UFM refuses the port"});
  CHECK(binding(kC1).state == BindingState::requested);
  place();
  write_tables();
  ports[kVf1].table = table_of({});
  read();
  CHECK_MESSAGE(answers.back() == "verified", "the other port's");
  CHECK(answers.front().empty());
  end_sweep();
  read();
  CHECK(binding(kC1).condition.text == "UFM refuses the port; its P_Key table lacks 0x8001");
  write_tables();
  read();
  CHECK(answers.front() == "verified");
  CHECK(binding(kC1).condition == fabric::Condition{});
  set_faults({});
  CHECK(binding(kC1).condition == fabric::Condition{});
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Unseen, "no port is verified in a P_Key that another client has, nor stays so") {
  const std::string taken = "another client has P_Key 0x0001";
  engine.faults_of_partitions = {{ib::PKey(1), taken}};
  engine_says();
  bind(kNode1, request(kVf1, "blue"));
  write_placed();
  CHECK_MESSAGE(answers.back().empty(), "its table has the key, which was written before");
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(binding(kC1).condition == fabric::Condition{Reason::foreign_key, taken});
  end_sweep();
  read();
  CHECK(answers.back().empty());
  bind(kNode1, request(kVf2, "red", "c2"));
  write_placed();
  CHECK_MESSAGE(answers.back() == "verified", "the other partition's");
  engine.faults_of_partitions = {};
  engine_says();
  read();
  CHECK(answers.front() == "verified");
  engine.faults_of_partitions = {{ib::PKey(1), taken}};
  engine_says();
  CHECK(binding(kC1).state == BindingState::written);
  CHECK(binding(kC1).condition.text == taken);
  unbind(kNode1, kC1);
  settle();
  read();
  CHECK(answers.back() == "released");
}

TEST_CASE_FIXTURE(Unseen, "the end of a fault ends the condition") {
  bind(kNode1, request(kVf1, "blue"));
  set_faults({{kVf1, PortFault::Kind::not_added, "UFM refuses the port"}});
  set_faults({});
  CHECK(binding(kC1).condition == fabric::Condition{Reason::waiting, ""});
}

TEST_CASE_FIXTURE(Unseen, "a port that is not removed is not released, whatever its table shows") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  unbind(kNode1, kC1);
  set_faults({{kVf1, PortFault::Kind::not_removed, "UFM still shows the port"}});
  settle();
  read();
  CHECK(answers.back().empty());
  CHECK(binding(kC1).state == BindingState::releasing);
  CHECK(binding(kC1).condition.text == "UFM still shows the port");
  set_faults({});
  read();
  CHECK(answers.back() == "released");
}

TEST_CASE_FIXTURE(Unseen,
                  "after a loss every port is verified again, without waiting for a sweep") {
  bind(kNode1, request(kVf1, "blue"));
  settle();
  ++engine.now.losses;
  engine.now.placed = engine.now.swept = 0;
  engine_says();
  CHECK(binding(kC1).state == BindingState::written);
  read();
  CHECK(binding(kC1).state == BindingState::written);
  write_placed();
  CHECK(engine.now.swept == 0);
  CHECK(binding(kC1).state == BindingState::verified);
}

TEST_CASE_FIXTURE(Unseen, "partitions of others do not count in the size of a file that is none") {
  fabric::PartitionDefinition theirs;
  theirs.name = "storage";
  theirs.pkey = ib::PKey(0x0900);
  theirs.members.assign(600'000, {kChosen, fabric::Membership::full});
  engine.manual = {theirs};
  engine.manual_section = false;
  engine_says();
  CHECK(bind(kNode1, request(kVf1, "blue")).empty());
  engine.manual_section = true;
  CHECK(bind(kNode1, request(kVf2, "blue", "c2")) == "busy");
}

}  // namespace
}  // namespace ibpod::sm::controller::test
