// GuidMapping: keeps UFM's groups of physical and virtual GUIDs as they are desired. Like
// Reconciler it makes one call at a time, and reads again what it has changed; groups of others
// stay. Its faults are findings: no binding waits for it.
#pragma once

#include "sm/engine/engine_finding.h"
#include "sm/engine/subnet_manager.h"
#include "sm/ufm/connection.h"
#include "sm/ufm/group_plan.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::ufm {

class GuidMapping {
 public:
  using Time = Connection::Time;
  struct Settings {
    bool enabled = false;  // false: what ibpod-sm has made is removed
    Duration read_interval{60'000};
  };

  GuidMapping(Settings settings, WrittenGroups written, std::function<double()> random);

  // The VFs that are desired from now on. Until the first call nothing is done, if enabled.
  void want(const std::vector<engine::VfPort>& ports);
  // False: there is nothing to do, and will not be before want().
  bool is_active() const;
  // Makes one call at most, while UFM answers other calls. True if it has made one.
  bool tick(UfmApi& api, Time now);
  // When the next call may be due; nothing: not before want().
  std::optional<Time> alarm(Time now) const;

  // As of the last tick().
  const std::vector<engine::EngineFinding>& findings() const { return report_.findings; }
  uint64_t confined() const { return report_.confined; }
  uint64_t unconfined() const { return report_.unconfined; }

 private:
  // Until `retry`, no call is made (for one PF, or at all).
  struct Fault {
    std::string text;
    Time retry{};
  };
  struct Port {
    PortProgress progress = {};
    std::optional<Fault> fault = {};
    Time made{};  // the last group, with these VFs
    std::set<ib::Guid> asked = {};
    std::map<uint64_t, Time> absent = {};  // IDs of ours that UFM does not show, since when
  };
  struct Desired {
    bool given = false;
    VfsByPf by_pf = {};
    size_t unknown = 0;  // VFs whose PF is not known
  };
  struct Reading {
    bool valid = false;
    size_t calls = 0;  // since then
    Time next{};
  };
  struct Report {
    std::vector<engine::EngineFinding> findings = {};
    uint64_t confined = 0, unconfined = 0;
  };

  const std::set<ib::Guid>& vfs_of(ib::Guid pf) const;
  std::set<ib::Guid> pfs() const;
  std::optional<GroupStep> next_step(Time now) const;
  bool read(UfmApi& api, Time now);
  Status note_reading(ib::Guid pf, Time now);
  bool take(UfmApi& api, const GroupStep& step, Time now);
  Status record(const GroupStep& step);
  void note_refusal(const GroupStep& step, const Error& error, Time now);
  void update_report();
  void report_ports();
  void report_all();
  void add_finding(size_t vfs, const std::string& text, const std::string& remedy);

  Settings settings_;
  WrittenGroups written_;
  Connection connection_;
  Desired desired_;
  ShownGroups shown_;
  Reading reading_;
  uint64_t generation_ = 0;         // UfmApi::master_generation() of the reading
  std::map<ib::Guid, Port> ports_;  // by PF
  std::optional<Fault> fault_;
  // The errors of the last call of each kind, if it has not succeeded since and is still needed.
  std::string read_failure_, change_failure_;
  Report report_;
};

}  // namespace ibpod::sm::ufm
