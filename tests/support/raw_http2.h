// RawHttp2: a client of HTTP/2 over TLS that sends whatever frames it likes, for tests of servers
// that have to bear it.
#pragma once

#include "lib/base/fd.h"
#include "tests/support/test_ca.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

typedef struct ssl_st SSL;  // NOLINT(modernize-use-using): as OpenSSL declares it

namespace ibpod {

// Frames, as bytes.
namespace http2 {

enum class Type : uint8_t { data = 0, headers = 1, reset = 3, settings = 4, ping = 6, more = 9 };
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kAck = 1;
constexpr uint8_t kEndHeaders = 4;

std::string frame(Type type, uint8_t flags, uint32_t stream, std::string_view payload);
// RST_STREAM, CANCEL.
std::string reset(uint32_t stream);
// The headers of a call of `path`; `first`: of the first one of a connection, whose header fields
// the later ones refer to, so that each is 8 bytes long.
std::string headers(std::string_view path, bool first);
// One header field that is in no table.
std::string field(std::string_view name, std::string_view value);

}  // namespace http2

class RawHttp2 {
 public:
  // A connection on which TLS and HTTP/2 have begun; nothing: the other side has ended it before.
  // It shows no certificate if `own` has none.
  // Settings are acknowledged, and so obeyed, or not.
  static std::optional<RawHttp2> connect(const std::string& host, uint16_t port,
                                         const TestCa::Issued& own, bool acknowledge = true);
  RawHttp2(RawHttp2&& other) noexcept;
  RawHttp2& operator=(RawHttp2&&) = delete;
  RawHttp2(const RawHttp2&) = delete;
  RawHttp2& operator=(const RawHttp2&) = delete;
  ~RawHttp2();

  // All of it; false: the other side has ended the connection, or has taken nothing for a second.
  bool send(std::string_view frames);
  // Reads what is there, and waits for something `ms` at most; false: the connection is over.
  bool receive(int ms);
  // How many bytes of DATA this stream may be sent now.
  int64_t window(uint32_t stream) const;
  // That so many have been sent.
  void sent_data(uint32_t stream, int64_t bytes);

 private:
  RawHttp2(Fd socket, SSL* tls) : socket_(std::move(socket)), tls_(tls) {}
  bool begin(bool acknowledge);
  void take_frames();
  void take(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload);
  bool wait(int result, int ms);

  Fd socket_;
  SSL* tls_;
  std::string received_;
  bool has_settings_ = false;
  int64_t initial_window_ = 65535;
  int64_t connection_window_ = 65535;
  std::map<uint32_t, int64_t> windows_;  // beside the initial one
};

}  // namespace ibpod
