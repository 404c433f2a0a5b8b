#include "tests/vm/probes/prober.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>

namespace ibpod::probes {
namespace {

constexpr uint16_t kUdpPort = 7475;
// A file for each of a table's places is read.
constexpr unsigned kLooksATable = 4;

Result<Fd> open_socket() {
  Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_port = htons(kUdpPort);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0)
    return Error::from_errno(errno, "bind the UDP port");
  return socket;
}

uint64_t milliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string way_name(const char* transport, Index from, Index to) {
  return std::string(transport) + ':' + std::to_string(from) + '>' + std::to_string(to);
}

}  // namespace

Result<Prober> Prober::open(Self self, std::filesystem::path folder, Tally& tally) {
  Port port = TRY(Port::open());
  Prober prober(std::move(self), std::move(folder), tally, std::move(port));
  prober.session_ = std::random_device()();
  prober.lid_ = prober.port_.lid();
  if (prober.self_.address != "-") prober.socket_ = TRY(open_socket());
  return prober;
}

Status Prober::look_round() {
  if (port_.lid() != lid_) return Error(Code::unsupported, "the port has another LID now");
  if (looks_++ % kLooksATable == 0) indexes_ = port_.indexes();
  peers_ = read_peers(folder_, self_.pod, peers_);
  take();  // before queue pairs go
  TRY(make_datagrams());
  TRY(make_connections());
  PeerInfo now = own_info();
  if (now == published_) return ok();
  published_ = std::move(now);
  return write_peer_info(folder_, published_);
}

Status Prober::make_datagrams() {
  for (const auto& [index, pair] : datagrams_)
    if (pair->failed()) return Error(Code::internal, "a datagram could not be sent");
  for (const Index index : indexes_) {
    if (datagrams_.contains(index)) continue;
    std::unique_ptr<Pair> pair = TRY(Pair::make(port_, Pair::Kind::datagrams, index));
    TRY(pair->activate());
    datagrams_.emplace(index, std::move(pair));
  }
  for (const auto& [name, peer] : peers_) {
    if (ways_.contains(peer.lid)) continue;
    Way way = TRY(port_.way_to(peer.lid));
    ways_.emplace(peer.lid, std::move(way));
  }
  return ok();
}

Status Prober::make_connections() {
  std::erase_if(connections_, [&](const auto& one) {
    const auto peer = peers_.find(one.first.peer);
    return peer == peers_.end() || peer->second.session != one.first.session;
  });
  for (const auto& [name, peer] : peers_)
    for (const auto& [mine, pair] : datagrams_)
      for (const auto& [theirs, number] : peer.datagrams) {
        Connection& connection = connections_[{name, peer.session, mine, theirs}];
        if (connection.pair) continue;
        connection.pair = TRY(Pair::make(port_, Pair::Kind::connection, mine));
      }
  for (auto& [key, connection] : connections_) TRY(join(key, connection));
  return ok();
}

const PeerInfo::Connection* Prober::other_end(const ConnectionKey& key) const {
  const auto& all = peers_.at(key.peer).connections;
  const auto end = std::find_if(all.begin(), all.end(), [&](const auto& one) {
    return one.peer == self_.pod && one.peer_session == session_ && one.mine == key.theirs &&
           one.theirs == key.mine;
  });
  return end == all.end() ? nullptr : &*end;
}

// One that has failed does: to those of other tenants all fail, and are to be tried again. And one
// whose other end has.
Status Prober::start_over(const ConnectionKey& key, Connection& connection, unsigned others_life) {
  Pair& pair = *connection.pair;
  if (others_life > connection.life) {
    if (!connection.receives) connection.life = others_life;  // it is as new
    if (connection.receives && !pair.failed()) TRY(pair.give_up());
  }
  if (!pair.quiet()) return ok();
  if (connection.worked) tally_->broke(key.peer, way_name("rc", key.mine, key.theirs));
  connection.life = std::max(connection.life + 1, others_life);
  connection.receives = connection.sends = connection.worked = false;
  return pair.start_over();
}

