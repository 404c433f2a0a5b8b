// The contract of UfmApi: what each implementation does, the model as well as the client with a
// UFM.
#pragma once

#include "sm/ufm/ufm_api.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {

// The partitions and ports that the contract uses. No partition with these P_Keys exists before,
// and none after.
struct ContractScope {
  ib::PKey pkey{0x0151}, other{0x0152};
  // The first of kMostGuids GUIDs in sequence.
  ib::Guid first{0x0011223344550100};
};

class Contract {
 public:
  Contract(UfmApi& ufm, const ContractScope& scope) : ufm_(ufm), scope_(scope) {}

  void check_all() {
    check_addition();
    check_change_of_members();
    check_removal();
    check_two_partitions();
    check_many();
    check_groups();
    check_preflight();
  }

 private:
  using Guids = std::vector<ib::Guid>;

  ib::Guid port(size_t n) const { return ib::Guid(scope_.first.value() + n); }
  static UfmMember member(ib::Guid guid, ib::Membership membership, bool index0) {
    return {guid, membership, index0};
  }

  void add(ib::PKey pkey, const Guids& guids, ib::Membership membership, bool index0) {
    const Status added = ufm_.add({.pkey = pkey,
                                   .membership = membership,
                                   .index0 = index0,
                                   .ip_over_ib = true,
                                   .guids = guids});
    REQUIRE_MESSAGE(added.ok(), added.error().text());
  }
  void remove(ib::PKey pkey, const Guids& guids) {
    const Status removed = ufm_.remove(pkey, guids);
    REQUIRE_MESSAGE(removed.ok(), removed.error().text());
  }

  // Alone, and in the list of all.
  std::optional<UfmPartition> read(ib::PKey pkey) {
    const auto alone = ufm_.partition(pkey);
    REQUIRE_MESSAGE(alone.ok(), alone.error().text());
    const auto all = ufm_.partitions();
    REQUIRE_MESSAGE(all.ok(), all.error().text());
    CHECK(std::is_sorted(all->begin(), all->end(),
                         [](const auto& a, const auto& b) { return a.pkey < b.pkey; }));
    const auto listed = std::find_if(all->begin(), all->end(),
                                     [&](const UfmPartition& one) { return one.pkey == pkey; });
    CHECK((listed != all->end()) == alone->has_value());
    if (*alone && listed != all->end()) {
      CHECK((*alone)->members == listed->members);
      CHECK((*alone)->pkey == pkey);
    }
    return *alone;
  }
  std::vector<UfmMember> members(ib::PKey pkey) {
    const auto partition = read(pkey);
    REQUIRE(partition.has_value());
    return partition->members;
  }

  // Makes the partition. Members are shown by GUID, in whatever order they came.
  void check_addition() {
    CHECK_FALSE(read(scope_.pkey).has_value());
    add(scope_.pkey, {port(2), port(0)}, ib::Membership::full, true);
    CHECK(members(scope_.pkey) ==
          std::vector<UfmMember>{member(port(0), ib::Membership::full, true),
                                 member(port(2), ib::Membership::full, true)});
    CHECK(read(scope_.pkey)->ip_over_ib.value_or(true));
  }

  // A member gets the values of the last call, and others keep theirs.
  void check_change_of_members() {
    add(scope_.pkey, {port(0), port(1)}, ib::Membership::limited, false);
    const std::vector<UfmMember> expected{member(port(0), ib::Membership::limited, false),
                                          member(port(1), ib::Membership::limited, false),
                                          member(port(2), ib::Membership::full, true)};
    CHECK(members(scope_.pkey) == expected);
    add(scope_.pkey, {port(0), port(1)}, ib::Membership::limited, false);
    CHECK(members(scope_.pkey) == expected);
  }

  // The partition goes with its last member; then a removal is ok, too.
  void check_removal() {
    remove(scope_.pkey, {port(3)});
    CHECK(members(scope_.pkey).size() == 3);
    remove(scope_.pkey, {port(2), port(0), port(3)});
    CHECK(members(scope_.pkey) ==
          std::vector<UfmMember>{member(port(1), ib::Membership::limited, false)});
    remove(scope_.pkey, {port(1)});
    CHECK_FALSE(read(scope_.pkey).has_value());
    remove(scope_.pkey, {port(1)});
    CHECK_FALSE(read(scope_.pkey).has_value());
  }

  void check_two_partitions() {
    add(scope_.pkey, {port(0)}, ib::Membership::full, false);
    add(scope_.other, {port(0)}, ib::Membership::limited, true);
    CHECK(members(scope_.pkey) == std::vector{member(port(0), ib::Membership::full, false)});
    CHECK(members(scope_.other) == std::vector{member(port(0), ib::Membership::limited, true)});
    remove(scope_.pkey, {port(0)});
    CHECK_FALSE(read(scope_.pkey).has_value());
    CHECK(members(scope_.other) == std::vector{member(port(0), ib::Membership::limited, true)});
    remove(scope_.other, {port(0)});
    CHECK_FALSE(read(scope_.other).has_value());
  }

  void check_many() {
    Guids guids;
    for (size_t n = 0; n < kMostGuids; ++n) guids.push_back(port(n));
    add(scope_.pkey, guids, ib::Membership::limited, false);
    CHECK(members(scope_.pkey).size() == kMostGuids);
    remove(scope_.pkey, guids);
    CHECK_FALSE(read(scope_.pkey).has_value());
  }

  // Those of others stay.
  void check_groups() {
    const auto before = ufm_.guid_groups();
    REQUIRE_MESSAGE(before.ok(), before.error().text());
    CHECK(before->empty());
    const auto first = ufm_.add_guid_group(port(0), {port(1), port(2)});
    REQUIRE_MESSAGE(first.ok(), first.error().text());
    const auto second = ufm_.add_guid_group(port(3), {port(4)});
    REQUIRE_MESSAGE(second.ok(), second.error().text());
    CHECK(*first != *second);
    CHECK(ufm_.guid_groups().value() ==
          std::vector<GuidGroup>{{*first, {port(0)}, {port(1), port(2)}, true},
                                 {*second, {port(3)}, {port(4)}, true}});
    for (const uint64_t id : {*first, *first, *second}) {
      const Status removed = ufm_.remove_guid_group(id);
      CHECK_MESSAGE(removed.ok(), removed.error().text());
    }
    CHECK(ufm_.guid_groups().value().empty());
  }

  void check_preflight() {
    const auto version = ufm_.version();
    REQUIRE_MESSAGE(version.ok(), version.error().text());
    CHECK_FALSE(version->empty());
    const auto settings = ufm_.settings();
    CHECK((settings || settings.error().code() == Code::unsupported));
    const auto ports = ufm_.ports();
    REQUIRE_MESSAGE(ports.ok(), ports.error().text());
    CHECK(std::is_sorted(ports->begin(), ports->end()));
    const auto vports = ufm_.vports();
    CHECK((vports || vports.error().code() == Code::unsupported));
  }

  UfmApi& ufm_;
  const ContractScope scope_;
};

inline void check_contract(UfmApi& ufm, const ContractScope& scope = {}) {
  Contract(ufm, scope).check_all();
}

}  // namespace ibpod::sm::ufm
