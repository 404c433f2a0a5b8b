#include "sm/ufm/test_mapping_bed.h"

#include <filesystem>

namespace ibpod::sm::ufm::test {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST_CASE("each PF has one group with its VFs, and a VF that comes or goes interrupts no other") {
  MappingBed bed;
  bed.run();
  CHECK_MESSAGE(bed.ufm.log().empty(), "before it knows the VFs it does nothing");
  bed.want({{kPf1, {kVf1}}, {kPf2, {kVf3}}});
  bed.run();
  bed.check_converged();
  CHECK(bed.mapping->confined() == 2);
  CHECK(bed.calls(Operation::add_group) == 2);
  CHECK_MESSAGE(bed.calls(Operation::list_groups) == 2, "one reading is enough for both");

  bed.expect_no_interruption({{kPf1, kVf1}, {kPf2, kVf3}});
  bed.want({{kPf1, {kVf1, kVf2}}, {kPf2, {kVf3}}});
  bed.run();
  bed.check_converged();
  bed.want({{kPf1, {kVf1}}, {kPf2, {kVf3}}});
  bed.run();
  bed.check_converged();

  bed.expect_no_interruption({});
  bed.want({{kPf2, {}}});
  bed.run();
  CHECK(bed.ufm.groups().empty());
  CHECK(bed.mapping->confined() == 0);
}

TEST_CASE("a VF that moves leaves its old PF before it comes to the new one") {
  MappingBed bed;
  bed.want({{kPf1, {kVf1, kVf2}}});
  bed.run();
  bed.expect_no_interruption({{kPf1, kVf1}});
  bed.want({{kPf1, {kVf1}}, {kPf2, {kVf2}}});
  while (bed.mapping->tick(bed.api, bed.now)) {
    bed.check_moment();
    const auto shown = bed.ufm.groups();
    CHECK_FALSE(
        (MappingBed::is_behind(shown, {kPf1, kVf2}) && MappingBed::is_behind(shown, {kPf2, kVf2})));
  }
  bed.check_converged();
}

TEST_CASE("another master is read at once, and gets what it lacks") {
  MappingBed bed;
  bed.want({{kPf1, {kVf1}}});
  bed.run();
  bed.remove_as_admin(bed.ufm.groups().begin()->first);
  ++bed.api.found_generation;
  bed.run();
  bed.check_converged();
}

TEST_CASE("what another administrator removes comes back with the next reading") {
  MappingBed bed;
  bed.want({{kPf1, {kVf1}}});
  bed.run();
  bed.remove_as_admin(bed.ufm.groups().begin()->first);
  bed.run();
  CHECK(bed.ufm.groups().empty());
  bed.pass(minutes(1));
  bed.check_converged();
}

TEST_CASE("groups of others stay as they are") {
  MappingBed bed;
  SUBCASE("that name other ports: they do not matter") {
    bed.add_as_admin({kTheirPf}, {kTheirVf});
    bed.theirs = bed.ufm.groups();
    bed.want({{kPf1, {kVf1}}});
    bed.run();
    bed.check_converged();
    bed.want({});
    bed.pass(minutes(30));
    CHECK(bed.ufm.groups() == bed.theirs);
  }
  SUBCASE("that name a PF of ours, or a VF: nothing is written for that PF, until they have gone") {
    std::vector<ib::Guid> physical, vfs;
    SUBCASE("the PF") { physical = {kPf1, kTheirPf}; }
    SUBCASE("the PF alone, with the same VF") { physical = {kPf1}, vfs = {kVf1}; }
    SUBCASE("the VF") { physical = {kTheirPf}, vfs = {kVf1}; }
    const int id = bed.add_as_admin(physical, vfs);
    bed.theirs = bed.ufm.groups();
    bed.want({{kPf1, {kVf1}}, {kPf2, {kVf3}}});
    bed.pass(minutes(5));
    CHECK(bed.calls(Operation::add_group) == 1);
    CHECK(bed.mapping->confined() == 1);
    CHECK(bed.mapping->unconfined() == 1);
    CHECK(has(bed.findings(), "1: 1 VF is not confined"));
    CHECK(has(bed.findings(), kPf1.text() + ", group 1"));
    bed.theirs.clear();
    bed.remove_as_admin(id);
    bed.pass(minutes(1));
    bed.check_converged();
  }
  SUBCASE("also one of ours that they have made again with a port of theirs, by its ID") {
    bed.want({{kPf1, {kVf1}}});
    bed.run();
    CHECK(bed.ufm.lose_writes(1) == 1);
    CHECK(bed.add_as_admin({kPf1}, {kVf1, kTheirVf}) == 1);
    bed.theirs = bed.ufm.groups();
    bed.pass(minutes(30));
    CHECK(has(bed.findings(), kPf1.text() + ", group 1"));
    bed.want({});
    bed.pass(minutes(30));
    CHECK(bed.ufm.groups() == bed.theirs);
  }
}

TEST_CASE("a VF whose PF is not known is reported, and does not hold up others") {
  MappingBed bed;
  bed.desired = {{ib::Guid(), {kVf2}}, {kPf1, {kVf1}}};
  bed.mapping->want(bed.vf_ports());
  bed.run();
  CHECK(bed.groups().size() == 1);
  CHECK(bed.mapping->confined() == 1);
  CHECK(bed.mapping->unconfined() == 1);
  CHECK(has(bed.findings(), "the PF of their node is not known"));
}

TEST_CASE("each fault of each call: in the end all is as desired, and nothing is there twice") {
  for (const FaultKind kind : {FaultKind::refuse, FaultKind::html, FaultKind::half_done,
                               FaultKind::ignore, FaultKind::lose_answer, FaultKind::hang,
                               FaultKind::hang_after, FaultKind::slow, FaultKind::truncate})
    for (const Operation operation :
         {Operation::list_groups, Operation::add_group, Operation::remove_group})
      for (const int status : {400, 403, 500}) {
        CAPTURE(word_of(words_of(kind), kind));
        CAPTURE(name(operation));
        CAPTURE(status);
        MappingBed bed;
        bed.add_as_admin({kTheirPf}, {kTheirVf});
        bed.theirs = bed.ufm.groups();
        bed.want({{kPf1, {kVf1}}});
        bed.run();
        // A UFM that refuses a second group of a port is asked to remove the first one.
        bed.may_interrupt = operation == Operation::add_group;
        bed.expect_no_interruption({{kPf1, kVf1}});
        bed.inject(kind, {operation}, status, 2);
        bed.want({{kPf1, {kVf1, kVf2}}, {kPf2, {kVf3}}});
        bed.pass(minutes(15));
        bed.check_converged();
        CHECK(bed.mapping->confined() == 3);
      }
}

TEST_CASE("what UFM does not take is reported with its words, and tried again") {
  MappingBed bed;
  bed.inject(FaultKind::refuse, {Operation::add_group}, 400, 0);
  bed.want({{kPf1, {kVf1}}});
  bed.pass(minutes(3));
  CHECK(bed.calls(Operation::add_group) == 3);
  CHECK(has(bed.findings(), "UFM does not take a group (" + kPf1.text() + ": 400: no)"));
  CHECK(bed.mapping->unconfined() == 1);
  bed.ufm.clear_faults();
  bed.pass(minutes(2));
  bed.check_converged();

  bed.inject(FaultKind::ignore, {Operation::add_group}, 500, 0);
  bed.want({{kPf1, {kVf1}}, {kPf2, {kVf2}}});
  bed.pass(minutes(3));
  CHECK(has(bed.findings(), "has accepted the group, and does not show it"));
  CHECK(bed.calls(Operation::add_group) < 20);
}

TEST_CASE("a UFM that does not serve the mapping, or denies it, is a finding for all VFs") {
  MappingBed bed;
  SUBCASE("older than 6.16") { bed.api.has_groups = false; }
  SUBCASE("denied") { bed.inject(FaultKind::refuse, {Operation::list_groups}, 403, 0); }
  SUBCASE("a change is denied") { bed.inject(FaultKind::refuse, {Operation::add_group}, 403, 0); }
  bed.want({{kPf1, {kVf1, kVf2}}});
  bed.pass(minutes(30));
  CHECK(has(bed.findings(), "2: 2 VFs are not confined"));
  CHECK(bed.calls(Operation::list_groups) < 70);
  bed.api.has_groups = true;
  bed.ufm.clear_faults();
  bed.pass(minutes(12));
  bed.check_converged();
}

TEST_CASE("a UFM that takes a port into one group only gets a new one after the old one") {
  MappingBed bed;
  bed.ufm.set_switches({.port_in_one_group = true});
  bed.want({{kPf1, {kVf1}}});
  bed.run();
  bed.want({{kPf1, {kVf1, kVf2}}});
  bed.run();
  bed.check_converged();
}

TEST_CASE("the ports of a group without LIDs get a group with them") {
  MappingBed bed;
  bed.want({{kPf1, {kVf1}}});
  bed.run();
  const int id = bed.ufm.groups().begin()->first;
  bed.remove_as_admin(id);
  bed.ufm.lose_writes(2);
  (void)bed.ufm.call({.caller = kAdmin,
                      .operation = Operation::add_group,
                      .group = {{kPf1}, {kVf1}, R"({"tenant_vport_lids":false})"}});
  CHECK(bed.ufm.groups().begin()->first == id);
  bed.pass(minutes(2));
  bed.check_converged();
  CHECK(bed.ufm.groups().begin()->first != id);
}

TEST_CASE("a failover that loses the last changes is mended") {
  for (size_t lost = 1; lost <= 4; ++lost) {
    CAPTURE(lost);
    MappingBed bed;
    bed.want({{kPf1, {kVf1}}, {kPf2, {kVf3}}});
    bed.run();
    bed.want({{kPf1, {kVf1, kVf2}}});
    bed.run();
    CHECK(bed.ufm.lose_writes(lost) == lost);
    bed.pass(minutes(3));
    bed.check_converged();
  }
}

TEST_CASE("without the setting it removes what it has made, and then makes no call") {
  MappingBed bed;
  bed.add_as_admin({kTheirPf}, {kTheirVf});
  bed.theirs = bed.ufm.groups();
  bed.want({{kPf1, {kVf1}}, {kPf2, {kVf3}}});
  bed.run();
  bed.settings.enabled = false;
  bed.desired.clear();
  bed.start();
  bed.inject(FaultKind::refuse, {Operation::remove_group}, 403, 2);
  bed.run();
  CHECK(has(bed.findings(), "the groups of 2 PFs that ibpod-sm made"));
  bed.pass(minutes(20));
  CHECK(bed.ufm.groups() == bed.theirs);
  CHECK(bed.findings().empty());
  CHECK_FALSE(bed.mapping->is_active());
  CHECK_FALSE(bed.mapping->alarm(bed.now));
  CHECK(WrittenGroups::open(bed.record())->all().empty());
  bed.start();
  const size_t before = bed.ufm.log().size();
  bed.pass(minutes(5));
  CHECK(bed.ufm.log().size() == before);
}

TEST_CASE("a kill at any moment leaves nothing that the next process does not know") {
  struct Killed {};
  for (int at = 0; at < 40; ++at) {
    CAPTURE(at);
    MappingBed bed;
    bed.add_as_admin({kTheirPf}, {kTheirVf});
    bed.theirs = bed.ufm.groups();
    bed.want({{kPf1, {kVf1}}});
    bed.run();
    int left = at;
    const auto kill = [&left] {
      if (left-- == 0) throw Killed();
    };
    bed.api.before = bed.api.after = kill;
    const std::vector<VfsByPf> sequence{
        {{kPf1, {kVf1, kVf2}}, {kPf2, {kVf3}}}, {{kPf1, {kVf1}}}, {{kPf2, {kVf2}}}};
    for (const VfsByPf& next : sequence) {
      bed.want(next);
      for (bool done = false; !done;) {
        try {
          bed.run();
          done = true;
        } catch (const Killed&) {
          bed.start();
        }
      }
    }
    bed.api.before = bed.api.after = {};
    bed.pass(minutes(2));
    bed.check_converged();
    bed.want({});
    bed.pass(minutes(30));
    CHECK(bed.ufm.groups() == bed.theirs);
    CHECK(WrittenGroups::open(bed.record())->all().empty());
  }
}

TEST_CASE("a record that cannot be written keeps calls from being made") {
  MappingBed bed;
  std::filesystem::remove_all(bed.record());
  bed.want({{kPf1, {kVf1}}});
  bed.pass(seconds(20));
  CHECK(bed.calls(Operation::add_group) == 0);
  CHECK(has(bed.findings(), "cannot record the change before it is made"));
  std::filesystem::create_directories(bed.record());
  bed.pass(seconds(20));
  bed.check_converged();
}

}  // namespace
}  // namespace ibpod::sm::ufm::test
