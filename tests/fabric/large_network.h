// The large subnet: 64 leaf switches with 32 hosts each, and 32 spines.
#pragma once

#include <string>

namespace ibpod {

constexpr int kLeaves = 64;
constexpr int kHostsOfLeaf = 32;
constexpr int kSpines = 32;
constexpr int kHosts = kLeaves * kHostsOfLeaf;

// ibsim's netlist; also of a part of it.
std::string large_network(int leaves = kLeaves);

}  // namespace ibpod
