// Callers: what each holder of a certificate, or address without one, uses of a server over all of
// its connections, and which of them has to be cut so that it is not more than it may be.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/token_bucket.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::rpc {

// A holder is a node, or a user. A node's agent has one connection, or two while the old one ends,
// with at most TcpServer::Settings::streams_of_one_connection calls each (gRPC enforces it). It
// begins some tens of calls a second when many pods start at once, and sends one Sync of up to
// kLargestRequest at a time. A user who exports everything has one call. For each call that is
// begun and not ended gRPC holds 15 to 20 KiB, and for each byte of headers about 3.
struct CallerLimits {
  size_t connections = 16;       // the oldest beyond them is cut
  uint64_t unfinished = 512;     // calls that have begun and have not ended
  double calls_a_second = 1000;  // that begin, and at first twice as many at once
  // Connections that begin, each with a handshake, and how many at once: an agent begins one in an
  // hour. One that has ended before it is looked at is not counted.
  double connections_a_second = 20;
  double connections_at_once = 64;
  // Bytes that were received since the last whole request of their connection, or of requests that
  // are not whole.
  uint64_t bytes = 12 << 20;
  // Bytes that a client may send before it has shown a certificate.
  uint64_t handshake_bytes = 256 << 10;
  // A holder that was cut for any cause but `connections` gets no other for this long. Not an
  // address, as its other connections may be other clients': it loses those that do most, and the
  // newest of too many.
  Duration barred{10'000};
  // As calls_a_second, for all connections of an address on which no call was authenticated yet;
  // each is cut after this time.
  double unauthenticated_calls_a_second = 200;
  Duration unauthenticated{10'000};
};

// Why a connection was cut.
enum class Cause {
  connections,
  unfinished,
  rate,
  bytes,
  handshake,
  barred,
  reconnects,
  unauthenticated
};
inline constexpr size_t kCauses = 8;
// "connections", "unfinished", ….
std::string_view name(Cause cause);

// For one thread.
class Callers {
 public:
  using Time = TokenBucket::Time;
  using Number = uint64_t;  // of a connection, in the order they came
  struct Use {
    uint64_t begun = 0;       // calls, since the connection came
    uint64_t unfinished = 0;  // calls
    uint64_t bytes = 0;       // since the last whole request, or of those that are not whole
  };
  struct Cut {
    Number connection;
    Cause cause;
  };

  explicit Callers(const CallerLimits& limits) : limits_(limits) {}

  void add(Number connection, const std::string& holder, Time now);
  void remove(Number connection);
  // Its holder is known now: it and its calls count under that one, and not under the one before.
  void move(Number connection, const std::string& holder, Time now);
  // Records the use of the connection so far.
  void use(Number connection, const Use& use, Time now);
  // Which connection of this holder has to go next, if any; it counts no more.
  std::optional<Cut> cut_one(const std::string& holder, Time now);
  std::vector<Number> connections(const std::string& holder) const;
  // True if any holder has been cut lately for any cause but `connections`.
  bool any_barred(Time now) const { return now < barred_until_; }
  // Forgets holders that have no connection and are owed nothing.
  void forget_idle(Time now);

 private:
  struct Caller {
    std::map<Number, Use> connections;
    TokenBucket calls, connects;
    Time barred_until = {};
  };
  std::optional<Cut> judge(const Caller& caller, Time now) const;
  std::optional<Cut> judge_address(Caller& caller, Time now) const;
  void bar(Caller& caller, Time now);

  const CallerLimits limits_;
  std::map<std::string, Caller> callers_;
  std::map<Number, std::string> holders_;
  Time barred_until_;  // the last of all
};

}  // namespace ibpod::rpc
