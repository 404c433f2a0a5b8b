#include "sm/ufm/plan.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

constexpr ib::PKey kBlue{0x10};
constexpr ib::Guid kA{0xa}, kB{0xb}, kC{0xc}, kD{0xd};
constexpr MemberValues kFull{ib::Membership::full}, kLimited{ib::Membership::limited},
    kFirst{ib::Membership::full, true};

using Guids = std::vector<ib::Guid>;

UfmMember member(ib::Guid guid, const MemberValues& values) {
  return {guid, values.membership, values.index0};
}

WrittenMember intended(const MemberValues& values) { return {values, false, true}; }

// A partition as desired, shown and recorded. nullopt: it is not there.
struct Blue {
  std::optional<std::map<ib::Guid, MemberValues>> desired;
  std::optional<std::vector<UfmMember>> shown;
  std::optional<WrittenPartition> written;
  Retries retries = {};
  ForeignMembers foreign = ForeignMembers::report;
};

// Keeps what a PartitionState points to.
class Kept {
 public:
  explicit Kept(const Blue& blue) : blue_(blue) {
    if (blue.desired) desired_ = {true, *blue.desired};
    if (blue.shown) shown_ = {kBlue, "blue", true, *blue.shown};
  }
  PartitionState state() const {
    return {kBlue, blue_.desired ? &desired_ : nullptr, blue_.shown ? &shown_ : nullptr,
            blue_.written ? &*blue_.written : nullptr};
  }
  std::vector<Step> plan() const {
    const PartitionState state = effective(this->state());
    return ufm::plan(state, compare(state), blue_.retries, blue_.foreign);
  }

 private:
  Blue blue_;
  DesiredPartition desired_;
  UfmPartition shown_;
};

// "-b +a,c:full0": removals and additions in their order.
std::string text(const std::vector<Step>& steps) {
  std::string all;
  for (const Step& step : steps) {
    std::string guids;
    for (const ib::Guid guid : step.guids)
      guids += (guids.empty() ? "" : ",") + guid.text().substr(21);
    if (!all.empty()) all += " ";
    all += (step.of_class.kind == Step::Kind::addition ? "+" : "-") + guids;
    if (step.of_class.kind == Step::Kind::removal) continue;
    all += step.of_class.membership == ib::Membership::full ? ":full" : ":limited";
    if (step.of_class.index0) all += "0";
  }
  return all;
}

struct PlanCase {
  const char* about;
  Blue blue;
  const char* plan;
};

void check_plans(const std::vector<PlanCase>& cases) {
  for (const PlanCase& one : cases) {
    CAPTURE(one.about);
    CHECK(text(Kept(one.blue).plan()) == one.plan);
  }
}

