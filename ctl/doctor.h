// Doctor: what is wrong with a node, and how to mend it.
#pragma once

#include "ctl/machine.h"

#include <string>
#include <vector>

namespace ibpod::ctl {

enum class Grade { fine, warning, wrong };
std::string_view name(Grade grade);

struct Finding {
  std::string check;  // what was looked at: "rdma-netns-mode", "0000:3b:00.0"
  Grade grade = Grade::fine;
  std::string text;
  std::string remedy;  // what to do; empty where nothing has to be done
  bool operator==(const Finding&) const = default;
};

// Every check, in the order in which a node is set up: kernel, adapters, VFs, limits, kubelet.
std::vector<Finding> examine(const Machine& machine);

// For scripts: 0 all is fine, 1 there are warnings, 2 something is wrong.
int exit_code(const std::vector<Finding>& findings);

}  // namespace ibpod::ctl
