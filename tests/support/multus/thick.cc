#include "tests/support/multus/thick.h"

#include "lib/json/read.h"
#include "lib/rpc/unix_address.h"
#include "tests/support/multus/multus.h"

#include <cstdio>
#include <thread>

#include <poll.h>
#include <sys/socket.h>

namespace ibpod::multus {
namespace {

constexpr Duration kLookAgain{100};
constexpr const char* kSocket = "multus.sock";

// An error of the daemon loses its number on the way.
Error told(const char* verb, const Error& error) {
  return Error(error.code(), "Cmd" + std::string(verb) +
                                 " (shim): CNI request failed with status 400: '" + error.text() +
                                 "'")
      .reported_as(kMultusError);
}

Status told(const char* verb, const Status& status) {
  return status ? ok() : told(verb, status.error());
}

}  // namespace

bool is_reachable(const Path& socket) { return rpc::connect_socket(socket).ok(); }

Status run_daemon(const Path& folder) {
  TRY(make_folders(folder));
  const Path socket = folder / kSocket;
  TRY(remove_file(socket));
  const Fd listening = TRY(rpc::unix_socket());
  const sockaddr_un address = TRY(rpc::unix_address(socket));
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(listening.get(), name, sizeof address) != 0 || ::listen(listening.get(), 16) != 0)
    return Error::from_errno(errno, "listen at " + socket.string());
  while (true) {
    pollfd waiting{listening.get(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
    const Fd connection(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
}

Status Shim::configure(const cni::Call& call, const cni::Network& network) {
  json::Fields fields = TRY(json::Fields::of(network.document));
  std::string folder;
  TRY(take(fields, "daemonSocketDir", folder));
  if (!folder.empty()) socket_ = Path(folder) / kSocket;
  return inner_.configure(call, network);
}

Status Shim::await_daemon(const char* verb) const {
  const Deadline deadline = Deadline::in(timeout_);
  while (!reachable_(socket_)) {
    if (deadline.passed())
      return Error(Code::unavailable,
                   "Cmd" + std::string(verb) + " (shim): timed out waiting for the condition")
          .reported_as(kMultusError);
    std::this_thread::sleep_for(std::min(kLookAgain, deadline.left()));
  }
  return ok();
}

Result<cni::AddResult> Shim::add() {
  if (socket_.empty()) return inner_.add();
  TRY(await_daemon("Add"));
  Result<cni::AddResult> result = inner_.add();
  if (!result) return told("Add", result.error());
  return result;
}

Status Shim::del() {
  if (socket_.empty()) return inner_.del();
  const bool there = reachable_(socket_);
  const Status done = there ? inner_.del() : ok();
  if (!there || !done)
    std::fprintf(stderr, "CmdDel (shim): %s\n",
                 there ? done.error().text().c_str() : "Daemon not reachable over socketfile");
  return ok();
}

Status Shim::check() {
  if (socket_.empty()) return inner_.check();
  TRY(await_daemon("Check"));
  return told("Check", inner_.check());
}

Status Shim::gc() {
  if (socket_.empty()) return inner_.gc();
  TRY(await_daemon("GC"));
  return told("GC", inner_.gc());
}

Status Shim::status() {
  if (socket_.empty()) return inner_.status();
  TRY(await_daemon("Status"));
  return told("Status", inner_.status());
}

}  // namespace ibpod::multus
