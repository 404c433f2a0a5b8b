#include "lib/kube/registration_state.h"

namespace ibpod::kube {

void RegistrationState::begin(Mode mode) {
  const std::lock_guard lock(mutex_);
  ++registration_.attempts;
  registration_.mode = mode;
  accepted_ = false;
  refused_ = false;
  lost_ = false;
  settle();
}

void RegistrationState::accepted() {
  const std::lock_guard lock(mutex_);
  accepted_ = true;
  refused_ = false;
  settle();
}

void RegistrationState::refused(const Error& error) {
  const std::lock_guard lock(mutex_);
  registration_.last_error = error;
  accepted_ = false;
  refused_ = true;
  settle();
}

void RegistrationState::listening() {
  const std::lock_guard lock(mutex_);
  ++streams_;
  lost_ = false;
  settle();
}

void RegistrationState::hung_up() {
  const std::lock_guard lock(mutex_);
  if (--streams_ == 0) {
    lost_ = true;
    registration_.last_error = Error(Code::unavailable, "the kubelet no longer listens");
  }
  settle();
}

// Notes the time of a change, and tells who waits.
void RegistrationState::settle() {
  const bool registered = accepted_ && streams_ > 0;
  if (registered != registration_.registered) {
    registration_.registered = registered;
    registration_.since = std::chrono::system_clock::now();
  }
  if (observer_) observer_(registration_);
  wake_.ring();
}

Registration RegistrationState::registration() const {
  const std::lock_guard lock(mutex_);
  return registration_;
}

bool RegistrationState::registered() const {
  const std::lock_guard lock(mutex_);
  return registration_.registered;
}

bool RegistrationState::failed() const {
  const std::lock_guard lock(mutex_);
  return refused_ || lost_;
}

}  // namespace ibpod::kube
