// Nodes that bind as much as they may, beside one that binds as a node does: how long the good one
// waits for its own Binds, Unbinds and Syncs, and how large partitions.conf becomes. Times are
// printed and not judged. Judged are: each attacker is granted something and is refused by a limit
// that the refusal names, the good node binds, unbinds and loses nothing, the size of the file, and
// the memory of ibpod-sm.
//   QUOTA_NODES=N       compromised nodes, 1 to 3 (3)
//   QUOTA_SECONDS=N     how long they bind (60)
//   QUOTA_PARTITIONS=N  that any pod may be in: 1 to 64 of them a Bind (60)
//   QUOTA_CALLS=N       Binds of one node at a time (32)
//   QUOTA_LIMIT=N       the limit of one node in ibpod-sm's configuration; not set: the default
//   QUOTA_JUDGE=0       prints only
//   QUOTA_LARGE=1       also lets administrators fill partitions.conf to its limit, which takes
//                       minutes
// A lane runs it by itself, without a sanitizer: QUOTA_SECONDS=60 build/measure/bin/fabric_quota;
// what it has to look for is the lines "good node, …", "attacker …" and "under attack:
// partitions.conf …".
#include "tests/fabric/setting.h"
#include "tests/fabric/sm/secure_fixture.h"
#include "tests/fabric/storm/times.h"

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using namespace std::chrono_literals;
using fabric::BindingState;

constexpr unsigned kGood = 4;
// AddressSanitizer keeps what is freed: there the memory says nothing.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IBPOD_SANITIZED 1
#endif
#endif
#ifdef IBPOD_SANITIZED
constexpr size_t kMostMegabytes = SIZE_MAX;
#else
constexpr size_t kMostMegabytes = 256;
#endif
constexpr uint32_t kGuids = 4096;  // that the pool gives a node at most

struct Attack {
  unsigned nodes = setting("QUOTA_NODES", 3U);
  int seconds = setting("QUOTA_SECONDS", 60);
  int partitions = setting("QUOTA_PARTITIONS", 60);
  int calls = setting("QUOTA_CALLS", 32);
  int limit = setting("QUOTA_LIMIT", 0);
  bool judge = setting("QUOTA_JUDGE", 1) != 0;
};

// An older ibpod-sm knows no limits.
std::string limits(const Attack& attack) {
  if (attack.limit == 0) return "";
  const std::string most = std::to_string(attack.limit);
  return R"(, "limits": {"membershipsOfNode": )" + most + R"(, "unseenPortsOfNode": )" + most + "}";
}

std::string wide_partition(int number) { return "wide" + std::to_string(number); }

// Megabytes of a process: "VmHWM:" the most that it has had, "VmRSS:" what it has.
size_t memory(pid_t pid, const std::string& which) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    size_t kilobytes = 0;
    if (word == which && status >> kilobytes) return kilobytes >> 10;
  }
  return 0;
}

// One compromised node: a certificate, as many GUIDs of the pool as it gets, and a Bind of each
// into all partitions.
class Attacker {
 public:
  Attacker(const SecureFixture& fixture, const Attack& attack, unsigned host)
      : attack_(attack), host_(host), client_(fixture.node(host)) {}

  void take_guids() {
    for (uint32_t first = 0; first < kGuids; first += 512) {
      fabricapi::AllocateRequest request{node_of(host_), "0000:01:00.0", {}};
      for (uint32_t vf = first; vf < first + 512; ++vf) request.vfs.push_back(vf);
      const auto given = client_.allocate_guids(request, Deadline::in(60s));
      REQUIRE_MESSAGE(given, given.error().text());
      guids_.insert(guids_.end(), given->begin(), given->end());
    }
  }
  void bind_on(const std::stop_token& stop) {
    std::vector<std::jthread> callers;
    for (int n = 0; n < attack_.calls; ++n)
      callers.emplace_back([this, stop] {
        while (!stop.stop_requested()) bind_next(500ms);
      });
  }
  void print() const {
    std::printf(
        "attacker %s: %zu Binds granted, %zu refused, %zu not answered within 0.5 s; first "
        "refusal: %s\n",
        node_of(host_).c_str(), granted_.load(), refused_.load(), unanswered_.load(),
        refusal_.empty() ? "none" : refusal_.c_str());
  }
  // On a slow machine no Bind is answered in time.
  void go_on_until_limited() {
    for (int tries = 0; tries < 60 && limited_ == 0; ++tries) bind_next(2s);
  }
  // A Bind that was granted may have been answered too late.
  void judge(fabricapi::Client administrator) const {
    CAPTURE(node_of(host_));
    fabricapi::BindingFilter filter;
    filter.node = node_of(host_);
    const auto bindings = administrator.list_bindings(filter, {}, Deadline::in(60s));
    REQUIRE_MESSAGE(bindings, bindings.error().text());
    CHECK(bindings->items.size() > 0);
    CHECK_MESSAGE(limited_ > 0, "first refusal: " << refusal_);
  }

