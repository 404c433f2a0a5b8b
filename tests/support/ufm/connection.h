// Connection: the bytes to and from one client, through TLS or not. Blocks; another thread ends
// that by shutdown() of its descriptor.
#pragma once

#include "lib/base/fd.h"
#include "tests/support/ufm/tls.h"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

using SSL = struct ssl_st;

namespace ibpod::fake_ufm {

class Connection {
 public:
  // `tls` may be null. The descriptor stays the caller's.
  Connection(int fd, const TlsContext& tls);

  // False if the client refuses our certificate, or has one that is not valid.
  bool handshake();
  // The common name of the client's certificate, if it has one.
  std::optional<std::string> certificate_name() const;
  // As read(2): 0 at the end, -1 for an error.
  ssize_t read(char* to, size_t size);
  // False if the client has gone.
  bool write(std::string_view bytes);
  // Ends it at the client with "connection reset", also in the middle of a TLS record.
  void reset();
  // Until the client has gone, or shutdown().
  void wait_for_end();
  // The same for at most `delay`. False if the client has gone.
  bool wait(std::chrono::milliseconds delay);

 private:
  int fd_;
  std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
};

}  // namespace ibpod::fake_ufm
