// For any bytes that a server answers on the socket before it closes: the call ends, with a message
// within the size limit or with a reason.
#include "lib/rpc/unary.h"
#include "tests/support/fuzz.h"
#include "tests/support/temp_folder.h"

#include <array>
#include <cstring>
#include <thread>

#include <sys/socket.h>
#include <sys/un.h>

namespace ibpod::rpc {
namespace {

using fuzz::require;

class Server {
 public:
  Server() : listening_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket().c_str(), sizeof address.sun_path - 1);
    require(::bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    require(::listen(listening_.get(), 1) == 0);
  }
  Path socket() const { return folder_.path() / "s"; }

  // Takes one client, sends the bytes, and waits until it has left: what it says is not looked at.
  void answer(std::string_view bytes) const {
    const Fd client(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    while (!bytes.empty()) {
      const ssize_t sent = ::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    ::shutdown(client.get(), SHUT_WR);
    std::array<char, 4096> ignored{};
    while (::recv(client.get(), ignored.data(), ignored.size(), 0) > 0) continue;
  }

 private:
  TempFolder folder_;
  Fd listening_;
};

void check(const Result<std::string>& answer) {
  constexpr size_t kMostText = 100'000;  // of HTTP/2's headers
  if (answer) return require(answer->size() <= kLargestUnaryAnswer);
  require(!answer.error().text().empty() && answer.error().text().size() <= kMostText);
}

}  // namespace
}  // namespace ibpod::rpc

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  static const rpc::Server server;
  std::thread answering([&] { server.answer(fuzz::text_of(data, size)); });
  const auto deadline = Deadline::in(Duration(60'000));
  rpc::check(rpc::unary(server.socket(), "/ibpod.v1.Node/Health", "", deadline));
  answering.join();
  return 0;
}
