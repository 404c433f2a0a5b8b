#include "lib/rpc/unary.h"

#include "lib/rpc/listener.h"
#include "lib/rpc/test_echo.h"

#include <thread>

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>

namespace ibpod::rpc {
namespace {

constexpr Duration kSoon{20'000};

// With a code the server refuses, with the text as its reason.
Result<std::string> say(const Path& socket, const std::string& text,
                        const std::string& method = "Say", int code = 0) {
  echo::Words words;
  words.set_text(text);
  words.set_code(code);
  const std::string service(echo::Echo::service_full_name());
  const std::string answer = TRY(
      unary(socket, "/" + service + "/" + method, words.SerializeAsString(), Deadline::in(kSoon)));
  REQUIRE(words.ParseFromString(answer));
  return words.text();
}

TEST_CASE("unary: an answer comes back, empty, small and large") {
  EchoFixture fixture;
  CHECK(say(fixture.socket, "hello").value() == "hello");
  CHECK(say(fixture.socket, "").value().empty());
  // More than a window and a frame of HTTP/2.
  const std::string large(1 << 20, 'x');
  CHECK(say(fixture.socket, large).value() == large);
}

TEST_CASE("unary: an error of the server is its own, with all that is odd in its text") {
  EchoFixture fixture;
  const auto refused = say(fixture.socket, "100 % \"no\" \xc3\xa4\nat 3:\n4", "Say", 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::busy);
  CHECK(refused.error().text() == "100 % \"no\" \xc3\xa4");
  CHECK(refused.error().details() == "at 3:\n4");
}

TEST_CASE("unary: a method that the server does not have") {
  EchoFixture fixture;
  CHECK(say(fixture.socket, "hello", "Sing").error().code() == Code::unsupported);
}

TEST_CASE("unary: no server") {
  const TempFolder folder;
  CHECK(say(folder.path() / "none", "hello").error().code() == Code::unavailable);
}

// A server that accepts the first connection, sends `text`, and closes it, or waits for the client
// to close it.
struct Rude {
  TempFolder folder;
  Path socket = folder.path() / "rude.sock";
  Listener listener = Listener::open(socket).value();
  std::thread thread;

  Rude(const std::string& text, bool closes) {
    thread = std::thread([this, text, closes] {
      pollfd waiting{listener.fd(), POLLIN, 0};
      if (::poll(&waiting, 1, 20'000) != 1) return;
      const std::optional<Fd> client = listener.accept().value();
      (void)::send(client->get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (closes) return;
      char byte = 0;
      pollfd left{client->get(), POLLIN, 0};
      while (::poll(&left, 1, 20'000) == 1 && ::recv(client->get(), &byte, 1, MSG_DONTWAIT) != 0) {
      }
    });
  }
  ~Rude() { thread.join(); }
  Rude(const Rude&) = delete;
  Rude& operator=(const Rude&) = delete;
};

TEST_CASE("unary: who closes, says nothing, or speaks something else, is no server") {
  {
    const Rude closes("", true);
    CHECK(say(closes.socket, "hello").error().code() == Code::unavailable);
  }
  {
    const Rude silent("", false);
    const auto refused = unary(silent.socket, "/a.B/C", "", Deadline::in(Duration(50)));
    CHECK(refused.error().code() == Code::unavailable);
    CHECK(refused.error().text() == "no answer within the deadline");
  }
  {
    const Rude other("HTTP/1.1 400 Bad Request\r\n\r\n", false);
    const auto refused = say(other.socket, "hello");
    REQUIRE_FALSE(refused);
    CHECK(
        (refused.error().code() == Code::internal || refused.error().code() == Code::unavailable));
  }
}

std::string frame(char type, char flags, char stream, const std::string& payload) {
  const auto size = static_cast<char>(payload.size());
  return std::string{'\0', '\0', size, type, flags, '\0', '\0', '\0', stream} + payload;
}

TEST_CASE("unary: what a server pushes is no answer") {
  echo::Words words;
  words.set_text("pushed");
  const auto message = [&] {
    const std::string text = words.SerializeAsString();
    return std::string{'\0', '\0', '\0', '\0', static_cast<char>(text.size())} + text;
  };
  const std::string settings = frame(4, 0, 0, "");
  const std::string ok200 = "\x88";  // :status 200
  const std::string done = std::string("\0\x0bgrpc-status\x01", 14) + "0";
  const std::string promised =
      std::string("\0\0\0\2", 4) + "\x82\x86\x84\x41\x01h";  // GET http / h
  std::string answer = settings + frame(5, 4, 1, promised) + frame(1, 4, 2, ok200) +
                       frame(0, 0, 2, message()) + frame(1, 5, 2, done);
  words.set_text("answered");
  answer += frame(1, 4, 1, ok200) + frame(0, 0, 1, message()) + frame(1, 5, 1, done);
  const Rude pushes(answer, false);
  CHECK(say(pushes.socket, "hello").value() == "answered");
}

}  // namespace
}  // namespace ibpod::rpc
