#include "lib/rpc/callers.h"

#include "lib/rpc/holder.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ibpod::rpc {
namespace {

constexpr double kBurst = 2;   // seconds
constexpr uint64_t kFew = 10;  // calls, which a client may have begun before the first is answered

// The connection that has most, and what all have.
struct Most {
  Callers::Number connection = 0;
  uint64_t of_it = 0;
  uint64_t of_all = 0;
};

Most most(const std::map<Callers::Number, Callers::Use>& connections,
          uint64_t Callers::Use::*what) {
  Most found;
  for (const auto& [number, use] : connections) {
    found.of_all += use.*what;
    if (use.*what < found.of_it) continue;
    found.of_it = use.*what;
    found.connection = number;
  }
  return found;
}

}  // namespace

std::string_view name(Cause cause) {
  static constexpr std::array<std::string_view, kCauses> kNames{
      "connections", "unfinished", "rate",       "bytes",
      "handshake",   "barred",     "reconnects", "unauthenticated"};
  return kNames.at(static_cast<size_t>(cause));
}

void Callers::add(Number connection, const std::string& holder, Time now) {
  const auto [found, is_new] = callers_.try_emplace(holder);
  Caller& caller = found->second;
  if (is_new) {
    const double calls =
        is_anonymous(holder) ? limits_.unauthenticated_calls_a_second : limits_.calls_a_second;
    caller.calls = TokenBucket(calls * kBurst, calls);
    caller.connects = TokenBucket(limits_.connections_at_once, limits_.connections_a_second);
  }
  if (now >= caller.barred_until) caller.connects.spend(1, now);
  caller.connections.try_emplace(connection);
  holders_.emplace(connection, holder);
}

void Callers::remove(Number connection) {
  const auto holder = holders_.find(connection);
  if (holder == holders_.end()) return;
  callers_.at(holder->second).connections.erase(connection);
  holders_.erase(holder);
}

void Callers::move(Number connection, const std::string& holder, Time now) {
  const auto before = holders_.find(connection);
  if (before == holders_.end()) return;
  Caller& from = callers_.at(before->second);
  const Use use = from.connections.at(connection);
  from.connects.refund(1, now);
  from.calls.refund(static_cast<double>(use.begun), now);
  remove(connection);
  add(connection, holder, now);
  this->use(connection, use, now);
}

void Callers::use(Number connection, const Use& use, Time now) {
  const auto holder = holders_.find(connection);
  if (holder == holders_.end()) return;
  Caller& caller = callers_.at(holder->second);
  Use& before = caller.connections.at(connection);
  const auto more = static_cast<double>(use.begun - std::min(use.begun, before.begun));
  caller.calls.spend(more, now);
  before = use;
}

std::optional<Callers::Cut> Callers::judge(const Caller& caller, Time now) const {
  const auto& connections = caller.connections;
  if (connections.empty()) return std::nullopt;
  if (now < caller.barred_until) return Cut{connections.rbegin()->first, Cause::barred};
  if (connections.size() > limits_.connections)
    return Cut{connections.begin()->first, Cause::connections};
  const Most unfinished = most(connections, &Use::unfinished);
  if (unfinished.of_all > limits_.unfinished) return Cut{unfinished.connection, Cause::unfinished};
  const Most bytes = most(connections, &Use::bytes);
  if (bytes.of_all > limits_.bytes) return Cut{bytes.connection, Cause::bytes};
  const Most begun = most(connections, &Use::begun);
  if (caller.calls.overdrawn()) return Cut{begun.connection, Cause::rate};
  if (caller.connects.overdrawn()) return Cut{connections.rbegin()->first, Cause::reconnects};
  return std::nullopt;
}

// As judge(), but connections that have hardly begun a call are not cut for the calls of others,
// and of those that came too fast only the newest ones.
std::optional<Callers::Cut> Callers::judge_address(Caller& caller, Time now) const {
  std::optional<Cut> cut = judge(caller, now);
  if (cut && cut->cause == Cause::rate && caller.connections.at(cut->connection).begun <= kFew) {
    caller.calls.forgive();
    cut = judge(caller, now);
  }
  if (cut && cut->cause == Cause::reconnects) caller.connects.refund(1, now);
  return cut;
}

std::optional<Callers::Cut> Callers::cut_one(const std::string& holder, Time now) {
  const auto found = callers_.find(holder);
  if (found == callers_.end()) return std::nullopt;
  Caller& caller = found->second;
  const bool anonymous = is_anonymous(holder);
  const std::optional<Cut> cut = anonymous ? judge_address(caller, now) : judge(caller, now);
  if (!cut) return std::nullopt;
  const bool bars = cut->cause != Cause::connections && cut->cause != Cause::barred;
  if (bars && !anonymous) bar(caller, now);
  remove(cut->connection);
  return cut;
}

void Callers::bar(Caller& caller, Time now) {
  caller.barred_until = now + limits_.barred;
  barred_until_ = std::max(barred_until_, caller.barred_until);
}

std::vector<Callers::Number> Callers::connections(const std::string& holder) const {
  std::vector<Number> numbers;
  const auto found = callers_.find(holder);
  if (found == callers_.end()) return numbers;
  for (const auto& [number, use] : found->second.connections) numbers.push_back(number);
  return numbers;
}

void Callers::forget_idle(Time now) {
  std::erase_if(callers_, [&](const auto& entry) {
    const Caller& caller = entry.second;
    return caller.connections.empty() && now >= caller.barred_until && caller.calls.full(now) &&
           caller.connects.full(now);
  });
}

}  // namespace ibpod::rpc