TEST_CASE("the plan has only what differs, removals first, one call for each kind of member") {
  const UfmMember unknown{kA, std::nullopt, false}, unknown_index{kA, ib::Membership::full};
  const WrittenPartition a_limited{{kA, {kLimited}}}, a_full{{kA, {kFull}}};
  check_plans({
      {"nothing at all", {}, ""},
      {"a new partition",
       {{{{kA, kFull}, {kB, kLimited}, {kC, kFull}, {kD, kFirst}}}, {}, {}},
       "+0b:limited +0a,0c:full +0d:full0"},
      {"all is there", {{{{kA, kFull}}}, {{member(kA, kFull)}}, {a_full}}, ""},
      {"one is missing",
       {{{{kA, kFull}, {kB, kFull}}}, {{member(kA, kFull)}}, {a_full}},
       "+0b:full"},
      {"one is to go",
       {{{{kB, kFull}}}, {{member(kA, kFull), member(kB, kFull)}}, {a_full}},
       "-0a"},
      {"one goes, one comes", {{{{kB, kFull}}}, {{member(kA, kFull)}}, {a_full}}, "-0a +0b:full"},
      {"the partition is to go", {{}, {{member(kA, kFull)}}, {a_full}}, "-0a"},
      {"UFM has deleted it, and it is not desired", {{}, {}, {a_full}}, ""},
      {"UFM has deleted it, and it is desired", {{{{kA, kFull}}}, {}, {a_full}}, "+0a:full"},
      {"wider than before", {{{{kA, kFull}}}, {{member(kA, kLimited)}}, {a_limited}}, "+0a:full"},
      {"narrower than before",
       {{{{kA, kLimited}}}, {{member(kA, kFull)}}, {a_full}},
       "+0a:limited"},
      {"index 0 is given", {{{{kA, kFirst}}}, {{member(kA, kFull)}}, {a_full}}, "+0a:full0"},
      {"index 0 is taken",
       {{{{kA, kFull}}}, {{member(kA, kFirst)}}, {{{kA, {kFirst}}}}},
       "+0a:full"},
      {"UFM does not show the membership", {{{{kA, kFull}}}, {{unknown}}, {a_full}}, "+0a:full"},
      {"UFM does not show the index", {{{{kA, kFull}}}, {{unknown_index}}, {a_full}}, "+0a:full"},
      {"UFM has made it a full member",
       {{{{kA, kLimited}}}, {{member(kA, kFull)}}, {a_limited}},
       "-0a +0a:limited"},
      {"the same, and its index is not shown",
       {{{{kA, kLimited}}}, {{unknown_index}}, {a_limited}},
       "-0a +0a:limited"},
      {"foreign members are left alone",
       {{{{kA, kFull}}}, {{member(kA, kFull), member(kB, kFull)}}, {a_full}},
       ""},
      {"foreign members are removed",
       {{{{kA, kFull}}},
        {{member(kA, kFull), member(kB, kFull)}},
        {a_full},
        {},
        ForeignMembers::remove},
       "-0b"},
      {"a partition without record whose members are all desired",
       {{{{kA, kLimited}, {kB, kFull}, {kC, kFull}}}, {{member(kA, kFull), member(kB, kFull)}}, {}},
       "+0a:limited +0c:full"},
      {"an empty partition without record", {{{{kA, kFull}}}, {{}}, {}}, "+0a:full"},
  });
}

TEST_CASE("a partition of another user is left alone, but for the members that we put there") {
  const WrittenPartition a_full{{kA, {kFull}}};
  check_plans({
      {"another user's partition",
       {{{{kA, kFull}}}, {{member(kB, kFull)}}, {}, {}, ForeignMembers::remove},
       ""},
      {"another user's, of which we want a member",
       {{{{kA, kFull}}}, {{member(kA, kLimited), member(kB, kFull)}}, {}},
       ""},
      {"another user's since we left it, with a member that came back",
       {{{{kA, kFull}, {kC, kFull}}},
        {{member(kB, kFull), member(kD, kFull)}},
        {{{kD, {kFull, true}}}}},
       "-0d"},
      {"another user's since before our call, which was intended alone",
       {{{{kA, kFull}, {kC, kFull}}},
        {{member(kA, kFull), member(kB, kFull)}},
        {{{kA, intended(kFull)}, {kC, intended(kFull)}}},
        {},
        ForeignMembers::remove},
       "-0a"},
      {"not another user's: what is there is leaving",
       {{{{kA, kFull}}}, {{member(kD, kFull)}}, {{{kD, {kFull, true}}}}},
       "-0d +0a:full"},
      {"a member in our partition that we want now is ours",
       {{{{kA, kFull}, {kB, kFull}}}, {{member(kA, kFull), member(kB, kLimited)}}, {a_full}},
       "+0b:full"},
  });
}

