// Who cannot prove who he is gets nothing, and finds out nothing.
#include "tests/fabric/sm/secure_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// Nobody answers him: neither a question nor a change.
void check_nobody(SecureBed& bed, const std::shared_ptr<grpc::Channel>& channel) {
  const SecureBed::Whole before = bed.whole();
  fabricapi::Client nobody = bed.over(channel);
  check_refused(nobody.bind(SmBed::request(1, "blue"), SmBed::patience()), Code::unavailable);
  check_refused(nobody.create_partition(SmBed::tenancy("red"), SmBed::patience()),
                Code::unavailable);
  check_refused(nobody.list_bindings({}, {}, SmBed::patience()), Code::unavailable);
  CHECK(bed.whole() == before);
}

TEST_CASE("nobody is served without a certificate of the right CA that is good today") {
  SecureBed bed;
  bed.partition("blue");
  const auto good = bed.node(1).bind(SmBed::request(1, "blue"), SmBed::patience());
  REQUIRE_MESSAGE(good, good.error().text());
  CHECK(good->state == fabric::State::verified);
  {
    INFO("of another CA");
    const TestCa other;
    check_nobody(bed, bed.channel(other.issue({.common_name = "ibpod-admin"}), bed.ca()));
  }
  {
    INFO("none");
    check_nobody(bed, bed.channel_without_certificate());
  }
  {
    INFO("no TLS");
    check_nobody(bed, bed.channel_without_tls());
  }
  {
    INFO("expired");
    check_nobody(
        bed,
        bed.channel(bed.ca().issue({.common_name = "ibpod-admin", .from = -7200, .until = -3600})));
  }
  {
    INFO("not valid yet");
    check_nobody(
        bed,
        bed.channel(bed.ca().issue({.common_name = "ibpod-admin", .from = 3600, .until = 7200})));
  }
  {
    INFO("for servers only");
    check_nobody(
        bed, bed.channel(bed.ca().issue({.common_name = "ibpod-admin", .usage = "serverAuth"})));
  }
}

TEST_CASE("a good certificate that no rule is for is told so, and gets nothing") {
  SecureBed bed;
  bed.partition("blue");
  const SecureBed::Whole before = bed.whole();
  for (const std::string name :
       {"stranger", "ibpod-admin2", "system:node:", "system:node:N1", "system:node:n1/../n2"}) {
    CAPTURE(name);
    fabricapi::Client stranger = bed.client(name);
    check_refused(stranger.bind(SmBed::request(1, "blue"), SmBed::patience()), Code::denied,
                  {"CN=" + name});
    check_refused(stranger.list_partitions({}, SmBed::patience()), Code::denied, {"CN=" + name});
    check_refused(stranger.health(SmBed::patience()), Code::denied, {"CN=" + name});
  }
  CHECK(bed.whole() == before);
}

TEST_CASE("certificates that are replaced on disk are those of the next connection") {
  SecureBed bed;
  const TestCa next;
  CHECK(bed.shown() == bed.server_certificate());
  const std::string former = bed.server_certificate();
  fabricapi::Client connected = bed.administrator();
  CHECK(connected.create_partition(SmBed::tenancy("blue"), SmBed::patience()));

  bed.renew_server(bed.ca());
  REQUIRE(bed.server_certificate() != former);
  CHECK(bed.shown() == bed.server_certificate());
  CHECK(bed.administrator().list_partitions({}, SmBed::patience()));
  CHECK_MESSAGE(connected.list_partitions({}, SmBed::patience()), "a connection goes on");

  // Another CA, for both sides. Whoever has a certificate of the one before is nobody then.
  bed.believe(next.certificate());
  bed.renew_server(next);
  const TestCa::Issued own = next.issue({.common_name = "ibpod-admin"});
  CHECK(bed.over(bed.channel(own, next)).list_partitions({}, SmBed::patience()));
  check_refused(bed.over(bed.channel(bed.of("ibpod-admin"), next))
                    .create_partition(SmBed::tenancy("red"), SmBed::patience()),
                Code::unavailable);
}

TEST_CASE("a certificate that cannot be used is told, and the one before it serves on") {
  SecureBed bed;
  const auto ready = [&] { return bed.page("/readyz").find(" 200 ") != std::string::npos; };
  const std::string former = bed.shown();
  bed.spoil_server();
  CHECK(bed.shown() == former);
  CHECK(bed.administrator().create_partition(SmBed::tenancy("blue"), SmBed::patience()));
  bed.until(ready);
  bed.renew_server(bed.ca());
  CHECK(bed.shown() == bed.server_certificate());
  bed.until(ready);
  const std::string log = bed.end();
  const size_t told = log.find("certificate: the certificate of before stays in use");
  REQUIRE(told != std::string::npos);
  CHECK(log.find("certificate: well again", told) != std::string::npos);
}

}  // namespace
}  // namespace ibpod
