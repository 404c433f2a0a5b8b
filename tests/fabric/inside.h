// A program of tests that runs as one on a host of a simulated subnet.
#pragma once

#include <string>

namespace ibpod {

struct Inside {
  std::string network;     // ibsim's netlist
  std::string partitions;  // the subnet manager's partitions.conf
  std::string host;        // that the tests see the subnet from
};

// The whole of main(): starts the subnet, then this program again in it, in the folder that has its
// partitions.conf. 77: what it needs is not installed.
int test_inside(const Inside& inside, int count, char** arguments);

// In there: has the subnet manager read its configuration again, and sweep.
void hang_up_manager();
// Ends it for good, with SIGKILL.
void kill_manager();

}  // namespace ibpod
