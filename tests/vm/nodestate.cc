// Prints the node's state (snapshot.h): nodestate [PATH...], where each path is a file or a folder,
// such as IPAM's leases, that counts besides the project's own.
#include "tests/vm/snapshot.h"

#include <cstdio>

int main(int count, char** arguments) {
  ibpod::vm::Places places;
  places.files = {"/var/lib/ibpod", "/var/lib/cni", "/run/ibpod"};
  places.files.insert(places.files.end(), arguments + 1, arguments + count);
  const auto lines = ibpod::vm::snapshot(places);
  if (!lines) {
    std::fprintf(stderr, "nodestate: %s\n", lines.error().text().c_str());
    return 1;
  }
  for (const std::string& line : *lines) std::printf("%s\n", line.c_str());
  return 0;
}
