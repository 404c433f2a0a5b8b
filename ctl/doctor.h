// Doctor: what is wrong with a node, and how to mend it.
#pragma once

#include "ctl/machine.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

enum class Grade { fine, warning, wrong };
std::string_view name(Grade grade);

// A closed set of problems. Each has at least one row in remedies_test.cc: the fault planted, the
// finding named, its printed remedy applied, the finding gone.
enum class Issue {
  none,  // of what is fine
  old_kernel,
  module_missing,
  no_rdma,
  shared_mode,
  no_adapters,
  pf_without_driver,
  pf_without_rdma,
  link_layer_unknown,
  ethernet_port,
  no_vfs,
  vf_without_driver,
  vf_settings_unknown,
  vf_without_guid,
  vf_link_disabled,
  memlock_unknown,
  memlock_low,
  socket_missing,
  plugin_missing,
  agent,                // does not answer
  registration,         // not all resources of the agent are registered
  sm_service,           // does not answer, or refuses
  reported_by_agent,    // agent/health/node_findings_test.cc has their rows
  reported_by_service,  // sm/diagnose/remedies_test.cc has their rows
};
inline constexpr Issue kLastIssue = Issue::reported_by_service;

struct Finding {
  std::string check;  // what was looked at: "rdma-netns-mode", "0000:3b:00.0"
  Grade grade = Grade::fine;
  std::string text;
  std::string remedy;  // what to do; empty where nothing has to be done
  Issue issue;         // without a default: the compiler names a finding that has none
  bool operator==(const Finding&) const = default;
};

// Every check, in the order in which a node is set up: kernel, adapters, VFs, limits, kubelet.
std::vector<Finding> examine(const Machine& machine);

// For scripts: 0 all is fine, 1 there are warnings, 2 there are problems.
int exit_code(const std::vector<Finding>& findings);

}  // namespace ibpod::ctl
