// Connection: one client, one request, one answer. Never blocks.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"

#include <optional>
#include <string>

namespace ibpod::http {

// The largest request line with headers, in bytes. A body is not read.
constexpr size_t kLargestRequest = 8192;
// A client has this long to send its request, and again to take the answer.
constexpr Duration kClientTimeout{5'000};

class Connection {
 public:
  explicit Connection(Fd fd) : fd_(std::move(fd)), deadline_(Deadline::in(kClientTimeout)) {}

  int descriptor() const { return fd_.get(); }
  // The events for poll(), and the deadline. 0 while the answer is being made.
  short wants() const;
  const Deadline& deadline() const { return deadline_; }
  bool waits_for_client() const { return stage_ != Stage::answering; }
  // True until the request has arrived.
  bool reads_request() const { return stage_ == Stage::reading; }
  // Bytes of the answer that the client has not read.
  size_t untaken() const { return stage_ == Stage::writing ? bytes_.size() - written_ : 0; }

  // Reads or writes after poll(). Returns the request once it is complete.
  std::optional<std::string> proceed();
  void answer(std::string text);
  // True when the exchange has ended, also by failure.
  bool over() const { return stage_ == Stage::over; }

 private:
  enum class Stage { reading, answering, writing, over };
  std::optional<std::string> read();
  void write();
  Fd fd_;
  Stage stage_ = Stage::reading;
  Deadline deadline_;
  std::string bytes_;  // of the request, then of the answer
  size_t written_ = 0;
};

}  // namespace ibpod::http
