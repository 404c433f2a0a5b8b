#include "lib/https/exchange.h"

#include "tests/support/https_server.h"
#include "tests/support/in_time.h"
#include "tests/support/test_ca.h"

#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::https {
namespace {

using End = HttpsAnswer::End;

constexpr Duration kShort{300};

struct Fixture {
  TestCa ca;
  HttpsAnswer next{.body = "[]"};
  HttpsServer server;
  Exchange exchange;
  Identity identity;

  explicit Fixture(const std::vector<std::string>& names = {"IP:127.0.0.1"})
      : server(ca.issue({.common_name = "ufm", .names = names}),
               [this](const HttpsRequest&) { return next; }) {}

  Request get() const { return {.method = "GET", .url = server.address() + "/x"}; }
  Result<Answer> send(const Request& request) {
    return exchange.send(request, identity, ca.certificate());
  }
  std::string error_of(const Request& request) {
    const auto answer = send(request);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().code() == Code::unavailable);
    return answer.error().text();
  }
};

TEST_CASE("a request is sent with its method, headers and body, and nothing else") {
  Fixture fixture;
  fixture.next = {.status = 201, .body = "done"};
  fixture.identity.authorization.append("Basic token");
  const auto answer = fixture.send(
      {.method = "POST", .url = fixture.server.address() + "/ufmRest/x?y=1", .body = "{\"a\":1}"});
  REQUIRE_MESSAGE(answer.ok(), answer.error().text());
  CHECK(answer->status == 201);
  CHECK(answer->body == "done");
  REQUIRE(fixture.server.requests().size() == 1);
  const HttpsRequest request = fixture.server.requests()[0];
  CHECK(request.method == "POST");
  CHECK(request.target == "/ufmRest/x?y=1");
  CHECK(request.body == "{\"a\":1}");
  CHECK(request.headers ==
        std::map<std::string, std::string>{{"host", fixture.server.address().substr(8)},
                                           {"user-agent", "ibpod-sm"},
                                           {"authorization", "Basic token"},
                                           {"accept", "application/json"},
                                           {"content-type", "application/json"},
                                           {"content-length", "7"}});
}

TEST_CASE("a deletion has no body, and a request without identity no header of one") {
  Fixture fixture;
  REQUIRE(fixture.send({.method = "DELETE", .url = fixture.server.address() + "/a/../b"}));
  const HttpsRequest request = fixture.server.requests().at(0);
  CHECK(request.method == "DELETE");
  CHECK(request.target == "/a/../b");
  CHECK(request.body.empty());
  CHECK(request.headers.count("authorization") == 0);
}

TEST_CASE("reads share a connection, and each change has one of its own") {
  Fixture fixture;
  REQUIRE(fixture.send(fixture.get()));
  REQUIRE(fixture.send(fixture.get()));
  CHECK(fixture.server.connections() == 1);
  REQUIRE(fixture.send({.method = "POST", .url = fixture.server.address() + "/x"}));
  REQUIRE(fixture.send({.method = "DELETE", .url = fixture.server.address() + "/x"}));
  CHECK(fixture.server.connections() == 3);
}

TEST_CASE("a server with a certificate of another CA gets no request") {
  Fixture fixture;
  const auto answer =
      fixture.exchange.send(fixture.get(), fixture.identity, TestCa().certificate());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code() == Code::unavailable);
  CHECK(answer.error().text().find("certificate") != std::string::npos);
  // Nor does one that only the system's CAs could vouch for.
  CHECK_FALSE(fixture.exchange.send(fixture.get(), fixture.identity, ""));
  CHECK(fixture.server.requests().empty());
}

TEST_CASE("a server with another name, or an expired certificate, gets no request") {
  Fixture fixture({"DNS:ufm.example.com", "IP:127.0.0.2"});
  CHECK(fixture.error_of(fixture.get()).find("127.0.0.1") != std::string::npos);
  CHECK(fixture.server.requests().empty());
  const HttpsServer expired(
      fixture.ca.issue(
          {.common_name = "ufm", .names = {"IP:127.0.0.1"}, .from = -200, .until = -100}),
      [](const HttpsRequest&) { return HttpsAnswer{}; });
  CHECK(fixture.error_of({.method = "GET", .url = expired.address()}).find("expired") !=
        std::string::npos);
  CHECK(expired.requests().empty());
}

TEST_CASE("a server that does not answer is unavailable when the time is over") {
  Fixture fixture;
  fixture.next.end = End::hang;
  Request request = fixture.get();
  request.timeout = kShort;
  CHECK(fixture.error_of(request).find("timed out") != std::string::npos);
  CHECK(fixture.server.requests().size() == 1);
}

