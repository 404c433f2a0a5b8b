#include "tests/fabric/security/attackers.h"

#include "tests/fabric/security/node_attacks.h"
#include "tests/support/http2_attacks.h"

#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ibpod {
namespace {

constexpr auto kPath = "/ibpod.v1.Fabric/Sync";

// Node n1's certificate, on one connection after the other.
Attack by_certificate(const std::string& name, unsigned connections, bool ends_cut = true) {
  return {name,
          [name](const SecureFixture& fixture, Deadline end) {
            const TestCa::Issued own = fixture.of("system:node:n1");
            const Http2Attack& attack = http2_attack(name);
            Attack::Done done;
            while (!end.passed()) {
              auto connection =
                  RawHttp2::connect(fixture.host(), SecureFixture::kPort, own, attack.acknowledge);
              if (!connection) {
                std::this_thread::sleep_for(Duration(1));
                continue;
              }
              ++done.connected;
              if (attack.run(*connection, kPath, end)) break;
              ++done.cut;
            }
            return done;
          },
          connections, ends_cut};
}

Fd connect_to(const SecureFixture& fixture) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(SecureFixture::kPort);
  ::inet_pton(AF_INET, fixture.host().c_str(), &address.sin_addr);
  (void)::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return fd;
}

// Without a certificate: connections that say nothing, one after the other, of which the last stay.
// The simulator's library is no use to a process with more than 1,024 descriptors.
constexpr size_t kRaw = 200;

// True if the connection is established by now.
bool connected(const Fd& fd) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  return ::getpeername(fd.get(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

Attack::Done connect_only(const SecureFixture& fixture, Deadline end) {
  std::vector<Fd> open;
  Attack::Done done;
  for (size_t made = 0; !end.passed(); ++made) {
    if (open.size() < kRaw) {
      open.push_back(connect_to(fixture));
    } else {
      Fd& oldest = open[made % open.size()];
      done.connected += connected(oldest) ? 1 : 0;
      oldest = connect_to(fixture);
      std::this_thread::sleep_for(Duration(1));
    }
  }
  for (const Fd& one : open) done.connected += connected(one) ? 1 : 0;
  return done;
}

// As many connections as one node's certificate comes by, all of which are kept.
constexpr size_t kKept = 150;

Attack::Done connect_often(const SecureFixture& fixture, Deadline end) {
  const TestCa::Issued own = fixture.of("system:node:n1");
  std::vector<RawHttp2> kept;
  Attack::Done done;
  while (!end.passed()) {
    auto connection = RawHttp2::connect(fixture.host(), SecureFixture::kPort, own);
    ++done.connected;
    if (connection) kept.push_back(std::move(*connection));
    std::vector<RawHttp2> left;
    for (RawHttp2& one : kept)
      if (one.receive(0)) left.push_back(std::move(one));
    done.cut += (connection ? 0 : 1) + kept.size() - left.size();
    if (left.size() >= kKept) left.pop_back();
    kept.swap(left);
  }
  return done;
}

}  // namespace

std::vector<Attack> attacks() {
  return {
      by_certificate("reset", 3),
      by_certificate("resetdata", 3),
      by_certificate("requests", 3),
      by_certificate("open", 3),
      by_certificate("open-and-leave", 3, false),
      by_certificate("continuation", 3),
      by_certificate("settings", 3),
      by_certificate("ping", 3),
      by_certificate("emptydata", 3),
      by_certificate("open-half", 3),
      by_certificate("half-and-whole", 3),
      by_certificate("stay", 100),
      by_certificate("reconnect", 3, false),
      {"raw", connect_only, 4},
      by_certificate("parts", 3, false),
      {"tables", tell_tables},
      {"connections", connect_often, 4, true},
      {"watch", never_read},
  };
}

}  // namespace ibpod
