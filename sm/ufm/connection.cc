#include "sm/ufm/connection.h"

#include "lib/base/jitter.h"

namespace ibpod::sm::ufm {
namespace {

using engine::Health;

}  // namespace

void Connection::succeeded(Use use) { state(use) = State(); }

void Connection::failed(Use use, const Error& error, Peer peer, Time now) {
  State& failed = state(use);
  failed.error = error;
  failed.peer = peer;
  ++failed.failures;
  failed.not_before = now + jittered(failed.pauses.next(), random_());
}

// The failure to read comes first: without readings nothing is known.
const Connection::State* Connection::fault() const {
  for (const State* const one : {&read_, &change_})
    if (one->error && (one->failures > 1 || one->error->code() == Code::denied)) return one;
  return nullptr;
}

Health Connection::health() const {
  const State* const fault = this->fault();
  if (fault == nullptr) return Health::serving;
  if (fault->error->code() == Code::denied) return Health::refused;
  if (fault == &change_) return Health::stuck;  // reads succeed, so there is a master
  return fault->peer == Peer::standby ? Health::not_master : Health::gone;
}

std::string Connection::trouble() const {
  const State* const fault = this->fault();
  if (fault == nullptr) return "";
  const std::string cause = ": " + fault->error->text();
  switch (health()) {
    case Health::refused:
      return "UFM refuses ibpod-sm's calls" + cause +
             "; check the credentials in `ufm` of ibpod-sm's configuration, and the rights of "
             "that user in UFM";
    case Health::not_master:
      return "only a standby of UFM answers" + cause +
             "; check UFM's high availability, and that `ufm.addresses` has all of its hosts";
    case Health::stuck:
      return "UFM answers, but fails to change partitions" + cause + "; see UFM's log";
    default:
      return "UFM does not answer" + cause +
             "; check that it runs, and `ufm.addresses` of ibpod-sm's configuration";
  }
}

}  // namespace ibpod::sm::ufm
