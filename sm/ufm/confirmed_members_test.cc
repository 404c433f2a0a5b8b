#include "sm/ufm/confirmed_members.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using std::chrono::seconds;

constexpr ib::PKey kBlue{0x10};
constexpr ib::Guid kA{0xa}, kB{0xb};
constexpr MemberValues kFull{ib::Membership::full};
using Guids = std::vector<ib::Guid>;

struct Blue {
  ConfirmedMembers confirmed;
  WrittenPartition written{{kA, {kFull}}, {kB, {kFull, true}}};
  UfmPartition shown{kBlue, "", true, {{kA, ib::Membership::full, false}}};
  int now = 1000;

  PartitionState state() const { return {kBlue, nullptr, &shown, &written}; }
  Guids read() {
    ++now;
    return confirmed.note_read(state(), ConfirmedMembers::Time(seconds(now)));
  }
  Guids gone_since(int time) const {
    return confirmed.gone_since(state(), ConfirmedMembers::Time(seconds(time)));
  }
};

TEST_CASE_FIXTURE(Blue,
                  "what was as given, or gone, and changes without a call, is reported once") {
  CHECK(read().empty());
  CHECK(read().empty());
  SUBCASE("a member is gone") {
    shown.members.clear();
    CHECK(read() == Guids{kA});
  }
  SUBCASE("a member has other values") {
    shown.members[0].membership = ib::Membership::limited;
    CHECK(read() == Guids{kA});
  }
  SUBCASE("a value is not shown any more") {
    shown.members[0].index0.reset();
    CHECK(read() == Guids{kA});
  }
  SUBCASE("what had gone is back") {
    shown.members.push_back({kB, ib::Membership::limited, false});
    CHECK(read() == Guids{kB});
  }
  CHECK(read().empty());
}

TEST_CASE_FIXTURE(Blue, "a call of ours, and what was never as given, is no reason") {
  shown.members.clear();
  CHECK(read().empty());
  shown.members = {{kA, ib::Membership::full, false}};
  CHECK(read().empty());
  confirmed.changing({kBlue, {}, {kA, kB}});
  shown.members = {{kB, ib::Membership::full, false}};
  CHECK(read().empty());
  CHECK(read().empty());
}

TEST_CASE_FIXTURE(Blue, "what the record does not have any more is not ours to miss") {
  read();
  written.erase(kA);
  written.erase(kB);
  shown.members = {{kB, ib::Membership::full, false}};
  CHECK(read().empty());
}

TEST_CASE_FIXTURE(Blue, "leaving members are gone since the first reading without them") {
  CHECK(gone_since(2000).empty());
  read();
  read();
  CHECK(gone_since(1000).empty());
  CHECK(gone_since(1001) == Guids{kB});
  shown.members.push_back({kB, ib::Membership::full, false});
  read();
  CHECK(gone_since(2000).empty());
  shown.members.pop_back();
  read();
  CHECK(gone_since(1003).empty());
  CHECK(gone_since(1004) == Guids{kB});
  confirmed.changing({kBlue, {}, {kB}});
  CHECK(gone_since(2000).empty());
}

}  // namespace
}  // namespace ibpod::sm::ufm
