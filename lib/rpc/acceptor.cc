#include "lib/rpc/acceptor.h"

#include <algorithm>
#include <array>

#include <fcntl.h>
#include <poll.h>

namespace ibpod::rpc {
namespace {

// How long nothing is taken where nothing can be.
constexpr Duration kPause{200};
// Connections that are taken before something else has its turn.
constexpr int kAtOnce = 64;

int milliseconds(const Deadline& deadline) { return static_cast<int>(deadline.left().count()) + 1; }

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::start(int listening, Take take, Watch watch) {
  Wake wake = TRY(Wake::open());
  return std::unique_ptr<Acceptor>(
      new Acceptor(listening, std::move(take), std::move(watch), std::move(wake)));
}

Acceptor::Acceptor(int listening, Take take, Watch watch, Wake wake)
    : listening_(listening),
      take_(std::move(take)),
      watch_(std::move(watch)),
      stopping_(std::move(wake)),
      thread_([this] { run(); }) {}

Acceptor::~Acceptor() {
  stopping_.ring();
  thread_.join();
}

void Acceptor::run() {
  while (wait()) continue;
}

// In ms, for poll(); negative: for ever.
int Acceptor::poll_timeout() const {
  std::optional<Deadline> next = must_look_;
  const auto earlier = [&](const Deadline& one) {
    if (!next || one.time() < next->time()) next = one;
  };
  if (!takes_.passed()) earlier(takes_);
  if (!looks_.passed()) earlier(looks_);
  return next ? milliseconds(*next) : -1;
}

// For what comes next, and does it. False: it is over.
bool Acceptor::wait() {
  const int listening = takes_.passed() ? listening_ : -1;
  const int activity = looks_.passed() ? watch_.activity : -1;
  std::array<pollfd, 3> waiting{
      {{stopping_.fd(), POLLIN, 0}, {listening, POLLIN, 0}, {activity, POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), poll_timeout());
  if (waiting[0].revents != 0) return false;
  if (waiting[1].revents != 0) {
    take_some();
    if (watch_.look) must_look_ = looks_;
  }
  if (waiting[2].revents != 0 || (must_look_ && must_look_->passed())) look();
  return true;
}

void Acceptor::take_some() {
  for (int n = 0; n < kAtOnce; ++n) {
    const AcceptResult taken = take_();
    if (taken == AcceptResult::out_of_resources) takes_ = Deadline::in(kPause);
    if (taken != AcceptResult::accepted) return;
  }
}

void Acceptor::look() {
  const Next next = watch_.look();
  looks_ = Deadline::in(next.pause);
  must_look_.reset();
  if (next.at_most) must_look_ = Deadline::in(*next.at_most);
}

int given_away(const Fd& connection) { return ::fcntl(connection.get(), F_DUPFD_CLOEXEC, 3); }

}  // namespace ibpod::rpc
