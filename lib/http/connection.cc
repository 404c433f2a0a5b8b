#include "lib/http/connection.h"

#include <array>

#include <poll.h>
#include <sys/socket.h>

namespace ibpod::http {
namespace {

constexpr std::string_view kTooLarge =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: "
    "0\r\n\r\n";

bool would_block(const Error& error) { return error.error_number() == EAGAIN; }

}  // namespace

short Connection::wants() const {
  if (stage_ == Stage::reading) return POLLIN;
  return stage_ == Stage::writing ? POLLOUT : 0;
}

std::optional<std::string> Connection::proceed() {
  if (stage_ == Stage::reading) return read();
  // poll() tells of a client that has left also where nothing is awaited of it.
  if (stage_ == Stage::answering) stage_ = Stage::over;
  if (stage_ == Stage::writing) write();
  return std::nullopt;
}

std::optional<std::string> Connection::read() {
  std::array<char, 4096> buffer;
  const auto count =
      sys("receive", [&] { return ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT); });
  if (!count && would_block(count.error())) return std::nullopt;
  if (!count || *count == 0) {
    stage_ = Stage::over;
    return std::nullopt;
  }
  bytes_.append(buffer.data(), static_cast<size_t>(*count));
  const size_t end = bytes_.find("\r\n\r\n");
  const bool whole = end != bytes_.npos && end <= kLargestRequest;
  if (!whole && bytes_.size() > kLargestRequest) answer(std::string(kTooLarge));
  if (!whole) return std::nullopt;
  stage_ = Stage::answering;
  return std::move(bytes_);
}

void Connection::answer(std::string text) {
  bytes_ = std::move(text);
  stage_ = Stage::writing;
  deadline_ = Deadline::in(kClientTimeout);
  write();
}

void Connection::write() {
  const auto count = sys("send", [&] {
    return ::send(fd_.get(), bytes_.data() + written_, bytes_.size() - written_,
                  MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  if (!count && would_block(count.error())) return;
  if (count) written_ += static_cast<size_t>(*count);
  if (!count || written_ == bytes_.size()) stage_ = Stage::over;
}

}  // namespace ibpod::http
