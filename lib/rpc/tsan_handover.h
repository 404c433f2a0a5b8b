// Tells ThreadSanitizer what passes through gRPC from one thread to another: Debian's gRPC is not
// instrumented, so its locks are not seen. In other builds it does nothing.
#pragma once

#ifdef IBPOD_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace grpc {
class Service;
}

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

// In every method of a service, at its beginning: it runs after Server::serve() has begun and
// before Server::stop() returns. It does not order two methods that run one after the other.
class Answering {
 public:
  explicit Answering(grpc::Service& service) : service_(service) { take_over(served(service_)); }
  Answering(const Answering&) = delete;
  Answering& operator=(const Answering&) = delete;
  Answering(Answering&&) = delete;
  Answering& operator=(Answering&&) = delete;
  ~Answering() { hand_over(answered(service_)); }

  // Two addresses that represent the beginning and the end of a service.
  static void* served(grpc::Service& service) { return &service; }
  static void* answered(grpc::Service& service) { return reinterpret_cast<char*>(&service) + 1; }

 private:
  grpc::Service& service_;
};

}  // namespace ibpod::rpc