 private:
  static bool names_limit(const std::string& text) {
    return text.find("limits.membershipsOfNode") != text.npos ||
           text.find("changes bindings too often") != text.npos;
  }
  void bind_next(Duration timeout) {
    const size_t number = next_++;
    fabricapi::BindRequest request =
        SmFixture::request(host_, "", "x" + std::to_string(number % guids_.size()));
    request.guid = guids_[number % guids_.size()].guid;
    request.partitions.clear();
    for (int n = 0; n < attack_.partitions; ++n)
      request.partitions.push_back({wide_partition(n), {}});
    const auto bound = client_.bind(request, Deadline::in(timeout));
    if (bound) {
      ++granted_;
    } else if (bound.error().code() == Code::unavailable) {
      ++unanswered_;
    } else {
      ++refused_;
      if (names_limit(bound.error().text())) ++limited_;
      const std::lock_guard lock(mutex_);
      if (refusal_.empty()) refusal_ = bound.error().text();
    }
  }

  const Attack& attack_;
  const unsigned host_;
  fabricapi::Client client_;
  std::vector<fabricapi::AllocatedGuid> guids_;
  std::atomic<size_t> next_{0}, granted_{0}, refused_{0}, limited_{0}, unanswered_{0};
  std::mutex mutex_;
  std::string refusal_;
};

// The calls of the good node, again and again.
class GoodNode {
 public:
  explicit GoodNode(const SecureFixture& fixture)
      : client_(fixture.node(kGood)), request_(SmFixture::request(kGood, "blue")) {}

  void go_on(const std::stop_token& stop) {
    while (!stop.stop_requested()) once();
  }
  void once() {
    measure(bind_, [&] {
      const auto bound = client_.bind(request_, Deadline::in(40s));
      return note("Bind", bound, bound && bound->state == BindingState::verified);
    });
    measure(sync_, [&] {
      const auto synced = client_.sync({node_of(kGood), {{"c1", "net1"}}}, Deadline::in(40s));
      return note("Sync", synced, synced.ok());
    });
    measure(unbind_, [&] {
      const auto unbound = client_.unbind(request_.attachment, Deadline::in(40s));
      return note("Unbind", unbound, unbound && unbound->state == BindingState::released);
    });
  }
  void print_times(const char* when) {
    std::printf("good node, %s: first Bind %.1f ms, %zu failures%s%s\n", when,
                bind_.empty() ? 0 : bind_.front(), failures_,
                failures_ == 0 ? "" : ", first: ", failure_.c_str());
    print("good node: Bind to verified", std::exchange(bind_, {}));
    print("good node: Sync", std::exchange(sync_, {}));
    print("good node: Unbind to released", std::exchange(unbind_, {}));
  }
  size_t failures() const { return failures_; }
  size_t binds() const { return bind_.size(); }
  size_t unbinds() const { return unbind_.size(); }

 private:
  template <typename Step>
  void measure(Times& ms, const Step& step) {
    const auto begun = Clock::now();
    (void)step();  // that it failed is counted, and the time is one of a caller who waited
    ms.push_back(ms_since(begun));
  }
  template <typename Value>
  bool note(const char* call, const Result<Value>& result, bool well) {
    if (well) return true;
    ++failures_;
    if (failure_.empty())
      failure_ =
          std::string(call) + ": " + (result ? "not so at its deadline" : result.error().text());
    return false;
  }

  fabricapi::Client client_;
  fabricapi::BindRequest request_;
  Times bind_, sync_, unbind_;
  size_t failures_ = 0;
  std::string failure_;
};

void print_state(const SecureFixture& fixture, const char* when) {
  const auto health = fixture.SmFixture::client().health(Deadline::in(60s));
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(fixture.partitions_conf(), error);
  std::printf("%s: partitions.conf %.2f MB, ibpod-sm %zu MB now, %zu MB at most; %s\n", when,
              error ? 0 : static_cast<double>(size) / 1e6, memory(fixture.pid(), "VmRSS:"),
              memory(fixture.pid(), "VmHWM:"),
              health ? health->engine().c_str() : health.error().text().c_str());
  std::fflush(stdout);
}

