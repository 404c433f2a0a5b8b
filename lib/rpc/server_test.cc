#include "lib/rpc/server.h"

#include "lib/rpc/channel.h"
#include "lib/rpc/test_tls.h"
#include "lib/rpc/unix_address.h"
#include "tests/support/run_tests.h"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace ibpod::rpc {
namespace {

Result<std::string> say(const Path& socket, const std::string& text) {
  const auto channel = TRY(connect_unix(socket));
  const auto stub = echo::Echo::NewStub(channel);
  echo::Words words;
  words.set_text(text);
  const echo::Words answer = TRY(ask(*stub, &echo::Echo::Stub::Say, words, Deadline::in(kSoon)));
  return answer.text();
}

TEST_CASE("a served socket answers, is its owner's alone, and goes with the server") {
  EchoFixture fixture;
  CHECK(say(fixture.socket, "hello").value() == "hello");
  struct stat found;
  REQUIRE(::lstat(fixture.socket.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  CHECK(list_folder(fixture.folder.path()).value().size() == 1);
  fixture.server.reset();
  CHECK_FALSE(path_exists(fixture.socket));
}

TEST_CASE("a socket without a listener is replaced") {
  const TempFolder folder;
  const Path path = folder.path() / "echo.sock";
  for (const char* name : {"echo.sock", ".echo.sock"}) {
    const Fd stale = unix_socket().value();
    const sockaddr_un address = unix_address(folder.path() / name).value();
    REQUIRE(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  EchoService service;
  const auto server = Server::serve(path, {&service});
  REQUIRE(server);
  CHECK(say(path, "hello"));
  CHECK(list_folder(folder.path()).value().size() == 1);
}

TEST_CASE("a socket that is served is left alone, and so is a file that is no socket") {
  EchoFixture fixture;
  EchoService service;
  const auto second = Server::serve(fixture.socket, {&service});
  CHECK(second.error().code() == Code::busy);
  CHECK(second.error().text() ==
        "serve: " + fixture.socket.string() + ": another process listens there");
  CHECK(say(fixture.socket, "hello"));

  const Path file = fixture.folder.write("file", "content");
  CHECK(Server::serve(file, {&service}).error().code() == Code::exists);
  CHECK(read_file(file).value() == "content");
}

TEST_CASE("the folder is not made, and a path that is too long is named") {
  const TempFolder folder;
  EchoService service;
  CHECK(Server::serve(folder.path() / "none/x.sock", {&service}).error().code() == Code::not_found);
  const auto refused = Server::serve(folder.path() / std::string(100, 'x'), {&service});
  CHECK(refused.error().code() == Code::invalid);
  CHECK(refused.error().text().find("at most 107 bytes") != std::string::npos);
}

TEST_CASE("a server knows when its socket is no longer in place, and removes no other's") {
  EchoFixture fixture;
  CHECK(fixture.server->in_place());
  std::filesystem::remove(fixture.socket);
  CHECK_FALSE(fixture.server->in_place());
  EchoService service;
  const auto second = Server::serve(fixture.socket, {&service});
  REQUIRE(second);
  CHECK_FALSE(fixture.server->in_place());
  fixture.server.reset();
  CHECK(say(fixture.socket, "hello"));
}

TEST_CASE("another user's connection is closed unread, and counted") {
  if (!root_can("connect as another user")) return;
  EchoFixture fixture;
  std::filesystem::permissions(fixture.folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(fixture.socket, std::filesystem::perms::all);
  const sockaddr_un address = unix_address(fixture.socket).value();
  const Fd connection(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool connected = ::setresuid(65534, 65534, 65534) == 0 &&
                           ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                                     sizeof address) == 0;
    ::_exit(connected ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  CHECK(closed_by_other_side(connection));
  // It is counted when the next one is taken, and perhaps not before.
  CHECK(say(fixture.socket, "hello"));
  CHECK(fixture.server->refused() == 1);
}

TEST_CASE("500 connections that send nothing keep no other client from being served") {
  rlimit descriptors;  // both ends are this process's
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  descriptors.rlim_cur = descriptors.rlim_max;
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  EchoFixture fixture;
  std::vector<Fd> silent;
  for (int i = 0; i < 500; ++i) silent.push_back(connect_socket(fixture.socket).value());
  CHECK(say(fixture.socket, "hello"));
  fixture.server.reset();
  for (const Fd& connection : silent) CHECK(closed_by_other_side(connection));
}

TEST_CASE("a request that is too large is refused, and the next is served") {
  EchoFixture fixture;
  CHECK_FALSE(say(fixture.socket, std::string(kLargestRequest, 'x')));
  CHECK(say(fixture.socket, std::string(kLargestRequest - 100, 'x')));
}

TEST_CASE("stopping ends streams that would never end") {
  EchoFixture fixture;
  const auto stub = echo::Echo::NewStub(connect_unix(fixture.socket).value());
  grpc::ClientContext context;
  const auto stream = stub->Listen(&context, {});
  echo::Words words;
  REQUIRE(stream->Read(&words));
  fixture.server->stop(Duration(0));
  CHECK_FALSE(stream->Read(&words));
  CHECK(from_grpc(stream->Finish()).error().code() == Code::unavailable);
  fixture.server->stop(Duration(0));
  CHECK_FALSE(say(fixture.socket, "hello"));
}

}  // namespace
}  // namespace ibpod::rpc
