// A pod that tries everything: as long as it runs, it sends messages to every other pod with a
// prober, by IP over InfiniBand, by unreliable datagrams and by reliable connections, with the
// P_Key at every index of its port's table, to every index of theirs. Whoever gets one that comes
// from another tenant says so at once.
//
//   prober FOLDER POD PARTITIONS [ADDRESS]
//
// FOLDER is where the probers of one machine find each other, PARTITIONS are the pod's
// ("blue,red"), ADDRESS is that of its IPoIB interface. It ends with SIGTERM, with "all: N right, N
// wrong, N missing, N broken", exit code 1 where there was something wrong, and 2 where it could
// not go on.
#include "tests/vm/probes/prober.h"

#include <csignal>
#include <iostream>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

namespace ibpod::probes {
namespace {

constexpr unsigned kRoundsASecond = 5;
constexpr unsigned kRoundsALook = 2;

Result<Fd> catch_sigterm() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int fd = TRY(sys("signalfd", [&] { return ::signalfd(-1, &signals, SFD_CLOEXEC); }));
  return Fd(fd);
}

Result<Fd> make_clock() {
  const int fd = TRY(sys("timerfd", [] { return ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); }));
  const timespec round = {0, 1'000'000'000 / kRoundsASecond};
  const itimerspec often = {round, round};
  TRY(sys("timerfd", [&] { return ::timerfd_settime(fd, 0, &often, nullptr); }));
  return Fd(fd);
}

Status run(Prober& prober) {
  const Fd end = TRY(catch_sigterm());
  const Fd clock = TRY(make_clock());
  for (unsigned round = 0;; ++round) {
    if (round % kRoundsALook == 0) TRY(prober.look_round());
    prober.send();
    pollfd waiting[] = {{end.get(), POLLIN, 0}, {clock.get(), POLLIN, 0}};
    TRY(sys("poll", [&] { return ::poll(waiting, 2, -1); }));
    prober.take();
    if (waiting[0].revents != 0) return ok();
    uint64_t rounds = 0;
    TRY(sys("timerfd", [&] { return ::read(clock.get(), &rounds, sizeof rounds); }));
  }
}

Status probe(const std::filesystem::path& folder, const Prober::Self& self, Tally& tally) {
  Prober prober = TRY(Prober::open(self, folder, tally));
  const Status ended = run(prober);
  TRY(remove_peer_info(folder, self.pod));
  return ended;
}

}  // namespace
}  // namespace ibpod::probes

int main(int count, char** arguments) {
  using namespace ibpod::probes;
  if (count < 4 || count > 5) {
    std::cerr << "usage: prober FOLDER POD PARTITIONS [ADDRESS]\n";
    return 2;
  }
  const Prober::Self self{arguments[2], parse_tenants(arguments[3]),
                          count > 4 ? arguments[4] : "-"};
  Tally tally(self.tenants, std::cout);
  const ibpod::Status ended = probe(arguments[1], self, tally);
  tally.report();
  if (!ended) std::cout << "prober of " << self.pod << ": " << ended.error().text() << std::endl;
  if (!ended) return 2;
  return tally.wrong() == 0 ? 0 : 1;
}
