// Recorded messages of kernels, tests/data/netlink (see its README).
#pragma once

#include "lib/base/files.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace ibpod {

// The bytes of a recorded message. Tests run in the root of the sources.
inline std::vector<std::byte> recorded(const std::string& name) {
  const Result<std::string> content = read_file(Path("tests/data/netlink") / (name + ".bin"));
  if (!content) std::abort();
  std::vector<std::byte> bytes(content->size());
  std::memcpy(bytes.data(), content->data(), bytes.size());
  return bytes;
}

}  // namespace ibpod