void make_partitions(SecureFixture& fixture, const Attack& attack) {
  fixture.create_partition("blue");
  for (int n = 0; n < attack.partitions; ++n) fixture.create_partition(wide_partition(n));
}

TEST_CASE("nodes that bind as much as they may take nothing from a good one") {
  const Attack attack;
  SecureFixture fixture(R"("logLevel": "warning", "guids": [{"first": "0x0200000000000001",
                    "last": "0x020000000000ffff"}])" +
                        limits(attack));
  make_partitions(fixture, attack);
  GoodNode good(fixture);
  for (int n = 0; n < 5; ++n) good.once();
  good.print_times("before");
  std::vector<std::unique_ptr<Attacker>> attackers;
  for (unsigned host = 1; host <= attack.nodes; ++host) {
    attackers.push_back(std::make_unique<Attacker>(fixture, attack, host));
    attackers.back()->take_guids();
  }
  print_state(fixture, "before");
  {
    std::stop_source stop;
    std::vector<std::jthread> running;
    for (const auto& attacker : attackers)
      running.emplace_back([&] { attacker->bind_on(stop.get_token()); });
    running.emplace_back([&] { good.go_on(stop.get_token()); });
    std::this_thread::sleep_for(std::chrono::seconds(attack.seconds));
    stop.request_stop();
  }
  const size_t binds = good.binds(), unbinds = good.unbinds();
  good.print_times("under attack");
  for (const auto& attacker : attackers) attacker->print();
  print_state(fixture, "under attack");
  for (int n = 0; n < 5; ++n) good.once();
  good.print_times("behind it");
  if (!attack.judge) return;
  for (const auto& attacker : attackers) attacker->go_on_until_limited();
  for (const auto& attacker : attackers) attacker->judge(fixture.administrator());
  CHECK(binds > 0);
  CHECK(unbinds > 0);
  CHECK(good.failures() == 0);
  CHECK(memory(fixture.pid(), "VmHWM:") < kMostMegabytes);
  CHECK(std::filesystem::file_size(fixture.partitions_conf()) < 16U << 20);
}

// With so many members, none of them on the subnet; a partition may have 10,000.
fabric::Partition large_partition(int number, uint64_t members) {
  fabric::Partition full = SmFixture::sample_partition("full" + std::to_string(number));
  for (uint64_t n = 1; n <= members; ++n)
    full.members.push_back({ib::Guid(0x0002'c903'1000'0000 + n), fabric::Membership::limited, ""});
  return full;
}

TEST_CASE("administrators fill partitions.conf to its limit, and pods still leave it" *
          doctest::skip(setting("QUOTA_LARGE", 0) == 0)) {
  SecureFixture fixture(R"("logLevel": "warning")");
  fixture.create_partition("blue");
  const fabricapi::BindRequest request = SmFixture::request(kGood, "blue");
  REQUIRE(fixture.node(kGood).bind(request, Deadline::in(60s)));
  fabricapi::Client administrator = fixture.administrator();
  const auto fill = [&](int number, uint64_t members) {
    return administrator.create_partition(large_partition(number, members), Deadline::in(300s));
  };
  int number = 0;
  auto made = fill(number, 10'000);
  while (made) made = fill(++number, 10'000);
  std::printf("%d partitions of 10,000 members; then: %s\n", number, made.error().text().c_str());
  check_refused(made, Code::busy, {"partitions.conf", "16777216"});
  // Only as much of the 16 MiB as the writer may need for heads is left then.
  const auto rest = fill(number, 7'000);
  REQUIRE_MESSAGE(rest, rest.error().text());
  check_refused(fixture.node(1).bind(SmFixture::request(1, "blue"), Deadline::in(300s)), Code::busy,
                {"partitions.conf", "16777216"});
  print_state(fixture, "filled");
  const auto begun = Clock::now();
  const auto gone = fixture.node(kGood).unbind(request.attachment, Deadline::in(300s));
  REQUIRE_MESSAGE(gone, gone.error().text());
  CHECK(gone->state == BindingState::released);
  std::printf("Unbind to released: %.0f ms\n", ms_since(begun));
}

}  // namespace
}  // namespace ibpod
