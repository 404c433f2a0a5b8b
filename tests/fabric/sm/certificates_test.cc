// A caller that cannot prove its identity gets nothing, and finds out nothing.
#include "tests/fabric/sm/secure_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// Nobody answers him: neither a question nor a change.
void check_unauthorized(SecureFixture& fixture, const std::shared_ptr<grpc::Channel>& channel) {
  const SecureFixture::ServiceState before = fixture.service_state();
  fabricapi::Client unauthorized = fixture.over(channel);
  check_refused(unauthorized.bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()),
                Code::unavailable);
  check_refused(
      unauthorized.create_partition(SmFixture::sample_partition("red"), SmFixture::deadline_in()),
      Code::unavailable);
  check_refused(unauthorized.list_bindings({}, {}, SmFixture::deadline_in()), Code::unavailable);
  CHECK(fixture.service_state() == before);
}

TEST_CASE("nobody is served without a certificate of the right CA that is good today") {
  SecureFixture fixture;
  fixture.create_partition("blue");
  const auto good = fixture.node(1).bind(SmFixture::request(1, "blue"), SmFixture::deadline_in());
  REQUIRE_MESSAGE(good, good.error().text());
  CHECK(good->state == fabric::BindingState::verified);
  {
    INFO("of another CA");
    const TestCa other;
    check_unauthorized(fixture,
                       fixture.channel(other.issue({.common_name = "ibpod-admin"}), fixture.ca()));
  }
  {
    INFO("none");
    check_unauthorized(fixture, fixture.channel_without_certificate());
  }
  {
    INFO("no TLS");
    check_unauthorized(fixture, fixture.channel_without_tls());
  }
  {
    INFO("expired");
    check_unauthorized(fixture,
                       fixture.channel(fixture.ca().issue(
                           {.common_name = "ibpod-admin", .from = -7200, .until = -3600})));
  }
  {
    INFO("not valid yet");
    check_unauthorized(fixture, fixture.channel(fixture.ca().issue(
                                    {.common_name = "ibpod-admin", .from = 3600, .until = 7200})));
  }
  {
    INFO("for servers only");
    check_unauthorized(
        fixture,
        fixture.channel(fixture.ca().issue({.common_name = "ibpod-admin", .usage = "serverAuth"})));
  }
}

TEST_CASE("a good certificate that no rule is for is told so, and gets nothing") {
  SecureFixture fixture;
  fixture.create_partition("blue");
  const SecureFixture::ServiceState before = fixture.service_state();
  for (const std::string name :
       {"stranger", "ibpod-admin2", "system:node:", "system:node:N1", "system:node:n1/../n2"}) {
    CAPTURE(name);
    fabricapi::Client unauthorized = fixture.client(name);
    check_refused(unauthorized.bind(SmFixture::request(1, "blue"), SmFixture::deadline_in()),
                  Code::denied, {"CN=" + name});
    check_refused(unauthorized.list_partitions({}, SmFixture::deadline_in()), Code::denied,
                  {"CN=" + name});
    check_refused(unauthorized.health(SmFixture::deadline_in()), Code::denied, {"CN=" + name});
  }
  CHECK(fixture.service_state() == before);
}

TEST_CASE("certificates that are replaced on disk are those of the next connection") {
  SecureFixture fixture;
  const TestCa next;
  CHECK(fixture.shown() == fixture.server_certificate());
  const std::string former = fixture.server_certificate();
  fabricapi::Client connected = fixture.administrator();
  CHECK(connected.create_partition(SmFixture::sample_partition("blue"), SmFixture::deadline_in()));

  fixture.renew_server(fixture.ca());
  REQUIRE(fixture.server_certificate() != former);
  CHECK(fixture.shown() == fixture.server_certificate());
  CHECK(fixture.administrator().list_partitions({}, SmFixture::deadline_in()));
  CHECK_MESSAGE(connected.list_partitions({}, SmFixture::deadline_in()), "a connection goes on");

  // Another CA, for both sides. Whoever has a certificate of the one before is nobody then.
  fixture.believe(next.certificate());
  fixture.renew_server(next);
  const TestCa::Issued own = next.issue({.common_name = "ibpod-admin"});
  CHECK(fixture.over(fixture.channel(own, next)).list_partitions({}, SmFixture::deadline_in()));
  check_refused(fixture.over(fixture.channel(fixture.of("ibpod-admin"), next))
                    .create_partition(SmFixture::sample_partition("red"), SmFixture::deadline_in()),
                Code::unavailable);
}

TEST_CASE("a certificate that cannot be used is told, and the one before it serves on") {
  SecureFixture fixture;
  const auto ready = [&] { return fixture.page("/readyz").find(" 200 ") != std::string::npos; };
  const std::string former = fixture.shown();
  fixture.spoil_server();
  CHECK(fixture.shown() == former);
  CHECK(fixture.administrator().create_partition(SmFixture::sample_partition("blue"),
                                                 SmFixture::deadline_in()));
  fixture.until(ready);
  fixture.renew_server(fixture.ca());
  CHECK(fixture.shown() == fixture.server_certificate());
  fixture.until(ready);
  const std::string log = fixture.end();
  const size_t told = log.find("certificate: the previous certificate stays in use");
  REQUIRE(told != std::string::npos);
  CHECK(log.find("certificate: resolved", told) != std::string::npos);
}

}  // namespace
}  // namespace ibpod
