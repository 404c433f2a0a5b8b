#include "lib/rpc/guard.h"

#include "lib/rpc/serving.h"

#include <algorithm>
#include <array>
#include <utility>

#include <sys/epoll.h>

namespace ibpod::rpc {
namespace {

constexpr Duration kPause{20};
// While a holder is barred, because it retries at once.
constexpr Duration kShortPause{2};
constexpr Duration kTidyAfter{500};
// For so long gRPC may know nothing of a connection that it knew of.
constexpr Duration kLostFor{1000};
// Bytes for which gRPC is not asked: some hundred frames.
constexpr uint64_t kFew = 4096;

Callers::Time now() { return std::chrono::steady_clock::now(); }

}  // namespace

Result<std::unique_ptr<Guard>> Guard::start(const CallerLimits& limits, Deps deps) {
  Fd epoll(TRY(sys("epoll_create1", [] { return ::epoll_create1(EPOLL_CLOEXEC); })));
  return std::unique_ptr<Guard>(new Guard(limits, std::move(deps), std::move(epoll)));
}

Guard::Guard(const CallerLimits& limits, Deps deps, Fd epoll)
    : limits_(limits), deps_(std::move(deps)), epoll_(std::move(epoll)), callers_(limits) {}

Status Guard::watch(int fd, const std::string& address) {
  const SocketHandle socket = TRY(SocketHandle::of(fd));
  const auto peer = socket.peer();
  if (!peer) return ok();  // it has gone already
  const Number number = next_++;
  epoll_event event{};
  // Bytes that gRPC has already taken are reported only because the connection is writable
  // (EPOLLOUT).
  event.events = EPOLLIN | EPOLLOUT | EPOLLET;
  event.data.u64 = number;
  TRY(sys("epoll_ctl", [&] { return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event); }));
  watched_.emplace(number, Watched{socket, address});
  by_peer_[*peer] = number;
  if (deps_.authenticated != nullptr) deps_.authenticated->forget(*peer);
  unidentified_ = true;
  return ok();
}

Acceptor::Next Guard::next() const {
  const Duration pause = callers_.any_barred(now()) ? kShortPause : kPause;
  if (unidentified_ || !active_.empty()) return {pause, pause};
  if (watched_.empty()) return {pause, std::nullopt};
  return {pause, kTidyAfter};
}

void Guard::collect_active() {
  std::array<epoll_event, 256> events;
  int count = 0;
  do {
    count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
    for (size_t n = 0; static_cast<int>(n) < count; ++n) {
      const Number number = events.at(n).data.u64;  // the structure is packed
      active_.insert(number);
    }
  } while (count == static_cast<int>(events.size()));
}

void Guard::look() {
  collect_active();
  const bool tidy = tidy_.passed();
  if (tidy) forget_closed();
  if (tidy)
    for (const auto& [number, one] : watched_) active_.insert(number);
  bool unknown = tidy;
  for (const Number number : active_) {
    const auto found = watched_.find(number);
    unknown = unknown || (found != watched_.end() && !found->second.id);
  }
  // In this order: a client that was authenticated before gRPC reported it is no unknown one.
  const auto sockets = unknown ? deps_.channelz->new_sockets() : std::vector<Channelz::Socket>();
  move_authenticated();
  identify(sockets);
  if (tidy) cut_unauthenticated();
  std::set<std::string> holders;
  std::erase_if(active_, [&](Number number) { return !examine(number, holders); });
  for (const std::string& holder : holders) judge(holder);
}

// Connections on which TLS has begun since the last time.
void Guard::identify(const std::vector<Channelz::Socket>& sockets) {
  std::set<std::string> holders;
  for (const Channelz::Socket& socket : sockets) {
    const auto found = by_peer_.find(socket.peer);
    const auto one = found == by_peer_.end() ? watched_.end() : watched_.find(found->second);
    if (one == watched_.end()) continue;
    // gRPC may report an earlier connection from the same port late.
    if (one->second.id && *one->second.id > socket.id) continue;
    const auto received = one->second.socket.received();
    if (!received) continue;
    deps_.channelz->set_server(socket.server);
    callers_.remove(one->first);
    one->second.id = socket.id;
    one->second.lost.reset();
    one->second.holder = holder_of_new(one->second, socket.certificate);
    if (!one->second.unauthenticated)
      one->second.unauthenticated = Deadline::in(limits_.unauthenticated);
    one->second.whole = one->second.examined = received->taken;
    callers_.add(one->first, one->second.holder, now());
    holders.insert(one->second.holder);
  }
  for (const std::string& holder : holders) judge(holder);
}

