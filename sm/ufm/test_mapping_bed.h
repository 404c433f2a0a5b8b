// A GuidMapping with a model of a UFM and a clock of its own, and the judge of what it did there.
#pragma once

#include "lib/base/join.h"
#include "sm/ufm/guid_mapping.h"
#include "sm/ufm/test_fake_ufm.h"
#include "tests/support/temp_folder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm::test {

using engine::VfPort;
using fake_ufm::FaultKind;
using fake_ufm::Operation;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// PFs have GUIDs of 0x1000 or more; VFs that are not ibpod's begin with 0xf.
inline constexpr ib::Guid kPf1{0x1001}, kPf2{0x1002}, kTheirPf{0x1009}, kVf1{0x11}, kVf2{0x12},
    kVf3{0x13}, kTheirVf{0xf1};

struct MappingBed {
  explicit MappingBed(bool enabled = true) {
    settings.enabled = enabled;
    start();
  }

  // Starts a process after the end of the last one.
  void start() {
    mapping = std::make_unique<GuidMapping>(settings, WrittenGroups::open(record()).value(),
                                            [] { return 0.5; });
    if (!desired.empty()) mapping->want(vf_ports());
  }
  Path record() const { return folder.path() / "mapping"; }
  void want(VfsByPf next) {
    desired = std::move(next);
    mapping->want(vf_ports());
  }
  std::vector<VfPort> vf_ports() const {
    std::vector<VfPort> ports;
    for (const auto& [pf, vfs] : desired)
      for (const ib::Guid vf : vfs) ports.push_back({pf, vf});
    return ports;
  }

  // All that is due now; each call takes ten milliseconds.
  void run() {
    for (int calls = 0; mapping->tick(api, now); ++calls) {
      check_moment();
      now += milliseconds(10);
      if (calls > 5000) FAIL("it does not come to an end");
    }
  }
  // All that is due within this time.
  void pass(Duration time) {
    const GuidMapping::Time end = now + time;
    run();
    for (auto alarm = mapping->alarm(now); alarm && *alarm <= end; alarm = mapping->alarm(now)) {
      now = std::max(now, *alarm);
      run();
    }
    now = std::max(now, end);
    run();
  }

  // The groups in UFM with these physical ports alone: those of ibpod-sm, if it is right.
  std::map<ib::Guid, std::vector<std::set<ib::Guid>>> groups() const {
    std::map<ib::Guid, std::vector<std::set<ib::Guid>>> found;
    for (const auto& [id, group] : ufm.groups())
      found[group.physical.front()].emplace_back(group.virtual_guids.begin(),
                                                 group.virtual_guids.end());
    return found;
  }
  bool converged() const {
    std::map<ib::Guid, std::vector<std::set<ib::Guid>>> expected;
    for (const auto& [pf, vfs] : desired)
      if (!vfs.empty()) expected[pf] = {vfs};
    auto shown = groups();
    shown.erase(kTheirPf);
    return shown == expected;
  }
  void check_converged() const {
    CHECK(converged());
    check_innocent();
    CHECK(mapping->unconfined() == 0);
    CHECK(findings().empty());
  }
  std::string findings() const {
    return join(mapping->findings(), "; ", [](const engine::EngineFinding& finding) {
      CHECK_FALSE(finding.remedy.empty());
      CHECK(finding.kind == engine::EngineFinding::Kind::unconfined_vf);
      return std::to_string(finding.count) + ": " + finding.text;
    });
  }
  size_t calls(Operation operation) const {
    return fake_ufm::calls_of(ufm.log(), kOurs, operation).size();
  }

  // Another administrator.
  int add_as_admin(std::vector<ib::Guid> physical, std::vector<ib::Guid> vfs) {
    return ufm
        .call({.caller = kAdmin,
               .operation = Operation::add_group,
               .group = {std::move(physical), std::move(vfs)}})
        .group_id;
  }
  void remove_as_admin(int id) {
    (void)ufm.call({.caller = kAdmin, .operation = Operation::remove_group, .group_id = id});
  }
  void inject(FaultKind kind, std::set<Operation> operations, int status = 500, int times = 1) {
    ufm.inject({.kind = kind,
                .status = status,
                .text = "no",
                .caller = kOurs,
                .operations = std::move(operations),
                .times = times});
  }

  // True of every moment. Groups that others have made are there, and as they were; no group of
  // ours has a port or a VF that is not ours; and a VF that was behind its PF, and stays, is so in
  // some group at every moment.
  void check_moment() {
    const fake_ufm::GuidGroups shown = ufm.groups();
    for (const auto& [id, group] : theirs) {
      REQUIRE(shown.contains(id));
      REQUIRE(shown.at(id) == group);
    }
    if (!may_interrupt)
      for (const VfPort& port : settled) REQUIRE_MESSAGE(is_behind(shown, port), port.vf.text());
  }
  static bool is_behind(const fake_ufm::GuidGroups& shown, const VfPort& port) {
    return std::any_of(shown.begin(), shown.end(), [&](const auto& entry) {
      const auto has = [](const std::vector<ib::Guid>& guids, ib::Guid guid) {
        return std::find(guids.begin(), guids.end(), guid) != guids.end();
      };
      return has(entry.second.physical, port.pf) && has(entry.second.virtual_guids, port.vf);
    });
  }
  // From now on these stay behind their PFs, until they are set again.
  void expect_no_interruption(std::vector<VfPort> ports) { settled = std::move(ports); }
  void check_innocent() const {
    for (const fake_ufm::LogEntry& entry :
         fake_ufm::calls_of(ufm.log(), kOurs, Operation::add_group)) {
      CHECK(entry.call.group.physical.size() == 1);
      CHECK(entry.call.group.properties == kVportLids);
      for (const ib::Guid vf : entry.call.group.virtual_guids)
        CHECK_MESSAGE(vf.value() / 0x10 != 0xf, fake_ufm::text(entry));
    }
  }

  fake_ufm::UfmModel ufm;
  FakeUfm api{ufm};
  TempFolder folder{"/dev/shm"};  // files are flushed
  GuidMapping::Settings settings;
  GuidMapping::Time now{std::chrono::hours(1)};
  VfsByPf desired;
  fake_ufm::GuidGroups theirs;
  std::vector<VfPort> settled;
  bool may_interrupt = false;
  std::unique_ptr<GuidMapping> mapping;
};

}  // namespace ibpod::sm::ufm::test
