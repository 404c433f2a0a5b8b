// RegistrationState: where a resource stands with the kubelet. gRPC's threads tell what the kubelet
// says, the plugin's thread decides by it.
#pragma once

#include "lib/base/wake.h"
#include "lib/kube/registration.h"

#include <functional>
#include <mutex>

namespace ibpod::kube {

class RegistrationState {
 public:
  using Observer = std::function<void(const Registration&)>;

  // Rings `wake` with every change, and tells `observer`, which must not call back.
  RegistrationState(Wake wake, Observer observer)
      : wake_(std::move(wake)), observer_(std::move(observer)) {}

  // A new attempt: what was said to the last one is void.
  void begin(Mode mode);
  void accepted();
  void refused(const Error& error);
  // A ListAndWatch stream has begun, or has ended. A kubelet never opens one again by itself.
  void listening();
  void hung_up();

  Registration registration() const;
  bool registered() const;
  // True if the present attempt has failed, or a registration was lost.
  bool failed() const;
  const Wake& wake() const { return wake_; }

 private:
  void settle();
  mutable std::mutex mutex_;
  Wake wake_;
  Observer observer_;
  Registration registration_ = {.since = std::chrono::system_clock::now()};
  int streams_ = 0;
  bool accepted_ = false;
  bool refused_ = false;  // since then
  bool lost_ = false;     // the last stream has ended, and no other has begun
};

}  // namespace ibpod::kube
