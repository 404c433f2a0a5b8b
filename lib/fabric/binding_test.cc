#include "lib/fabric/binding.h"

#include "lib/fabric/partition.h"

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

template <typename Enum>
void read_back(std::optional<Enum> (*parse)(std::string_view), int count) {
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    CAPTURE(name(value));
    CHECK(parse(name(value)) == value);
    CHECK_FALSE(parse(std::string(name(value)) + " "));
  }
  CHECK_FALSE(parse(""));
}

TEST_CASE("every word of a binding is read back as what it was") {
  read_back<Kind>(parse_kind, 2);
  read_back<BindingState>(parse_state, 6);
  read_back<Reason>(parse_reason, 16);
  read_back<Proof>(parse_proof, 3);
  read_back<Enforcement>(parse_enforcement, 3);
  read_back<PartitionState>(parse_partition_state, 4);
  CHECK(name(Reason::lease) == "lease");
  CHECK(name(BindingState::unknown) == "unknown");
}

Partition tenant() {
  Partition partition;
  partition.name = "blue";
  return partition;
}

TEST_CASE("proof by the port is stronger than by the node, and both than none") {
  const std::vector<Proof> weakest_first = {Proof::none, Proof::node, Proof::port};
  for (size_t seen = 0; seen < weakest_first.size(); ++seen)
    for (size_t wanted = 0; wanted < weakest_first.size(); ++wanted)
      CHECK(satisfies(weakest_first[seen], weakest_first[wanted]) == (seen >= wanted));
}

TEST_CASE("what no fabric could grant is refused with the field") {
  CHECK(check(tenant()));
  Partition odd = tenant();
  odd.members = {{ib::Guid(0x59cabb0097927460), {}, "its GUID was drawn at random"}};
  CHECK(check(odd));
  struct Case {
    void (*spoil)(Partition&);
    std::string_view field;
  };
  const Case cases[] = {
      {[](Partition& t) { t.name = ""; }, "name"},
      {[](Partition& t) { t.name = "Default"; }, "name"},
      {[](Partition& t) { t.name = "a b"; }, "name"},
      {[](Partition& t) { t.name = std::string(32, 'a'); }, "name"},
      {[](Partition& t) { t.pkey = ib::PKey(0x7fff); }, "0x7fff"},
      {[](Partition& t) { t.pkey = ib::PKey(0); }, "0x0000"},
      {[](Partition& t) { t.pkey = ib::PKey(0x8001); }, "0x8001"},
      {[](Partition& t) { t.sl = 16; }, "sl"},
      {[](Partition& t) { t.allowed = {"team/a/b"}; }, "allowed"},
      {[](Partition& t) { t.allowed = {""}; }, "allowed"},
      {[](Partition& t) { t.allowed = {"-a"}; }, "allowed"},
      {[](Partition& t) {
         t.members = {{ib::kNoGuid, {}, {}}};
       },
       "members"},
      {[](Partition& t) {
         t.members = {{ib::Guid(7), {}, {}}, {ib::Guid(7), {}, {}}};
       },
       "twice"},
      {[](Partition& t) {
         t.members = {{ib::Guid(7), {}, "a\nb"}};
       },
       "comment"},
  };
  for (const Case& test : cases) {
    Partition spoiled = tenant();
    test.spoil(spoiled);
    const Status status = check(spoiled);
    CAPTURE(test.field);
    REQUIRE_FALSE(status);
    CHECK(status.error().code() == Code::invalid);
    CHECK_MESSAGE(status.error().text().find(test.field) != std::string::npos,
                  status.error().text());
  }
}

TEST_CASE("a partition that allows no namespace admits no pod") {
  Partition partition = tenant();
  CHECK_FALSE(allows(partition, "team-a"));
  partition.allowed = {"team-a"};
  CHECK(allows(partition, "team-a"));
  CHECK_FALSE(allows(partition, "team-ab"));
  CHECK_FALSE(allows(partition, ""));
  partition.allowed = {"*"};
  CHECK(allows(partition, "team-ab"));
}

}  // namespace
}  // namespace ibpod::fabric