TEST_CASE("members with a failed attempt wait, go apart, or are removed first") {
  const Blue two{
      {{{kA, kFull}, {kB, kFull}, {kC, kFull}}}, {{member(kC, kLimited)}}, {{{kC, {kFull}}}}};
  const auto planned = [&](const Retries& retries) {
    Blue blue = two;
    blue.retries = retries;
    return text(Kept(blue).plan());
  };
  CHECK(planned({}) == "+0a,0b,0c:full");
  CHECK(planned({.add = {{kA, {.waits = true}}}}) == "+0b,0c:full");
  CHECK(planned({.add = {{kA, {.together = 1}}, {kB, {.together = 1}}}}) ==
        "+0c:full +0a:full +0b:full");
  CHECK(planned({.add = {{kA, {.together = 2}}, {kB, {.together = 2}}}}) == "+0c:full +0a,0b:full");
  CHECK(planned({.add = {{kC, {.remove_first = true}}}}) == "-0c +0a,0b,0c:full");
  CHECK(planned({.add = {{kC, {.waits = true, .remove_first = true}}}}) == "+0a,0b:full");
  CHECK(planned({.add = {{kC, {.remove_first = true}}}, .remove = {{kC, {.waits = true}}}}) ==
        "+0a,0b,0c:full");
  // A member that is not there, or is foreign, has nothing to lose.
  CHECK(planned({.add = {{kA, {.remove_first = true}}}}) == "+0a,0b,0c:full");
}

TEST_CASE("a member that UFM has widened is removed even if its addition has to wait") {
  const Blue blue{{{{kA, kLimited}}},
                  {{member(kA, kFull)}},
                  {{{kA, {kLimited}}}},
                  {.add = {{kA, {.waits = true}}}}};
  CHECK(text(Kept(blue).plan()) == "-0a");
}

TEST_CASE("no call has more GUIDs than UFM takes") {
  Blue blue{std::map<ib::Guid, MemberValues>(), {}, {}};
  for (uint64_t n = 1; n <= 2 * kMostGuids + 1; ++n) blue.desired->emplace(ib::Guid(n), kFull);
  const std::vector<Step> steps = Kept(blue).plan();
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].guids.size() == kMostGuids);
  CHECK(steps[0].guids.front() == ib::Guid(1));
  CHECK(steps[1].guids.front() == ib::Guid(kMostGuids + 1));
  CHECK(steps[2].guids == Guids{ib::Guid(2 * kMostGuids + 1)});
  CHECK(steps[0].of_class == steps[2].of_class);
}

TEST_CASE("an addition has the values of its members, and the flag of the partition") {
  const std::vector<Step> steps = Kept({{{{kA, kFirst}}}, {}, {}}).plan();
  REQUIRE(steps.size() == 1);
  CHECK(addition_of(steps[0]) == Addition{kBlue, ib::Membership::full, true, true, {kA}});
}

struct RecordCase {
  const char* about;
  Blue blue;
  WrittenPartition record;
};

void check_records(const std::vector<RecordCase>& cases) {
  for (const RecordCase& one : cases) {
    CAPTURE(one.about);
    const Kept kept(one.blue);
    CHECK(record_with(effective(kept.state()), kept.plan()) == one.record);
  }
}

TEST_CASE("the record has what is about to be given, and what is leaving") {
  check_records({
      {"nothing", {}, {}},
      {"what is removed is leaving",
       {{}, {{member(kA, kFull), member(kB, kFull)}}, {{{kA, {kFull}}}}},
       {{kA, {kFull, true}}}},
      {"and stays so after it has gone",
       {{}, {}, {{{kA, {kFull, true}}}}},
       {{kA, {kFull, true, true}}}},
      {"what was refused, and is not desired any more",
       {{}, {}, {{{kA, {kFull}}}}},
       {{kA, {kFull, true, true}}}},
      {"what comes back",
       {{{{kA, kFull}}}, {}, {{{kA, {kLimited, true}}}}},
       {{kA, intended(kFull)}}},
      {"what is changed",
       {{{{kA, kLimited}}}, {{member(kA, kFull)}}, {{{kA, {kFull}}}}},
       {{kA, {kLimited}}}},
      {"what is removed to be added again stays a member",
       {{{{kA, kLimited}, {kB, kFull}}},
        {{member(kA, kFull), member(kB, kFull)}},
        {{{kA, {kLimited}}, {kB, {kFull}}}},
        {.add = {{kA, {.waits = true}}}}},
       {{kA, {kLimited}}, {kB, {kFull}}}},
      {"it was the last one: another user may make the P_Key before it is added",
       {{{{kA, kLimited}}}, {{member(kA, kFull)}}, {{{kA, {kLimited}}}}},
       {{kA, intended(kLimited)}}},
      {"what was there as desired", {{{{kA, kFull}}}, {{member(kA, kFull)}}, {}}, {{kA, {kFull}}}},
      {"another user's partition",
       {{{{kA, kFull}}}, {{member(kA, kFull), member(kB, kFull)}}, {}},
       {}},
      {"foreign members",
       {{{{kA, kFull}}},
        {{member(kA, kFull), member(kB, kFull)}},
        {{{kA, {kFull}}}},
        {},
        ForeignMembers::remove},
       {{kA, {kFull}}}},
  });
}

