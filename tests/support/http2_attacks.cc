#include "tests/support/http2_attacks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ibpod {
namespace {

using namespace http2;

constexpr int kAtOnce = 200;            // frames, or pairs of them, in one write
constexpr uint32_t kMessage = 4 << 20;  // bytes, all but the last of which come

// Writes what `next` gives for each number, again and again.
template <class Next>
bool flood(RawHttp2& connection, Deadline end, Next next) {
  uint32_t nth = 0;
  while (!end.passed()) {
    std::string bytes;
    for (int n = 0; n < kAtOnce; ++n) bytes += next(nth++);
    if (!connection.send(bytes) || !connection.receive(0)) return false;
  }
  return true;
}

uint32_t stream_of(uint32_t nth) { return 2 * nth + 1; }

std::string begun(const std::string& path, uint32_t nth) {
  return frame(Type::headers, kEndHeaders, stream_of(nth), headers(path, nth == 0));
}

bool reset_streams(RawHttp2& connection, const std::string& path, Deadline end) {
  return flood(connection, end,
               [&](uint32_t nth) { return begun(path, nth) + reset(stream_of(nth)); });
}

// A call whose request is whole, and empty.
std::string whole(const std::string& path, uint32_t nth) {
  return begun(path, nth) +
         frame(Type::data, kEndStream, stream_of(nth), std::string_view("\0\0\0\0\0", 5));
}

bool reset_requests(RawHttp2& connection, const std::string& path, Deadline end) {
  return flood(connection, end,
               [&](uint32_t nth) { return whole(path, nth) + reset(stream_of(nth)); });
}

bool whole_requests(RawHttp2& connection, const std::string& path, Deadline end) {
  return flood(connection, end, [&](uint32_t nth) { return whole(path, nth); });
}

// Streams that stay open, for whom has not acknowledged how many it may have.
bool open_streams(RawHttp2& connection, const std::string& path, Deadline end) {
  return flood(connection, end, [&](uint32_t nth) { return begun(path, nth); });
}

// Goes away and leaves its streams unfinished.
bool open_and_leave(RawHttp2& connection, const std::string& path, Deadline) {
  std::string bytes;
  for (uint32_t nth = 0; nth < 10 * kAtOnce; ++nth) bytes += begun(path, nth);
  (void)connection.send(bytes);
  return false;
}

bool continue_headers(RawHttp2& connection, const std::string& path, Deadline end) {
  if (!connection.send(frame(Type::headers, 0, 1, headers(path, true)))) return false;
  const std::string more = field("x-flood", std::string(1000, 'x'));
  return flood(connection, end, [&](uint32_t) { return frame(Type::more, 0, 1, more); });
}

bool change_settings(RawHttp2& connection, const std::string&, Deadline end) {
  const std::string window("\0\4\0\0\xff\xff", 6);
  return flood(connection, end, [&](uint32_t) { return frame(Type::settings, 0, 0, window); });
}

bool ping(RawHttp2& connection, const std::string&, Deadline end) {
  return flood(connection, end, [](uint32_t) { return frame(Type::ping, 0, 0, "12345678"); });
}

bool send_no_data(RawHttp2& connection, const std::string& path, Deadline end) {
  if (!connection.send(begun(path, 0))) return false;
  return flood(connection, end, [](uint32_t) { return frame(Type::data, 0, 1, ""); });
}

// Sends as much of the rest of the message as flow control allows this stream now.
bool send_some(RawHttp2& connection, uint32_t stream, uint32_t& left) {
  const auto most = static_cast<int64_t>(std::min<uint32_t>(left, 16'384));
  const int64_t size = std::min(most, connection.window(stream));
  if (size <= 0) return true;
  connection.sent_data(stream, size);
  left -= static_cast<uint32_t>(size);
  return connection.send(frame(Type::data, 0, stream, std::string(static_cast<size_t>(size), 'x')));
}

// 200 large messages of which the last byte never comes, and after every `apart` bytes of them a
// small request that is whole: 56 of the 256 streams that a connection may have are left for those.
bool hold_messages(RawHttp2& connection, const std::string& path, Deadline end, size_t apart) {
  std::vector<uint32_t> left(200, kMessage - 10);
  auto next = static_cast<uint32_t>(left.size());
  size_t since = 0;
  const std::string prefix("\0\0\x40\0\0", 5);
  for (uint32_t nth = 0; nth < left.size(); ++nth) {
    connection.sent_data(stream_of(nth), 5);
    if (!connection.send(begun(path, nth) + frame(Type::data, 0, stream_of(nth), prefix)))
      return false;
  }
  while (!end.passed()) {
    for (uint32_t nth = 0; nth < left.size(); ++nth) {
      const uint32_t before = left[nth];
      if (!send_some(connection, stream_of(nth), left[nth])) return false;
      since += before - left[nth];
      if (since < apart || connection.window(stream_of(next)) < 5) continue;
      since = 0;
      connection.sent_data(stream_of(next), 5);
      if (!connection.send(whole(path, next++))) return false;
    }
    if (!connection.receive(1)) return false;
  }
  return true;
}

// The same request again and again: of `part`, as often as `bytes` have room for it.
bool send_parts(RawHttp2& connection, const std::string& path, Deadline end,
                const std::string& part, uint32_t bytes) {
  std::string message;
  while (message.size() < bytes) message += part;
  std::string size;
  for (int shift = 24; shift >= 0; shift -= 8)
    size += static_cast<char>(message.size() >> shift & 255);
  message = std::string(1, '\0') + size + message;
  for (uint32_t nth = 0; !end.passed(); ++nth) {
    if (!connection.send(begun(path, nth))) return false;
    for (size_t sent = 0; sent < message.size();) {
      if (end.passed()) return true;
      const int64_t most = std::min<int64_t>(connection.window(stream_of(nth)), 16'384);
      const auto some =
          std::min(static_cast<size_t>(std::max<int64_t>(most, 0)), message.size() - sent);
      if (some > 0) {
        connection.sent_data(stream_of(nth), static_cast<int64_t>(some));
        const uint8_t flags = sent + some == message.size() ? kEndStream : 0;
        if (!connection.send(frame(Type::data, flags, stream_of(nth), message.substr(sent, some))))
          return false;
        sent += some;
      }
      if (!connection.receive(some > 0 ? 0 : 1)) return false;
    }
  }
  return true;
}

// Field 3 of a message, empty, a million and a half times.
bool send_empty_parts(RawHttp2& connection, const std::string& path, Deadline end) {
  return send_parts(connection, path, end, std::string("\x1a\0", 2), 3 << 20);
}

bool only_hold(RawHttp2& connection, const std::string& path, Deadline end) {
  return hold_messages(connection, path, end, SIZE_MAX);
}

bool hold_between(RawHttp2& connection, const std::string& path, Deadline end) {
  return hold_messages(connection, path, end, 128 << 10);
}

// Does nothing, and so is a place that is taken.
bool stay(RawHttp2& connection, const std::string&, Deadline end) {
  while (!end.passed())
    if (!connection.receive(100)) return false;
  return true;
}

// One connection after the other, each with a handshake.
bool leave(RawHttp2&, const std::string&, Deadline) { return false; }

}  // namespace

const std::vector<Http2Attack>& http2_attacks() {
  static const std::vector<Http2Attack> attacks{{"reset", reset_streams},
                                                {"resetdata", reset_requests},
                                                {"requests", whole_requests},
                                                {"open", open_streams, false},
                                                {"open-and-leave", open_and_leave, false},
                                                {"continuation", continue_headers},
                                                {"settings", change_settings},
                                                {"ping", ping},
                                                {"emptydata", send_no_data},
                                                {"open-half", only_hold},
                                                {"half-and-whole", hold_between},
                                                {"parts", send_empty_parts},
                                                {"stay", stay},
                                                {"reconnect", leave}};
  return attacks;
}

const Http2Attack& http2_attack(const std::string& name) {
  for (const Http2Attack& one : http2_attacks())
    if (one.name == name) return one;
  std::abort();
}

}  // namespace ibpod