std::string Guard::holder_of_new(const Watched& one, const std::string& certificate) const {
  if (!certificate.empty()) return deps_.account(peer_of(certificate));
  return one.authenticated.empty() ? anonymous_account(one.address) : one.authenticated;
}

// Connections on which a call was authenticated since the last time; also those that gRPC has not
// reported yet.
void Guard::move_authenticated() {
  if (deps_.authenticated == nullptr) return;
  for (const auto& [peer, account] : deps_.authenticated->take()) {
    const auto found = by_peer_.find(peer);
    const auto one = found == by_peer_.end() ? watched_.end() : watched_.find(found->second);
    if (one == watched_.end()) continue;
    one->second.authenticated = account;
    if (!one->second.id || one->second.holder == account) continue;
    one->second.holder = account;
    callers_.move(one->first, account, now());
    judge(account);
  }
}

void Guard::cut_unauthenticated() {
  for (auto one = watched_.begin(); one != watched_.end();) {
    const auto next = std::next(one);
    if (one->second.id && is_anonymous(one->second.holder) && one->second.unauthenticated->passed())
      cut(one, Cause::unauthenticated);
    one = next;
  }
}

// True if it has to be checked again even if nothing comes. Adds its holder if that has to be
// judged.
bool Guard::examine(Number number, std::set<std::string>& holders) {
  const auto one = watched_.find(number);
  if (one == watched_.end()) return false;
  const auto received = one->second.socket.received();
  if (!received) return forget(one), false;
  if (!one->second.id) {
    const bool late = one->second.lost && one->second.lost->passed();
    if (!late && received->taken - one->second.whole <= limits_.handshake_bytes)
      return received->queued > 0;
    return cut(one, Cause::handshake), false;
  }
  if (received->taken - one->second.examined >= kFew) holders.insert(one->second.holder);
  return received->queued > 0;
}

void Guard::count(Number number) {
  const auto one = watched_.find(number);
  if (one == watched_.end()) return callers_.remove(number);
  Watched& watched = one->second;
  const auto received = watched.socket.received();  // of what comes later, counts may tell nothing
  const auto counts = deps_.channelz->counts(*watched.id);
  if (!received) return forget(one);
  if (!counts) return lose(one);
  if (counts->messages != watched.messages) watched.whole = received->taken;
  watched.messages = counts->messages;
  const uint64_t since_whole = received->taken - std::min(received->taken, watched.whole);
  // A whole request says nothing of the bytes that other calls still gather for theirs.
  watched.partial += received->taken - std::min(received->taken, watched.examined);
  watched.partial = std::min(watched.partial, counts->partial() * kLargestRequest);
  watched.examined = received->taken;
  const uint64_t bytes = std::max(since_whole, watched.partial);
  callers_.use(number, {counts->begun, counts->unfinished(), bytes}, now());
}

// gRPC has ended it, or the report was about an earlier connection from the same port: then this
// one is reported soon.
void Guard::lose(Entry one) {
  const auto received = one->second.socket.received();
  if (!received) return forget(one);
  callers_.remove(one->first);
  one->second.id.reset();
  one->second.lost = Deadline::in(kLostFor);
  one->second.whole = received->taken;
  one->second.messages = one->second.partial = 0;
  unidentified_ = true;
}

void Guard::judge(const std::string& holder) {
  for (const Number number : callers_.connections(holder)) count(number);
  while (const auto next = callers_.cut_one(holder, now())) {
    const auto one = watched_.find(next->connection);
    if (one != watched_.end()) cut(one, next->cause);
  }
}

void Guard::cut(Entry one, Cause cause) {
  const Cut told{cause, one->second.address, one->second.holder};
  if (one->second.socket.abort()) deps_.on_cut(told);
  forget(one);
}

void Guard::forget(Entry gone) {
  callers_.remove(gone->first);
  watched_.erase(gone);
}

void Guard::forget_closed() {
  tidy_ = Deadline::in(kTidyAfter);
  for (auto one = watched_.begin(); one != watched_.end();) {
    const auto next = std::next(one);
    if (!one->second.socket.open()) forget(one);
    one = next;
  }
  unidentified_ =
      std::any_of(watched_.begin(), watched_.end(), [](const auto& one) { return !one.second.id; });
  std::erase_if(by_peer_, [&](const auto& entry) { return !watched_.contains(entry.second); });
  callers_.forget_idle(now());
}

}  // namespace ibpod::rpc