TEST_CASE(
    "what is given is only intended until it is shown in a P_Key that is not another user's") {
  check_records({
      {"what is added is only intended", {{{{kA, kFirst}}}, {}, {}}, {{kA, intended(kFirst)}}},
      {"and stays so until it is shown",
       {{{{kA, kFirst}}}, {}, {{{kA, intended(kFirst)}}}},
       {{kA, intended(kFirst)}}},
      {"it is shown",
       {{{{kA, kFirst}}}, {{member(kA, kFirst)}}, {{{kA, intended(kFirst)}}}},
       {{kA, {kFirst}}}},
      {"it is shown with other values",
       {{{{kA, kFirst}}}, {{member(kA, kFull)}}, {{{kA, intended(kFirst)}}}},
       {{kA, {kFirst}}}},
      {"UFM shows no member any more: another user may make the P_Key",
       {{{{kA, kFull}}}, {}, {{{kA, {kFull}}}}, {.add = {{kA, {.waits = true}}}}},
       {{kA, intended(kFull)}}},
      {"it is shown, and the P_Key is ours",
       {{{{kA, kFull}, {kC, kFull}}},
        {{member(kA, kFull), member(kB, kFull), member(kC, kFull)}},
        {{{kA, intended(kFull)}, {kC, {kFull}}}}},
       {{kA, {kFull}}, {kC, {kFull}}}},
      {"it is shown, and the P_Key is another user's",
       {{{{kA, kFull}, {kC, kFull}}},
        {{member(kA, kFull), member(kB, kFull)}},
        {{{kA, intended(kFull)}, {kC, intended(kFull)}}}},
       {{kA, {kFull, true, true}}, {kC, {kFull, true, true}}}},
  });
}

TEST_CASE("the members that show another owner are named") {
  const Blue theirs{
      {{{kA, kFull}}}, {{member(kA, kFull), member(kB, kFull), member(kC, kFull)}}, {}};
  CHECK(owners(Kept(theirs).state()) == Guids{kB, kC});
  Blue ours = theirs;
  ours.written = {{kA, {kFull}}};
  CHECK(owners(Kept(ours).state()).empty());
  ours.written = {{kA, {kFull, true}}};
  CHECK(owners(Kept(ours).state()) == Guids{kB, kC});
  ours.written = {{kA, intended(kFull)}};
  CHECK(owners(Kept(ours).state()) == Guids{kB, kC});
  CHECK(effective(Kept(ours).state()).desired == nullptr);
  ours.shown = {{member(kA, kFull)}};
  CHECK(owners(Kept(ours).state()).empty());
  CHECK(effective(Kept(ours).state()).desired != nullptr);
}

TEST_CASE("a value that UFM does not show is not the desired one") {
  CHECK(has_values(member(kA, kFirst), kFirst));
  CHECK_FALSE(has_values(member(kA, kFull), kFirst));
  CHECK_FALSE(has_values({kA}, kLimited));
  CHECK_FALSE(has_values({kA, ib::Membership::limited}, kLimited));
}

}  // namespace
}  // namespace ibpod::sm::ufm
