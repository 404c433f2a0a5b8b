#include "lib/http/address.h"

#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod::http {
namespace {

TEST_CASE("an address is read and printed") {
  for (const char* text :
       {"127.0.0.1:9464", "[::1]:9464", ":9464", "0.0.0.0:0", "unix:/run/ibpod/metrics.sock"}) {
    CAPTURE(text);
    CHECK(Address::parse(text).value().text() == text);
  }
  CHECK(Address::parse("127.0.0.2:1").value().local());
  CHECK(Address::parse("[::1]:1").value().local());
  CHECK(Address::parse("unix:/a").value().local());
  CHECK_FALSE(Address::parse(":1").value().local());
  CHECK_FALSE(Address::parse("10.0.0.1:1").value().local());
}

TEST_CASE("what is no address is refused with what would be one") {
  for (const char* text : {"", "9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                           "localhost:9464", "::1:9464", "[127.0.0.1]:1", "[]:1", "127.1:1",
                           "unix:", "unix:run/x", "127.0.0.1:1 ", "127.0.0.1:0x1"}) {
    CAPTURE(text);
    const auto address = Address::parse(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().text() ==
          "\"" + std::string(text) +
              "\" is not an address to listen on: expected 127.0.0.1:9464, "
              "[::1]:9464, :9464 or unix:/path");
  }
  using namespace std::string_view_literals;
  for (const std::string_view text : {"127.0.0.1\0x:9464"sv, "[::1\0x]:9464"sv, "unix:/run/a\0b"sv})
    CHECK_FALSE(Address::parse(text));
  CHECK(Address::parse("unix:/" + std::string(106, 'x')));
  CHECK_FALSE(Address::parse("unix:/" + std::string(107, 'x')));
}

TEST_CASE("a port that is taken is refused by name") {
  const Address any{.host = "127.0.0.1", .port = 0, .socket = {}};
  const Fd first = listen_on(any).value();
  const Address taken = bound_address(first, any).value();
  CHECK(taken.port != 0);
  const auto second = listen_on(taken);
  REQUIRE_FALSE(second);
  CHECK(second.error().text() == "listen on " + taken.text() + ": Address already in use");
}

TEST_CASE("a unix socket is its owner's, replaces a dead one, and never a living one or a file") {
  const TempFolder folder;
  const Address address{.host = {}, .port = 0, .socket = folder.path() / "s"};
  {
    const Fd living = listen_on(address).value();
    struct stat found {};
    REQUIRE(::stat(address.socket.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    CHECK(listen_on(address).error().code() == Code::busy);
  }
  CHECK(listen_on(address));
  folder.write("file", "");
  const Address file{.host = {}, .port = 0, .socket = folder.path() / "file"};
  CHECK(listen_on(file).error().code() == Code::exists);
}

}  // namespace
}  // namespace ibpod::http
