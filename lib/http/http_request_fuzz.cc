// For any bytes of a client: a connection keeps no more than the largest request, and the answer is
// one HTTP answer that is no larger than a page and ends the connection.
#include "lib/http/address.h"
#include "lib/http/connection.h"
#include "lib/http/exchange.h"
#include "tests/support/fuzz.h"

#include <poll.h>
#include <sys/socket.h>

namespace ibpod::http {
namespace {

using fuzz::require;

constexpr size_t kPage = 1000;
constexpr size_t kHeaders = 1000;
constexpr size_t kOneRead = 4096;

const Exchange& exchange() {
  static const Exchange exchange(
      {.metrics = [] { return std::string(kPage, 'x'); },
       .healthy = [] { return ok(); },
       .ready = [] { return Status(Error(Code::unavailable, "not yet")); }});
  return exchange;
}

void check_answer(const std::string& answer) {
  require(answer.size() <= kPage + kHeaders);
  if (answer.empty()) return;
  require(answer.starts_with("HTTP/1.1 ") && answer.find("\r\n\r\n") != answer.npos);
  require(answer.find("Connection: close\r\n") != answer.npos ||
          answer.starts_with("HTTP/1.1 100"));
}

// The request as a connection hands it over: nothing where it is not whole, or too large.
std::optional<std::string> received(std::string_view bytes) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const Fd client(ends[0]);
  Connection connection{Fd(ends[1])};
  std::optional<std::string> request;
  while (!request && !bytes.empty() && connection.wants() == POLLIN) {
    const ssize_t sent = ::send(client.get(), bytes.data(), std::min(bytes.size(), kOneRead), 0);
    require(sent > 0);
    bytes.remove_prefix(static_cast<size_t>(sent));
    request = connection.proceed();
  }
  return request;
}

}  // namespace
}  // namespace ibpod::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string_view text = fuzz::text_of(data, size);
  const auto address = http::Address::parse(text);
  if (!address) fuzz::check_refusal(address.error(), size);
  if (address) fuzz::require(http::Address::parse(address->text()).value() == *address);
  const std::optional<std::string> request = http::received(text);
  if (!request) return 0;
  fuzz::require(request->size() <= http::kLargestRequest + http::kOneRead);
  http::check_answer(http::exchange().answer(*request));
  return 0;
}
