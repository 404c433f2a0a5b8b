#include "sm/state/staged_changes.h"

#include "sm/state/names.h"
#include "sm/state/state.h"
#include "sm/state/stored.h"

#include <doctest/doctest.h>

namespace ibpod::sm::state {
namespace {

using fabric::BindingState;

constexpr uint64_t kPort = 0x0002'c903'0000'0001;

fabric::Partition partition(const std::string& name) {
  fabric::Partition partition;
  partition.name = name;
  partition.pkey = ib::PKey(0x100);
  return partition;
}

fabric::Binding binding(const std::string& container) {
  fabric::Binding binding;
  binding.attachment = {"n1", container, "net1"};
  binding.guid = ib::Guid(kPort);
  return binding;
}

TEST_CASE("a record that changes again is written once, with its present value") {
  State state;
  StagedChanges staged;
  CHECK(staged.empty());
  PartitionRecord& blue = state.add(partition("blue"));
  staged.add(blue);
  blue.declared = true;
  staged.add(blue);
  CHECK(staged.count() == 2);
  CHECK_FALSE(staged.empty());
  const std::vector<RecordChange> written = staged.to_write(state.records());
  REQUIRE(written.size() == 1);
  CHECK(written[0].kind == RecordKind::partition);
  CHECK(written[0].key == "blue");
  REQUIRE(written[0].value);
  CHECK(partition_from(*written[0].value)->declared);
  CHECK(staged.take_bindings(state.records()).empty());
}

TEST_CASE("a removed record is written without a value") {
  State state;
  StagedChanges staged;
  PartitionRecord& blue = state.add(partition("blue"));
  staged.add(blue);
  state.remove(blue);
  BindingRecord& entry = state.add(binding("a"), {});
  staged.add(entry);
  state.remove(entry, {});
  staged.add(RecordKind::guid, ib::Guid(kPort).text());
  const std::vector<RecordChange> written = staged.to_write(state.records());
  CHECK(written.size() == 3);
  for (const RecordChange& change : written) CHECK_FALSE(change.value);
}

TEST_CASE("a node is stored while it has a PF or is being forgotten") {
  State state;
  StagedChanges staged;
  const auto is_stored = [&] {
    const std::vector<RecordChange> written = staged.to_write(state.records());
    REQUIRE(written.size() == 1);
    return written[0].value.has_value();
  };
  staged.add(RecordKind::node, "n1");
  CHECK_FALSE(is_stored());
  state.node("n1").last_contact = Steady{};
  CHECK_FALSE(is_stored());
  state.node("n1").forgetting = true;
  CHECK(is_stored());
  state.node("n1").forgetting = false;
  state.claim(ib::Guid(kPort), "n1");
  CHECK(is_stored());
}

TEST_CASE("the last P_Key and the last GUID of the pools are records, too") {
  State state;
  StagedChanges staged;
  state.set_last_pkey(0x12);
  state.set_last_guid(ib::Guid(kPort));
  staged.add(RecordKind::range, "pkeys");
  staged.add(RecordKind::range, "guids");
  const std::vector<RecordChange> written = staged.to_write(state.records());
  REQUIRE(written.size() == 2);
  CHECK(written[0].key == "guids");
  CHECK(last_from(*written[0].value).value() == kPort);
  CHECK(last_from(*written[1].value).value() == 0x12);
}

TEST_CASE("a binding is reported once, as it is now") {
  State state;
  StagedChanges staged;
  BindingRecord& entry = state.add(binding("a"), {});
  staged.add(entry);
  entry.binding.state = BindingState::written;
  staged.note_changed(entry);
  const auto reported = staged.take_bindings(state.records());
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].binding == entry.binding);
  CHECK_FALSE(reported[0].gone);
  CHECK(staged.take_bindings(state.records()).empty());
  CHECK(staged.count() == 1);
}

TEST_CASE("a removed binding is reported as released, unless there is a new one") {
  State state;
  StagedChanges staged;
  fabric::Binding gone = binding("a");
  gone.state = BindingState::releasing;
  gone.condition = {fabric::Reason::waiting, "for its port"};
  staged.note_removed(gone);
  SUBCASE("there is none") {
    const auto reported = staged.take_bindings(state.records());
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].gone);
    CHECK(reported[0].binding.state == BindingState::released);
    CHECK(reported[0].binding.condition == fabric::Condition{});
  }
  SUBCASE("there is a new one") {
    state.add(binding("a"), {});
    const auto reported = staged.take_bindings(state.records());
    REQUIRE(reported.size() == 1);
    CHECK_FALSE(reported[0].gone);
  }
}

TEST_CASE("what is written or lost is not written again, and is reported all the same") {
  State state;
  StagedChanges staged;
  staged.add(state.add(binding("a"), {}));
  staged.note_expired({"n1", "b", "net1"});
  staged.clear();
  CHECK(staged.empty());
  CHECK(staged.to_write(state.records()).empty());
  CHECK(staged.count() == 1);
  CHECK(staged.take_bindings(state.records()).size() == 1);
  CHECK(staged.take_expired().size() == 1);
  CHECK(staged.take_expired().empty());
}

}  // namespace
}  // namespace ibpod::sm::state
