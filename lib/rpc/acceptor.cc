#include "lib/rpc/acceptor.h"

#include <array>

#include <fcntl.h>
#include <poll.h>

namespace ibpod::rpc {
namespace {

// How long nothing is taken where nothing can be.
constexpr int kPauseMs = 200;

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::start(int listening, TakeAll take_all) {
  Wake wake = TRY(Wake::open());
  return std::unique_ptr<Acceptor>(new Acceptor(listening, std::move(take_all), std::move(wake)));
}

Acceptor::Acceptor(int listening, TakeAll take_all, Wake wake)
    : listening_(listening),
      take_all_(std::move(take_all)),
      stopping_(std::move(wake)),
      thread_([this] { run(); }) {}

Acceptor::~Acceptor() {
  stopping_.ring();
  thread_.join();
}

void Acceptor::run() {
  std::array<pollfd, 2> waiting{{{stopping_.fd(), POLLIN, 0}, {listening_, POLLIN, 0}}};
  while (waiting[0].revents == 0) {
    if (waiting[1].revents != 0 && !take_all_()) {
      ::poll(waiting.data(), 1, kPauseMs);
    } else {
      ::poll(waiting.data(), waiting.size(), -1);
    }
  }
}

int given_away(const Fd& connection) { return ::fcntl(connection.get(), F_DUPFD_CLOEXEC, 3); }

}  // namespace ibpod::rpc
