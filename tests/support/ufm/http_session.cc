#include "tests/support/ufm/http_session.h"

#include "tests/support/ufm/connection.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include <httplib.h>

namespace ibpod::fake_ufm {
namespace {

constexpr size_t kMostBody = 16 << 20;

// Reads from the connection, and keeps what is written: the handler decides what becomes of it.
class Buffered : public httplib::Stream {
 public:
  explicit Buffered(Connection& connection) : connection_(connection) {}
  std::string take() { return std::exchange(output_, {}); }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    if (begin_ == end_) {
      const ssize_t got = connection_.read(input_.data(), input_.size());
      if (got <= 0) return got;
      begin_ = 0;
      end_ = static_cast<size_t>(got);
    }
    const size_t count = std::min(size, end_ - begin_);
    std::memcpy(to, input_.data() + begin_, count);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, size_t size) override {
    output_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  Connection& connection_;
  std::array<char, 16384> input_{};
  size_t begin_ = 0, end_ = 0;
  std::string output_;
};

std::string http_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return text.data();
}

class Protocol : public httplib::Server {
 public:
  Protocol(const HttpHandler& handler, std::optional<std::string> certificate)
      : handler_(handler), certificate_(std::move(certificate)) {
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      make_answer(request, response);
    };
    Get(".*", answer);
    Post(".*", answer);
    Put(".*", answer);
    Delete(".*", answer);
    set_payload_max_length(kMostBody);
  }

  // False if there was no request, or one that is none.
  bool exchange(Buffered& stream, bool& closed) {
    reply_ = {};
    return process_request(stream, false, closed,
                           [](httplib::Request& parsed) { parsed.ranges.clear(); });
  }
  const HttpReply& reply() const { return reply_; }

 private:
  void make_answer(const httplib::Request& parsed, httplib::Response& response) {
    HttpRequest request{.method = parsed.method,
                        .path = parsed.path,
                        .query = {},
                        .authorization = parsed.get_header_value("Authorization"),
                        .body = parsed.body,
                        .certificate = certificate_};
    for (const auto& [key, value] : parsed.params) request.query.emplace(key, value);
    reply_ = handler_(request);
    response.status = reply_.status;
    response.set_header("Date", http_date());
    response.set_content(reply_.body, reply_.type);
  }

  const HttpHandler& handler_;
  std::optional<std::string> certificate_;
  HttpReply reply_;
};

// False: the connection is over.
bool deliver(Connection& connection, const HttpReply& reply, const std::string& bytes) {
  switch (reply.delivery) {
    case Delivery::reset:
      connection.reset();
      return false;
    case Delivery::never:
      connection.wait_for_end();
      return false;
    case Delivery::slow:
      return connection.wait(reply.delay) && connection.write(bytes);
    default:
      return connection.write(bytes);
  }
}

}  // namespace

void serve_http(int fd, const TlsContext& tls, const HttpHandler& handler) {
  Connection connection(fd, tls);
  if (!connection.handshake()) return;
  Protocol protocol(handler, connection.certificate_name());
  Buffered stream(connection);
  for (bool closed = false; !closed;) {
    const bool answered = protocol.exchange(stream, closed);
    if (!deliver(connection, protocol.reply(), stream.take()) || !answered) return;
  }
}

}  // namespace ibpod::fake_ufm
