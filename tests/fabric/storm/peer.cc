#include "tests/fabric/storm/peer.h"

#include "tests/fabric/setting.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <semaphore>
#include <thread>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;

constexpr auto kVariable = "UFM_PEER";
constexpr size_t kReadTogether = 256;

struct Pod {
  unsigned host;
  Clock::time_point asked, in_force = {};
};

// Reads the tables of pods without their key until all have it, or the time is over.
class Watcher {
 public:
  Watcher(Ports& ports, ib::PKey key) : ports_(ports), key_(key) {}

  void expect(unsigned host) { waiting_.push_back({host, Clock::now()}); }
  void look() {
    std::vector<unsigned> hosts;
    for (const Pod& pod : waiting_)
      if (hosts.size() < kReadTogether) hosts.push_back(pod.host);
    if (hosts.empty()) return;
    const auto tables = ports_.tables(hosts);
    const auto now = Clock::now();
    std::deque<Pod> later;
    for (size_t n = 0; n < waiting_.size(); ++n) {
      Pod& pod = waiting_[n];
      const bool is_there = n < tables.size() && tables[n] && ib::find_in(*tables[n], key_);
      pod.in_force = now;
      (is_there ? done_ : n < tables.size() ? later : unread_).push_back(pod);
    }
    // Those that were not read come first the next time.
    waiting_ = std::exchange(unread_, {});
    waiting_.insert(waiting_.end(), later.begin(), later.end());
  }
  bool is_waiting() const { return !waiting_.empty(); }
  const std::deque<Pod>& done() const { return done_; }

 private:
  Ports& ports_;
  ib::PKey key_;
  std::deque<Pod> waiting_, unread_, done_;
};

// `pods` of them, each on a host of its own.
std::deque<Pod> run(const Storm& storm, int pods, Watcher watcher,
                    const std::function<void(unsigned)>& add) {
  const auto begun = Clock::now();
  for (int pod = 0; pod < pods; ++pod) {
    while (Clock::now() < storm.time_of(pod, begun)) {
      watcher.look();
      std::this_thread::sleep_for(1ms);
    }
    watcher.expect(storm.host_of(pod));
    add(storm.host_of(pod));
  }
  const Deadline limit = Deadline::in(120s);
  while (watcher.is_waiting() && !limit.passed()) watcher.look();
  return watcher.done();
}

void print(const std::string& who, const std::deque<Pod>& pods, int begun,
           const std::vector<UfmCall>& log, const std::string& user) {
  std::map<ib::Guid, Clock::time_point> added;
  size_t posts = 0;
  for (const UfmCall& call : log) {
    if (call.caller != user || call.operation != "post" || call.status != 200) continue;
    ++posts;
    const auto answered = call.at + std::chrono::milliseconds(setting("UFM_ANSWERS", 200));
    for (const ib::Guid guid : call.guids) added.try_emplace(guid, answered);
  }
  Times accepted, in_force;
  for (const Pod& pod : pods) {
    in_force.push_back(std::chrono::duration<double, std::milli>(pod.in_force - pod.asked).count());
    if (const auto found = added.find(port_guid(pod.host)); found != added.end())
      accepted.push_back(
          std::chrono::duration<double, std::milli>(found->second - pod.asked).count());
  }
  ibpod::print((who + ": pod to accepted").c_str(), accepted);
  ibpod::print((who + ": pod to key in the table").c_str(), in_force);
  std::printf("%s: %d pods, %zu with their key, %zu POSTs\n", who.c_str(), begun, pods.size(),
              posts);
  std::fflush(stdout);
}

}  // namespace

bool Peer::is_given() { return std::getenv(kVariable) != nullptr; }

Peer::Peer(const UfmProcess& ufm)
    : process_([&] {
        const Path fifo = folder_.path() / "pods";
        REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
        auto environment = ufm.environment_of(kUser);
        environment["LD_PRELOAD"] = "";
        auto started = Background::start(
            {.words = {"sh", "-c", std::string("exec ") + std::getenv(kVariable) + " <>pods"},
             .folder = folder_.path(),
             .environment = environment});
        REQUIRE(started);
        return std::move(started).value();
      }()),
      lines_(::open((folder_.path() / "pods").c_str(), O_WRONLY | O_CLOEXEC)) {
  REQUIRE(lines_.valid());
  const Status ready = process_.says("ready", Deadline::in(60s));
  REQUIRE_MESSAGE(ready, process_.output());
}

void Peer::add(unsigned host) {
  const std::string line = port_guid(host).text() + "\n";
  REQUIRE(::write(lines_.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()));
}

void compare_with_peer(const Storm& storm, SmProcess& sm, const UfmProcess& ufm, Ports& ports) {
  const int pods = std::min(storm.pods(), storm.leaves * kHostsOfLeaf - 200);
  ufm.clear_log();
  {
    Peer peer(ufm);
    const auto done =
        run(storm, pods, Watcher(ports, Peer::kPKey), [&](unsigned host) { peer.add(host); });
    print("peer", done, pods, ufm.log(), Peer::kUser);
  }
  ufm.clear_log();
  fabricapi::Client client = sm.client();
  std::vector<std::future<std::string>> binds;
  std::counting_semaphore<kMostCalls> calls(kMostCalls);
  const auto done = run(storm, pods, Watcher(ports, ib::PKey(0x8002)), [&](unsigned host) {
    binds.push_back(std::async(std::launch::async, [&client, &calls, host] {
      calls.acquire();
      const auto bound = client.bind(SmProcess::request(host, "red"), Deadline::in(120s));
      calls.release();
      return bound ? std::string(name(bound->state)) : bound.error().text();
    }));
  });
  print("ibpod-sm", done, pods, ufm.log(), kUfmUser);
  for (auto& bind : binds) CHECK(bind.get() == "verified");
}

}  // namespace ibpod