// A prober that sends to another tenant soon fails, and receives nothing more: they take turns, so
// that each has a peer that would receive.
bool Prober::begins(const ConnectionKey& key, unsigned life) const {
  return (self_.pod < key.peer) == (life % 2 == 0);
}

// Receives as soon as the other end's queue pair is known, and sends once that one receives.
Status Prober::join(const ConnectionKey& key, Connection& connection) {
  const PeerInfo::Connection* end = other_end(key);
  if (end == nullptr) return ok();
  TRY(start_over(key, connection, end->life));
  if (connection.life != end->life) return ok();
  if (!connection.receives) {
    TRY(connection.pair->connect(end->number, peers_.at(key.peer).lid));
    connection.receives = true;
  }
  connection.sends = end->receives && (connection.worked || begins(key, connection.life));
  return ok();
}

PeerInfo Prober::own_info() const {
  PeerInfo info{self_.pod, session_, self_.tenants, lid_, self_.address, {}, {}};
  for (const auto& [index, pair] : datagrams_) info.datagrams[index] = pair->number();
  for (const auto& [key, connection] : connections_)
    info.connections.push_back({key.peer, key.session, key.mine, key.theirs,
                                connection.pair->number(), connection.life, connection.receives,
                                connection.sequence > 0});
  return info;
}

std::string Prober::message(const std::string& way, uint32_t sequence) const {
  return bytes_of({self_.pod, session_, self_.tenants, way, sequence});
}

void Prober::send() {
  for (const auto& [name, peer] : peers_) {
    send_datagrams(peer);
    send_by_ip(peer);
  }
  for (auto& [key, connection] : connections_) {
    const std::string bytes = message(way_name("rc", key.mine, key.theirs), connection.sequence);
    if (connection.sends && connection.pair->send(bytes)) ++connection.sequence;
  }
}

void Prober::send_datagrams(const PeerInfo& peer) {
  const auto way = ways_.find(peer.lid);
  if (way == ways_.end()) return;
  for (const auto& [mine, pair] : datagrams_)
    for (const auto& [theirs, number] : peer.datagrams) {
      const std::string name = way_name("ud", mine, theirs);
      uint32_t& sequence = sequences_[{peer.pod, name}];
      if (pair->send(message(name, sequence), way->second.get(), number)) ++sequence;
    }
}

void Prober::send_by_ip(const PeerInfo& peer) {
  if (peer.address == "-" || !socket_.valid()) return;
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_port = htons(kUdpPort);
  ::inet_pton(AF_INET, peer.address.c_str(), &to.sin_addr);
  uint32_t& sequence = sequences_[{peer.pod, "ip"}];
  const std::string bytes = message("ip", sequence);
  const auto sent = ::sendto(socket_.get(), bytes.data(), bytes.size(), 0,
                             reinterpret_cast<const sockaddr*>(&to), sizeof to);
  if (sent > 0) ++sequence;
}

void Prober::take() {
  for (const ibv_wc& completion : port_.completions()) take_from(completion);
  take_by_ip();
}

void Prober::take_from(const ibv_wc& completion) {
  const QpNumber number = completion.qp_num;
  for (auto& [index, pair] : datagrams_) {
    if (pair->number() != number) continue;
    const auto bytes = pair->take(completion);
    if (bytes) tally_->received(*bytes, milliseconds());
    return;
  }
  for (auto& [key, connection] : connections_) {
    if (connection.pair->number() != number) continue;
    const auto bytes = connection.pair->take(completion);
    if (bytes) tally_->received(*bytes, milliseconds());
    if (bytes) connection.worked = true;
    return;
  }
}

void Prober::take_by_ip() {
  if (!socket_.valid()) return;
  char bytes[kProbeBytes];
  for (;;) {
    const auto length = ::recv(socket_.get(), bytes, sizeof bytes, 0);
    if (length < 0) return;
    tally_->received({bytes, static_cast<size_t>(length)}, milliseconds());
  }
}

}  // namespace ibpod::probes
