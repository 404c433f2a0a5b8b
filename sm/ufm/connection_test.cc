#include "sm/ufm/connection.h"

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using engine::Health;
using std::chrono::milliseconds;
using Use = Connection::Use;

constexpr Connection::Time kNow{std::chrono::seconds(1000)};
const Error kSilent(Code::unavailable, "no answer"), kDenied(Code::denied, "401: no");

TEST_CASE("pauses grow from one second to a minute, spread by a quarter") {
  for (const double random : {0.0, 0.5, 1.0}) {
    Connection connection([random] { return random; });
    for (const int pause : {1000, 2000, 4000, 8000, 16'000, 32'000, 60'000, 60'000}) {
      connection.failed(Use::read, kSilent, Peer::none, kNow);
      const auto spread = milliseconds(pause * 3 / 4 + static_cast<int>(pause * random / 2));
      CHECK(connection.not_before(Use::read) == kNow + spread);
      CHECK_FALSE(connection.may(Use::read, kNow + spread - milliseconds(1)));
      CHECK(connection.may(Use::read, kNow + spread));
      CHECK(connection.may(Use::change, kNow));
    }
    connection.succeeded(Use::read);
    CHECK(connection.may(Use::read, kNow));
    connection.failed(Use::read, kSilent, Peer::none, kNow);
    CHECK(connection.may(Use::read, kNow + milliseconds(1250)));
  }
}

TEST_CASE("one lost answer is no fault; a second one is, by what has answered") {
  Connection connection([] { return 0.5; });
  CHECK(connection.health() == Health::serving);
  CHECK(connection.trouble().empty());
  connection.failed(Use::read, kSilent, Peer::none, kNow);
  CHECK(connection.health() == Health::serving);
  connection.failed(Use::read, kSilent, Peer::none, kNow);
  CHECK(connection.health() == Health::gone);
  CHECK(connection.trouble().starts_with("UFM does not answer: no answer; "));
  connection.failed(Use::read, kSilent, Peer::standby, kNow);
  CHECK(connection.health() == Health::not_master);
  CHECK(connection.trouble().starts_with("only a standby of UFM answers: no answer; "));
  connection.succeeded(Use::read);
  CHECK(connection.health() == Health::serving);
}

TEST_CASE("a refusal of the credentials is a fault at once") {
  for (const Use use : {Use::read, Use::change}) {
    Connection connection([] { return 0.5; });
    connection.failed(use, kDenied, Peer::master, kNow);
    CHECK(connection.health() == Health::refused);
    CHECK(connection.trouble().starts_with("UFM refuses ibpod-sm's calls: 401: no; "));
    CHECK(connection.may(use == Use::read ? Use::change : Use::read, kNow));
    connection.succeeded(use);
    CHECK(connection.health() == Health::serving);
  }
}

TEST_CASE("a UFM that is read and does not change anything is stuck, until it does") {
  Connection connection([] { return 0.5; });
  for (int n = 0; n < 2; ++n) {
    connection.failed(Use::change, kSilent, n == 0 ? Peer::master : Peer::standby, kNow);
    connection.succeeded(Use::read);
  }
  CHECK(connection.health() == Health::stuck);
  CHECK(connection.trouble().starts_with("UFM answers, but fails to change partitions: "));
  connection.failed(Use::read, kSilent, Peer::none, kNow);
  connection.failed(Use::read, kSilent, Peer::none, kNow);
  CHECK_MESSAGE(connection.health() == Health::gone, "the failure to read comes first");
  connection.succeeded(Use::read);
  CHECK(connection.health() == Health::stuck);
  SUBCASE("it changes something") { connection.succeeded(Use::change); }
  SUBCASE("nothing is to be changed") { connection.no_change_pending(); }
  CHECK(connection.health() == Health::serving);
  CHECK(connection.may(Use::change, kNow));
}

}  // namespace
}  // namespace ibpod::sm::ufm
