// Prints the node's state (snapshot.h): nodestate [PATH...], where each path is a file or a folder,
// such as IPAM's leases, that counts besides the project's own.
#include "tests/vm/snapshot.h"

#include <cstdio>

int main(int count, char** arguments) {
  ibpod::vm::ObservedPaths paths;
  paths.files = {"/var/lib/ibpod", "/var/lib/cni", "/run/ibpod"};
  paths.files.insert(paths.files.end(), arguments + 1, arguments + count);
  const auto lines = ibpod::vm::snapshot(paths);
  if (!lines) {
    std::fprintf(stderr, "nodestate: %s\n", lines.error().text().c_str());
    return 1;
  }
  for (const std::string& line : *lines) std::printf("%s\n", line.c_str());
  return 0;
}
