#include "lib/http/server.h"

#include "tests/support/temp_folder.h"

#include <array>
#include <semaphore>

#include <doctest/doctest.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace ibpod::http {
namespace {

constexpr int kMostConnections = 256;
const Address kAny{.host = "127.0.0.1", .port = 0, .socket = {}};

struct Fixture {
  Status healthy = ok(), ready = ok();
  std::function<std::string()> metrics = [] { return std::string("up 1\n"); };
  std::unique_ptr<Server> server;

  Fixture() {
    Pages pages{[this] { return metrics(); }, [this] { return healthy; }, [this] { return ready; }};
    server = Server::start(kAny, std::move(pages)).value();
  }
  int port() const { return server->address().port; }
  httplib::Result get(const std::string& path) const {
    httplib::Client client("127.0.0.1", port());
    client.set_read_timeout(60);  // enough for a busy machine
    return client.Get(path);
  }
  // The same, which has to come.
  httplib::Response page(const std::string& path) const {
    const httplib::Result answer = get(path);
    REQUIRE(answer);
    return *answer;
  }
  // A client of our own at 127.0.0.`host`, which sends what it likes.
  Fd connect(uint8_t host = 1) const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(0x7f000000u | host);
    const auto* const address = reinterpret_cast<const sockaddr*>(&name);
    REQUIRE(::bind(fd.get(), address, sizeof name) == 0);
    name.sin_port = htons(server->address().port);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd.get(), address, sizeof name) == 0);
    return fd;
  }
  bool healthy_now() const {
    const auto answer = get("/healthz");
    return answer && answer->status == 200;
  }
};

void send(const Fd& fd, const std::string& text) {
  [[maybe_unused]] const auto sent = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

// All that comes until the server closes.
std::string receive_all(const Fd& fd) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(count));
  }
}

TEST_CASE("the pages are served over TCP") {
  Fixture fixture;
  const auto metrics = fixture.get("/metrics");
  REQUIRE(metrics);
  CHECK(metrics->status == 200);
  CHECK(metrics->body == "up 1\n");
  CHECK(metrics->get_header_value("Content-Type") == "text/plain; version=0.0.4; charset=utf-8");
  CHECK(fixture.page("/healthz").body == "ok\n");
  CHECK(fixture.page("/nothing").status == 404);
}

TEST_CASE("what is not well answers 503 with its reason") {
  Fixture fixture;
  fixture.ready = Error(Code::unavailable, "pool ib/vfs is not registered");
  const auto ready = fixture.get("/readyz");
  REQUIRE(ready);
  CHECK(ready->status == 503);
  CHECK(ready->body == "pool ib/vfs is not registered\n");
  CHECK(fixture.page("/healthz").status == 200);
}

