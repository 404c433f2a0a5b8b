// What passes through gRPC from one thread to another, said to ThreadSanitizer: Debian's gRPC is
// not instrumented, so it sees neither gRPC's locks nor what they keep apart. In other builds
// nothing.
#pragma once

#ifdef IBPOD_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace ibpod::rpc {

// Before gRPC is given the object, and where it comes back: all that was done to it until then has
// happened before what follows.
inline void hand_over([[maybe_unused]] void* object) {
#ifdef IBPOD_TSAN
  __tsan_release(object);
#endif
}

inline void take_over([[maybe_unused]] void* object) {
#ifdef IBPOD_TSAN
  __tsan_acquire(object);
#endif
}

}  // namespace ibpod::rpc
