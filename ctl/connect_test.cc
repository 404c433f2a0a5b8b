#include "ctl/connect.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

SmAddress at(const std::string& address, const Path& certificate = {}, const Path& key = {},
             const Path& ca = {}) {
  SmAddress sm;
  sm.address = address;
  sm.certificate = certificate;
  sm.key = key;
  sm.ca = ca;
  return sm;
}

TEST_CASE("an address that is none, and TLS without certificates, are refused by the option") {
  struct Case {
    SmAddress place;
    std::string_view told;
  };
  const Case cases[] = {
      {at("sm.example"), "--sm: expected unix:PATH or HOST:PORT"},
      {at(":7473"), "--sm: "},
      {at("h:abc"), "--sm: expected unix:PATH or HOST:PORT"},
      {at("h:0"), "--sm: "},
      {at("h:+1"), "--sm: "},
      {at("h:1x"), "--sm: "},
      {at("h:65536"), "--sm: "},
      {at("fd00::1"), "--sm: "},
      {at("fd00::1:7473"), "--sm: "},
      {at("[fd00::1]"), "--sm: "},
      {at("[fd00::1:7473"), "--sm: "},
      {at("[]:7473"), "--sm: "},
      {at("sm.example:"), "--sm: "},
      {at(""), "--sm: "},
      {at("unix:"), "--sm: expected an absolute path"},
      {at("unix:sm.sock"), "--sm: expected an absolute path"},
      {at("sm.example:7473"), "--certificate: "},
      {at("10.0.0.1:65535"), "--certificate: "},
      {at("[fd00::1]:7473"), "--certificate: "},
      {at("h:1", "/c"), "--key: "},
      {at("h:1", "/c", "/k"), "--ca: "},
  };
  for (const Case& test : cases) {
    CAPTURE(test.place.address);
    const auto service = connect(test.place);
    REQUIRE_FALSE(service);
    CHECK(service.error().code() == Code::invalid);
    CHECK(service.error().text().find(test.told) == 0);
  }
}

TEST_CASE("a missing file is reported, and a socket without a server is unavailable") {
  CHECK_FALSE(connect(at("h:1", "/no", "/no", "/no")));
  const auto service = connect(at("unix:/nonexistent/sm.sock"));
  REQUIRE(service);
  const auto nodes = (*service)->list_nodes(Deadline::in(Duration(1000)));
  REQUIRE_FALSE(nodes);
  CHECK(nodes.error().code() == Code::unavailable);
  CHECK(nodes.error().text().find("/nonexistent/sm.sock") != std::string::npos);
}

}  // namespace
}  // namespace ibpod::ctl
