#include "lib/rpc/channel.h"

#include "lib/rpc/test_echo.h"
#include "lib/rpc/unix_address.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

namespace ibpod::rpc {
namespace {

Result<echo::Words> say(const Path& socket, const echo::Words& words, Deadline deadline) {
  const auto channel = TRY(connect_unix(socket));
  const auto stub = echo::Echo::NewStub(channel);
  return ask(*stub, &echo::Echo::Stub::Say, words, deadline);
}

TEST_CASE("a server's error arrives with its code and text") {
  EchoFixture fixture;
  echo::Words words;
  words.set_text("taken by another pod");
  words.set_code(1);
  const auto answer = say(fixture.socket, words, Deadline::in(Duration(20'000)));
  CHECK(answer.error().code() == Code::busy);
  CHECK(answer.error().text() == "taken by another pod");
}

TEST_CASE("connecting without a socket, or without a listener, says so") {
  const TempFolder folder;
  const Path path = folder.path() / "x.sock";
  CHECK(connect_unix(path).error().code() == Code::not_found);
  const Fd stale = unix_socket().value();
  const sockaddr_un address = unix_address(path).value();
  REQUIRE(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  const auto refused = connect_unix(path);
  CHECK(refused.error().code() == Code::unavailable);
  CHECK(refused.error().text() == "connect to " + path.string() + ": Connection refused");
}

TEST_CASE("a server that never answers costs no more than the deadline") {
  const TempFolder folder;
  const Path path = folder.path() / "x.sock";
  const Fd mute = unix_socket().value();
  const sockaddr_un address = unix_address(path).value();
  REQUIRE(::bind(mute.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(mute.get(), 1) == 0);
  const auto answer = say(path, {}, Deadline::in(Duration(50)));
  CHECK(answer.error().code() == Code::unavailable);
}

TEST_CASE("a channel whose server has gone fails, and is not made again") {
  EchoFixture fixture;
  const auto stub = echo::Echo::NewStub(connect_unix(fixture.socket).value());
  const Deadline deadline = Deadline::in(Duration(20'000));
  REQUIRE(ask(*stub, &echo::Echo::Stub::Say, {}, deadline));
  fixture.server.reset();
  fixture.server = Server::serve(fixture.socket, {&fixture.service}).value();
  CHECK(ask(*stub, &echo::Echo::Stub::Say, {}, deadline).error().code() == Code::unavailable);
  CHECK(say(fixture.socket, {}, deadline));
}

}  // namespace
}  // namespace ibpod::rpc
