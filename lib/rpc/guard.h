// Guard: watches what each connection of a gRPC server brings, whatever kind of frame, and cuts
// those that cost the server more than their holder may spend (CallerLimits).
//
// gRPC 1.51 bounds neither calls that are reset at once (CVE-2023-44487) nor what comes in
// CONTINUATION frames, nor anything at all for a client that does not acknowledge its settings. So
// the bytes of a connection are the kernel's, its calls and requests are gRPC's own (Channelz), and
// both are looked at 50 times a second as long as anything comes, and otherwise twice.
#pragma once

#include "lib/base/fd.h"
#include "lib/base/result.h"
#include "lib/rpc/acceptor.h"
#include "lib/rpc/authenticated_connections.h"
#include "lib/rpc/callers.h"
#include "lib/rpc/channelz.h"
#include "lib/rpc/holder.h"
#include "lib/rpc/socket_handle.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::rpc {

// A connection that was cut.
struct Cut {
  Cause cause;
  std::string address;  // of the other end, without port
  // The account of its certificate or, without one, of its address (anonymous_account()); empty:
  // the handshake was not over.
  std::string holder;
};

// For one thread.
class Guard {
 public:
  using OnCut = std::function<void(const Cut&)>;

  struct Deps {
    OnCut on_cut;
    Account account = holder_of;  // of a certificate
    // None: no client is let in without a certificate.
    std::shared_ptr<AuthenticatedConnections> authenticated = {};
    std::unique_ptr<Channelz> channelz = std::make_unique<Channelz>();
  };

  // Once the server has started, of which `channelz` tells.
  static Result<std::unique_ptr<Guard>> start(const CallerLimits& limits, Deps deps);

  // A connection that gRPC is about to be given as descriptor `fd`. `address` is for on_cut.
  Status watch(int fd, const std::string& address);
  // Readable when something has come on any connection since the last look().
  int activity() const { return epoll_.get(); }
  // Looks at those on which something has come, and cuts.
  void look();
  // When to look again after a look().
  Acceptor::Next next() const;

 private:
  using Number = Callers::Number;
  struct Watched {
    SocketHandle socket;
    std::string address;
    std::string holder = {};
    std::string authenticated = {};       // the account of its calls, if it has no certificate
    std::optional<Channelz::Id> id = {};  // once TLS has begun
    std::optional<Deadline> unauthenticated = {};  // it may be that until then
    std::optional<Deadline> lost = {};  // of whom gRPC tells nothing any more, it has to by then
    uint64_t examined = 0;              // bytes that had been taken when gRPC was asked last
    uint64_t whole = 0;                 // bytes at the last whole request
    uint64_t partial = 0;               // bytes of requests that are not whole, at most
    uint64_t messages = 0;
  };
  using Entry = std::map<Number, Watched>::iterator;

  Guard(const CallerLimits& limits, Deps deps, Fd epoll);
  void collect_active();
  void identify(const std::vector<Channelz::Socket>& sockets);
  std::string holder_of_new(const Watched& one, const std::string& certificate) const;
  void move_authenticated();
  void cut_unauthenticated();
  bool examine(Number number, std::set<std::string>& holders);
  void count(Number number);
  void lose(Entry one);
  void judge(const std::string& holder);
  void forget(Entry gone);
  void forget_closed();
  void cut(Entry one, Cause cause);

  const CallerLimits limits_;
  const Deps deps_;
  Fd epoll_;
  Callers callers_;
  std::map<Number, Watched> watched_;
  std::map<SocketHandle::Peer, Number> by_peer_;
  std::set<Number> active_;
  bool unidentified_ = false;  // some connection may be, which gRPC has not reported yet
  Number next_ = 0;
  Deadline tidy_ = Deadline::in(Duration(0));  // when closed connections are forgotten
};

}  // namespace ibpod::rpc
