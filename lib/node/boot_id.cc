#include "lib/node/boot_id.h"

#include "lib/base/files.h"

namespace ibpod::node {

Result<std::string> read_boot_id() {
  std::string id = TRY(read_file("/proc/sys/kernel/random/boot_id"));
  if (id.ends_with('\n')) id.pop_back();
  return id;
}

}  // namespace ibpod::node
