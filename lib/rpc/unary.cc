#include "lib/rpc/unary.h"

#include "lib/base/fd.h"
#include "lib/ib/hex.h"
#include "lib/rpc/codes.h"
#include "lib/rpc/unix_address.h"

#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>

namespace ibpod::rpc {
namespace {

constexpr size_t kPrefix = 5;  // a byte that says "not compressed", and the length, high byte first

std::string framed(const std::string& message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::string frame{'\0'};
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(size >> shift & 0xff);
  return frame + message;
}

Result<std::string> unframed(const std::string& frame) {
  uint32_t size = 0;
  for (size_t i = 1; i < kPrefix && i < frame.size(); ++i)
    size = size << 8 | static_cast<uint8_t>(frame[i]);
  if (frame.size() < kPrefix || frame[0] != 0 || size != frame.size() - kPrefix)
    return Error(Code::internal, "the answer is not exactly one gRPC message");
  return frame.substr(kPrefix);
}

// grpc-message is percent-encoded.
std::string decoded(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::optional<uint64_t> byte =
        text[i] == '%' && i + 2 < text.size() ? ib::parse_hex(text.substr(i + 1, 2)) : std::nullopt;
    plain += byte ? static_cast<char>(*byte) : text[i];
    if (byte) i += 2;
  }
  return plain;
}

nghttp2_nv header(std::string_view name, std::string_view value) {
  // nghttp2 copies what it is given, and only its older interface lacks the const.
  const auto bytes = [](std::string_view text) {
    return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

class Exchange {
 public:
  Exchange(Fd connection, const std::string& request)
      : connection_(std::move(connection)), request_(framed(request)) {}

  Result<std::string> run(const std::string& method, Deadline deadline) {
    TRY(begin(method, deadline));
    while (!closed_) {
      TRY(send());
      TRY(wait(deadline));
      TRY(receive());
    }
    if (!status_) return Error(Code::unavailable, "the server ended the call without an answer");
    TRY(status_of(*status_, message_));
    return unframed(answer_);
  }

 private:
  struct EndSession {
    void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  };
  struct EndCallbacks {
    void operator()(nghttp2_session_callbacks* one) const { nghttp2_session_callbacks_del(one); }
  };
  static Exchange& of(void* self) { return *static_cast<Exchange*>(self); }

  static Status check(ssize_t result, const char* what) {
    if (result >= 0) return ok();
    return Error(Code::internal,
                 std::string(what) + ": " + nghttp2_strerror(static_cast<int>(result)));
  }

  Status begin(const std::string& method, Deadline deadline) {
    nghttp2_session_callbacks* made = nullptr;
    TRY(check(nghttp2_session_callbacks_new(&made), "HTTP/2"));
    const std::unique_ptr<nghttp2_session_callbacks, EndCallbacks> callbacks(made);
    nghttp2_session_callbacks_set_on_header_callback(made, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, on_close);
    nghttp2_session* session = nullptr;
    TRY(check(nghttp2_session_client_new(&session, made, this), "HTTP/2"));
    session_.reset(session);
    const nghttp2_settings_entry no_push{NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    TRY(check(nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, &no_push, 1), "HTTP/2"));
    return submit(method, std::to_string(deadline.left().count()) + "m");
  }

  Status submit(const std::string& method, const std::string& timeout) {
    const std::array<nghttp2_nv, 7> headers{
        {header(":method", "POST"), header(":scheme", "http"), header(":path", method),
         header(":authority", "localhost"), header("te", "trailers"),
         header("content-type", "application/grpc"), header("grpc-timeout", timeout)}};
    nghttp2_data_provider body{};
    body.source.ptr = this;
    body.read_callback = read_request;
    stream_ = nghttp2_submit_request(session_.get(), nullptr, headers.data(), headers.size(), &body,
                                     nullptr);
    return check(stream_, "HTTP/2 request");
  }

  Status send() {
    while (true) {
      if (unsent_.empty()) {
        const uint8_t* bytes = nullptr;
        const ssize_t size = nghttp2_session_mem_send(session_.get(), &bytes);
        TRY(check(size, "HTTP/2"));
        if (size == 0) return ok();
        unsent_.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
      }
      const auto sent = sys("send to the server", [&] {
        return ::send(connection_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      });
      if (!sent && sent.error().error_number() == EAGAIN) return ok();
      if (!sent) return Error(Code::unavailable, sent.error().text());
      unsent_.erase(0, static_cast<size_t>(*sent));
    }
  }

  Status wait(Deadline deadline) {
    pollfd one{connection_.get(), POLLIN, 0};
    if (!unsent_.empty()) one.events |= POLLOUT;
    const int left = static_cast<int>(deadline.left().count());
    const int ready = TRY(sys("poll", [&] { return ::poll(&one, 1, left); }));
    return ready > 0 ? ok() : Error(Code::unavailable, "no answer within the deadline");
  }

  Status receive() {
    std::array<uint8_t, 16384> bytes{};
    const auto size = sys("receive from the server",
                          [&] { return ::recv(connection_.get(), bytes.data(), bytes.size(), 0); });
    if (!size && size.error().error_number() == EAGAIN) return ok();
    if (!size) return Error(Code::unavailable, size.error().text());
    if (*size == 0) return Error(Code::unavailable, "the server closed the connection");
    return check(nghttp2_session_mem_recv(session_.get(), bytes.data(), static_cast<size_t>(*size)),
                 "HTTP/2");
  }

  static ssize_t read_request(nghttp2_session*, int32_t, uint8_t* to, size_t room, uint32_t* flags,
                              nghttp2_data_source* source, void*) {
    Exchange& self = of(source->ptr);
    const size_t size = std::min(room, self.request_.size() - self.taken_);
    std::memcpy(to, self.request_.data() + self.taken_, size);
    self.taken_ += size;
    if (self.taken_ == self.request_.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(size);
  }

  // Streams that the server has begun are not the call's.
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                       size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                       void* self) {
    if (frame->hd.stream_id != of(self).stream_) return 0;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    if (key == "grpc-message") of(self).message_ = decoded(text);
    if (key != "grpc-status") return 0;
    int number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc() && end == text.data() + text.size()) of(self).status_ = number;
    return 0;
  }

  static int on_data(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                     void* self) {
    if (stream != of(self).stream_) return 0;
    std::string& answer = of(self).answer_;
    if (answer.size() + size > kLargestUnaryAnswer + kPrefix) return NGHTTP2_ERR_CALLBACK_FAILURE;
    answer.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }

  static int on_close(nghttp2_session*, int32_t stream, uint32_t, void* self) {
    if (stream == of(self).stream_) of(self).closed_ = true;
    return 0;
  }

  Fd connection_;
  const std::string request_;
  size_t taken_ = 0;
  std::string unsent_, answer_, message_;
  std::optional<int> status_;
  bool closed_ = false;
  int32_t stream_ = 0;
  std::unique_ptr<nghttp2_session, EndSession> session_;
};

}  // namespace

Result<std::string> unary(const Path& socket, const std::string& method, const std::string& request,
                          Deadline deadline) {
  Result<Fd> connection = connect_socket(socket);
  // Not there yet, or not any more: the server may come back.
  if (!connection) return Error(connection.error()).as(Code::unavailable);
  return Exchange(std::move(connection).value(), request).run(method, deadline);
}

}  // namespace ibpod::rpc