TEST_CASE("a request that is cancelled ends soon, and no other is sent") {
  Fixture fixture;
  fixture.next.end = End::hang;
  Request request = fixture.get();
  request.timeout = Duration(300'000);
  std::thread canceller([&] {
    CHECK(in_time([&] { return !fixture.server.requests().empty(); }));
    fixture.exchange.cancel();
  });
  CHECK(fixture.error_of(request) == "the call was cancelled");
  canceller.join();
  CHECK(fixture.error_of(request) == "the call was cancelled");
  CHECK(fixture.server.requests().size() == 1);
}

TEST_CASE("a connection that ends early is unavailable, and a change is not sent again") {
  Fixture fixture;
  REQUIRE(fixture.send(fixture.get()));
  for (const End end : {End::reset, End::cut}) {
    fixture.next = {.body = "0123456789", .end = end};
    const size_t before = fixture.server.requests().size();
    const std::string url = fixture.server.address() + "/x";
    CHECK_FALSE(fixture.error_of({.method = "POST", .url = url, .body = "{}"}).empty());
    CHECK(fixture.server.requests().size() == before + 1);
  }
}

TEST_CASE("an address without a server is unavailable") {
  Fixture fixture;
  std::string address;
  {
    const HttpsServer gone(fixture.ca.issue({.common_name = "ufm"}),
                           [](const HttpsRequest&) { return HttpsAnswer{}; });
    address = gone.address();
  }
  CHECK_FALSE(fixture.error_of({.method = "GET", .url = address}).empty());
  CHECK_FALSE(fixture.error_of({.method = "GET", .url = "https://name.invalid"}).empty());
}

TEST_CASE("nothing but https is spoken") {
  Fixture fixture;
  const std::string rest = fixture.server.address().substr(5);
  for (const std::string& url : {"http" + rest, "ftp" + rest, std::string("file:///dev/null")}) {
    CAPTURE(url);
    CHECK(fixture.error_of({.method = "GET", .url = url}).find("rotocol") != std::string::npos);
  }
}

TEST_CASE("a redirect is an answer, and is not followed") {
  Fixture fixture;
  fixture.next = {.status = 302, .headers = "Location: " + fixture.server.address() + "/other\r\n"};
  const auto answer = fixture.send(fixture.get());
  REQUIRE(answer);
  CHECK(answer->status == 302);
  CHECK(fixture.server.requests().size() == 1);
}

TEST_CASE("an answer has a limit: a success beyond it is refused, an error is cut") {
  Fixture fixture;
  Request request = fixture.get();
  request.most_bytes = 1'000;
  fixture.next = {.body = std::string(1'000, 'x')};
  CHECK(fixture.send(request).value().body.size() == 1'000);
  fixture.next = {.body = std::string(1'001, 'x')};
  CHECK(fixture.error_of(request) == "the answer is larger than 1000 bytes");
  fixture.next = {.status = 500, .body = std::string(kMostErrorBytes + 1, 'x')};
  const auto error = fixture.send(request);
  REQUIRE_MESSAGE(error.ok(), error.error().text());
  CHECK(error->status == 500);
  CHECK(error->body == std::string(kMostErrorBytes, 'x'));
  fixture.next = {.headers = "X: " + std::string(70'000, 'x') + "\r\n"};
  CHECK(fixture.error_of(request).find("headers") != std::string::npos);
  // The next request is not disturbed by what was left over.
  fixture.next = {.body = "[]"};
  CHECK(fixture.send(request).value().body == "[]");
}

TEST_CASE("the environment names no proxy") {
  Fixture fixture;
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    ::setenv(name, "http://127.0.0.1:1", 1);
  CHECK(fixture.send(fixture.get()));
  for (const char* name : {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    ::unsetenv(name);
}

TEST_CASE("a client's certificate is shown, and one that the server refuses is denied") {
  const TestCa ca, own_ca;
  const HttpsServer server(
      ca.issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}}),
      [](const HttpsRequest&) { return HttpsAnswer{}; }, own_ca.certificate());
  const auto send = [&](const TestCa& issuer, const std::string& name) {
    const TestCa::Issued issued = issuer.issue({.common_name = name});
    const Identity identity{.certificate = issued.certificate,
                            .key = Secret(std::string(issued.key))};
    return Exchange().send({.method = "GET", .url = server.address()}, identity, ca.certificate());
  };
  REQUIRE(send(own_ca, "ibpod-sm"));
  CHECK(server.requests().back().client == "ibpod-sm");
  const auto refused = send(TestCa(), "ibpod-sm");
  REQUIRE_FALSE(refused);
  CHECK_MESSAGE(refused.error().code() == Code::denied, refused.error().text());
  CHECK(server.requests().size() == 1);
}

}  // namespace
}  // namespace ibpod::https