TEST_CASE("a unix socket serves the same, and goes with the server") {
  const TempFolder folder;
  const Address address{.host = {}, .port = 0, .socket = folder.path() / "s"};
  auto server = Server::start(address, {[] { return "up 1\n"; }, ok, ok}).value();
  const Fd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  address.socket.native().copy(name.sun_path, sizeof name.sun_path - 1);
  REQUIRE(::connect(client.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  send(client, "GET /metrics HTTP/1.0\r\n\r\n");
  CHECK(receive_all(client).ends_with("\r\n\r\nup 1\n"));
  server.reset();
  CHECK_FALSE(path_exists(address.socket));
}

TEST_CASE("a request that is none, is too large or asks for something else is answered and over") {
  Fixture fixture;
  const struct {
    std::string sent, status;
  } cases[] = {
      {"nonsense\r\n\r\n", "HTTP/1.1 400"},
      {"GET /metrics\r\n\r\n", "HTTP/1.1 400"},
      {"POST /metrics HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 400"},
      {"DELETE /metrics HTTP/1.1\r\n\r\n", "HTTP/1.1 404"},
      {"GET /" + std::string(9000, 'x'), "HTTP/1.1 431"},
      {"GET /../etc/passwd HTTP/1.1\r\n\r\n", "HTTP/1.1 404"},
  };
  for (const auto& [sent, status] : cases) {
    CAPTURE(sent.substr(0, 40));
    const Fd client = fixture.connect();
    send(client, sent);
    CHECK(receive_all(client).substr(0, 12) == status);
  }
}

TEST_CASE("ranges do not multiply a page") {
  Fixture fixture;
  fixture.metrics = [] { return std::string(1 << 20, 'x'); };
  const Fd client = fixture.connect();
  std::string ranges = "Range: bytes=0-";
  for (int n = 0; n < 1000; ++n) ranges += ",0-";
  send(client, "GET /metrics HTTP/1.1\r\n" + ranges + "\r\n\r\n");
  CHECK(receive_all(client).size() < (1 << 20) + 1000);
}

TEST_CASE("a page larger than the socket's buffer arrives whole") {
  Fixture fixture;
  fixture.metrics = [] { return std::string(16 << 20, 'x'); };
  CHECK(fixture.page("/metrics").body.size() == 16 << 20);
}

TEST_CASE("clients that send nothing, or byte by byte, do not keep others from an answer") {
  Fixture fixture;
  std::vector<Fd> idle;
  for (int n = 0; n < 500; ++n) {
    idle.push_back(fixture.connect());
    if (n % 2 == 0) send(idle.back(), "GET /met");
  }
  CHECK(fixture.page("/healthz").status == 200);
  CHECK(fixture.page("/metrics").status == 200);
}

TEST_CASE("the oldest of too many clients gives way") {
  Fixture fixture;
  const Fd oldest = fixture.connect();
  std::vector<Fd> others;
  for (int n = 0; n < kMostConnections; ++n) others.push_back(fixture.connect());
  CHECK(receive_all(oldest).empty());
  send(others.back(), "GET /healthz HTTP/1.0\r\n\r\n");
  CHECK(receive_all(others.back()).ends_with("ok\n"));
}

TEST_CASE("it is the oldest of the address that has most places, and another's stays") {
  Fixture fixture;
  const Fd other = fixture.connect(2);
  std::vector<Fd> flood;
  for (int n = 0; n < 2 * kMostConnections; ++n) flood.push_back(fixture.connect());
  CHECK(receive_all(flood.front()).empty());
  send(other, "GET /healthz HTTP/1.0\r\n\r\n");
  CHECK(receive_all(other).ends_with("ok\n"));
}

TEST_CASE("who waits for an answer gets it, however many come after") {
  std::counting_semaphore<> begun{0}, go_on{0};  // longer there than the threads that wait for them
  Fixture fixture;
  fixture.metrics = [&] {
    begun.release();
    go_on.acquire();
    return std::string("up 1\n");
  };
  const Fd waits = fixture.connect();
  send(waits, "GET /metrics HTTP/1.0\r\n\r\n");
  begun.acquire();
  std::vector<Fd> others;
  for (int n = 0; n < 2 * kMostConnections; ++n) others.push_back(fixture.connect());
  CHECK(receive_all(others.front()).empty());
  go_on.release();
  CHECK(receive_all(waits).ends_with("up 1\n"));
}

TEST_CASE("health is answered each time, whatever others do meanwhile") {
  const struct {
    const char* name;
    std::string sent;
  } floods[] = {{"connects", ""},
                {"slow clients", "GET /met"},
                {"scrapes", "GET /metrics HTTP/1.0\r\n\r\n"},
                {"health", "GET /healthz HTTP/1.0\r\n\r\n"},
                {"large headers", "GET /" + std::string(20'000, 'x')},
                {"pipelines", [] {
                   std::string all;
                   for (int n = 0; n < 50; ++n) all += "GET /metrics HTTP/1.1\r\n\r\n";
                   return all;
                 }()}};
  for (const auto& [name, sent] : floods) {
    CAPTURE(name);
    Fixture fixture;
    fixture.metrics = [] { return std::string(1 << 16, 'x'); };
    std::vector<Fd> flood(kMostConnections);
    for (int n = 0; n < 2 * kMostConnections; ++n) {
      Fd& one = flood[static_cast<size_t>(n % kMostConnections)];
      one = fixture.connect();
      send(one, sent);
      if (n % 64 == 0) CHECK(fixture.healthy_now());
    }
  }
}

TEST_CASE("answers that no client reads are kept only up to a limit") {
  Fixture fixture;
  fixture.metrics = [] { return std::string(16 << 20, 'x'); };
  std::vector<Fd> deaf;
  for (int n = 0; n < 10; ++n) {
    deaf.push_back(fixture.connect());
    send(deaf.back(), "GET /metrics HTTP/1.0\r\n\r\n");
    pollfd answered{deaf.back().get(), POLLIN, 0};
    REQUIRE(::poll(&answered, 1, 10'000) == 1);
  }
  CHECK(receive_all(deaf.front()).size() < 16 << 20);
  CHECK(receive_all(deaf.back()).size() > 16 << 20);
}

TEST_CASE("the client with the most unread answers loses one, and another client keeps its own") {
  Fixture fixture;
  fixture.metrics = [] { return std::string(16 << 20, 'x'); };
  std::vector<Fd> clients;
  for (int n = 0; n < 10; ++n) {
    clients.push_back(fixture.connect(n == 0 ? 2 : 1));
    send(clients.back(), "GET /metrics HTTP/1.0\r\n\r\n");
    pollfd answered{clients.back().get(), POLLIN, 0};
    REQUIRE(::poll(&answered, 1, 10'000) == 1);
  }
  CHECK(receive_all(clients[1]).size() < 16 << 20);
  CHECK(receive_all(clients.front()).size() > 16 << 20);
}

TEST_CASE("scrapes that hang leave the program's health to be seen, and a third is refused") {
  std::counting_semaphore<> begun{0}, go_on{0};  // longer there than the threads that wait for them
  Fixture fixture;
  fixture.metrics = [&] {
    begun.release();
    go_on.acquire();
    return std::string();
  };
  const Fd one = fixture.connect(), two = fixture.connect();
  for (const Fd* client : {&one, &two}) send(*client, "GET /metrics HTTP/1.0\r\n\r\n");
  begun.acquire();
  begun.acquire();
  CHECK(fixture.page("/healthz").status == 200);
  CHECK(fixture.page("/metrics").status == 503);
  go_on.release(2);
  CHECK(receive_all(one).starts_with("HTTP/1.1 200"));
}

TEST_CASE("the server ends at once, with clients in every stage") {
  Fixture fixture;
  const Fd silent = fixture.connect(), half = fixture.connect(), deaf = fixture.connect();
  fixture.metrics = [] { return std::string(64 << 20, 'x'); };
  send(half, "GET /met");
  send(deaf, "GET /metrics HTTP/1.0\r\n\r\n");
  pollfd answered{deaf.get(), POLLIN, 0};
  REQUIRE(::poll(&answered, 1, 10'000) == 1);
  fixture.server.reset();
  CHECK(receive_all(silent).empty());
  CHECK(receive_all(half).empty());
  CHECK(receive_all(deaf).size() < 64 << 20);
}

}  // namespace
}  // namespace ibpod::http
