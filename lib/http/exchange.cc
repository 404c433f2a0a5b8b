#include "lib/http/exchange.h"

#include <algorithm>
#include <cstring>
#include <semaphore>

#include <httplib.h>

namespace ibpod::http {
namespace {

// However long scrapes take, the other workers answer for the program's health.
constexpr std::ptrdiff_t kScrapes = 2;

class Memory : public httplib::Stream {
 public:
  explicit Memory(std::string_view input) : input_(input) {}
  std::string take() { return std::move(output_); }

  bool is_readable() const override { return !input_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override {
    const size_t count = std::min(size, input_.size());
    std::memcpy(to, input_.data(), count);
    input_.remove_prefix(count);
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
  std::string_view input_;
  std::string output_;
};

void tell(httplib::Response& response, const Status& status) {
  response.status = status ? 200 : 503;
  response.set_content((status ? "ok" : status.error().text()) + "\n", "text/plain; charset=utf-8");
}

}  // namespace

class Exchange::Speaker : public httplib::Server {
 public:
  explicit Speaker(Pages pages) : pages_(std::move(pages)) {
    Get("/healthz", [this](const auto&, auto& response) { tell(response, pages_.healthy()); });
    Get("/readyz", [this](const auto&, auto& response) { tell(response, pages_.ready()); });
    Get("/metrics", [this](const auto&, auto& response) { show_metrics(response); });
  }

  std::string answer(std::string_view request) {
    Memory stream(request);
    bool closed = false;
    // A page is given whole: a few thousand overlapping ranges would multiply it.
    process_request(stream, true, closed, [](httplib::Request& parsed) { parsed.ranges.clear(); });
    return stream.take();
  }

 private:
  void show_metrics(httplib::Response& response) {
    if (!scrapes_.try_acquire())
      return tell(response, Error(Code::busy, "too many scrapes at the same time"));
    response.set_content(pages_.metrics(), "text/plain; version=0.0.4; charset=utf-8");
    scrapes_.release();
  }

  Pages pages_;
  std::counting_semaphore<kScrapes> scrapes_{kScrapes};
};

Exchange::Exchange(Pages pages) : speaker_(std::make_unique<Speaker>(std::move(pages))) {}
Exchange::~Exchange() = default;

std::string Exchange::answer(std::string_view request) const { return speaker_->answer(request); }

}  // namespace ibpod::http
