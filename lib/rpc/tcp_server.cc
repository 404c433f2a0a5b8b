#include "lib/rpc/tcp_server.h"

#include "lib/ip/peer_address.h"

#include <algorithm>
#include <climits>

#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

namespace ibpod::rpc {
namespace {

using grpc::experimental::ExternalConnectionAcceptor;
// How often a client may ask whether we are there, at most.
constexpr int kPingsApartMs = 10'000;
// Without end: to say no to each one too many costs gRPC 1.51 more than an answer, and the guard
// counts their bytes.
constexpr int kPingsTooMany = 0;
// Bytes of a call's header fields, as HTTP/2 counts them.
constexpr int kLargestMetadata = 8 << 10;
// Bytes that the kernel takes ahead of gRPC, and that gRPC reads at once: what is there when a
// connection is looked at.
constexpr int kQueued = 128 << 10;
constexpr int kReadAtOnce = 32 << 10;

int milliseconds(Duration duration) {
  return static_cast<int>(std::clamp<Duration::rep>(duration.count(), 1, INT_MAX));
}

void limit(grpc::ServerBuilder& builder, const TcpServer::Settings& settings) {
  const auto set = [&](const char* name, int value) { builder.AddChannelArgument(name, value); };
  set(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, milliseconds(settings.handshake));
  set(GRPC_ARG_MAX_CONNECTION_AGE_MS, milliseconds(settings.age));
  set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, milliseconds(settings.age_grace));
  set(GRPC_ARG_MAX_CONCURRENT_STREAMS, settings.streams_of_one_connection);
  set(GRPC_ARG_MAX_METADATA_SIZE, kLargestMetadata);
  set(GRPC_ARG_HTTP2_MAX_PING_STRIKES, kPingsTooMany);
  set(GRPC_ARG_TCP_MAX_READ_CHUNK_SIZE, kReadAtOnce);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingsApartMs);
  grpc::ResourceQuota quota;
  quota.Resize(settings.memory);
  builder.SetResourceQuota(quota);
}

// True for an error of accept(2) about a connection that ended before it was accepted.
bool gone(int error) {
  for (const int one : {ECONNABORTED, EPERM, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET,
                        EHOSTUNREACH, EOPNOTSUPP, ENETUNREACH})
    if (one == error) return true;
  return false;
}

}  // namespace

Result<std::unique_ptr<TcpServer>> TcpServer::serve(Fd listening, const Settings& settings,
                                                    const std::vector<grpc::Service*>& services) {
  if (settings.files.ca_only())
    return Error(Code::invalid, "expected the server's certificate and key, got none");
  std::shared_ptr<FollowedTls> files = TRY(FollowedTls::open(settings.files));
  std::unique_ptr<TcpServer> server(
      new TcpServer(std::move(listening), settings, std::move(files)));
  TRY(server->start(services));
  return server;
}

TcpServer::TcpServer(Fd listening, const Settings& settings, std::shared_ptr<FollowedTls> files)
    : listening_(std::move(listening)),
      settings_(settings),
      files_(std::move(files)),
      connections_(settings.connections) {}

TcpServer::~TcpServer() { stop(kGrace); }

Status TcpServer::certificate() const {
  (void)files_->now();  // looks at the files
  return files_->state();
}

Status TcpServer::start(const std::vector<grpc::Service*>& services) {
  serving_ = Serving::start(services, [this](grpc::ServerBuilder& builder) {
    limit(builder, settings_);
    grpc_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        following(files_, settings_.client));
  });
  if (serving_ == nullptr) return Error(Code::internal, "gRPC cannot start a server with TLS");
  guard_ = TRY(Guard::start(settings_.callers, {.on_cut =
                                                    [this](const Cut& cut) {
                                                      ++cut_.at(static_cast<size_t>(cut.cause));
                                                      if (settings_.on_cut) settings_.on_cut(cut);
                                                    },
                                                .account = settings_.account,
                                                .authenticated = settings_.authenticated}));
  return start_acceptor();
}

Status TcpServer::start_acceptor() {
  const auto take = [this] {
    const Acceptor::AcceptResult taken = accept_one();
    if (taken == Acceptor::AcceptResult::out_of_resources && !starving_) ++starved_;
    if (taken != Acceptor::AcceptResult::accepted)
      starving_ = taken == Acceptor::AcceptResult::out_of_resources;
    return taken;
  };
  const auto look = [this] {
    guard_->look();
    return guard_->next();
  };
  acceptor_ = TRY(Acceptor::start(listening_.get(), take, {guard_->activity(), look}));
  return ok();
}

// accept() reports that it has no descriptor even when no connection waits.
Acceptor::AcceptResult TcpServer::result_without_resources() const {
  pollfd waiting{listening_.get(), POLLIN, 0};
  return ::poll(&waiting, 1, 0) != 0 ? Acceptor::AcceptResult::out_of_resources
                                     : Acceptor::AcceptResult::none_waiting;
}

Acceptor::AcceptResult TcpServer::accept_one() {
  if (connections_.full()) return result_without_resources();
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  const Result<int> accepted = sys("accept", [&] {
    return ::accept4(listening_.get(), reinterpret_cast<sockaddr*>(&peer), &size,
                     SOCK_CLOEXEC | SOCK_NONBLOCK);
  });
  if (accepted) return give(Fd(*accepted), ip::address_of(peer));
  if (accepted.error().error_number() == EAGAIN) return Acceptor::AcceptResult::none_waiting;
  if (gone(accepted.error().error_number())) return Acceptor::AcceptResult::accepted;
  return result_without_resources();
}

Acceptor::AcceptResult TcpServer::give(Fd connection, const std::string& address) {
  if (!connections_.admits(address)) {
    ++refused_;
    return Acceptor::AcceptResult::accepted;
  }
  const int yes = 1;
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(connection.get(), SOL_SOCKET, SO_RCVBUF, &kQueued, sizeof kQueued);
  const int own = given_away(connection);
  if (own < 0) return Acceptor::AcceptResult::out_of_resources;
  if (!connections_.add(own, address) || !guard_->watch(own, address))
    return ::close(own), Acceptor::AcceptResult::out_of_resources;
  ExternalConnectionAcceptor::NewConnectionParameters given;
  given.listener_fd = listening_.get();
  given.fd = own;
  grpc_->HandleNewConnection(&given);
  return Acceptor::AcceptResult::accepted;
}

void TcpServer::stop(Duration grace) {
  if (acceptor_ == nullptr) return;
  acceptor_.reset();
  listening_.close();
  serving_->stop(grace);
}

}  // namespace ibpod::rpc
