#include "lib/base/core_dumps.h"

#include <sys/prctl.h>
#include <sys/resource.h>

namespace ibpod {

void forbid_core_dumps() {
  constexpr rlimit kNone{0, 0};
  (void)::setrlimit(RLIMIT_CORE, &kNone);
  (void)::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace ibpod
