// Connection: one client, who sends one request, gets one answer and is let go. Never blocks.
#pragma once

#include "lib/base/clock.h"
#include "lib/base/fd.h"

#include <optional>
#include <string>

namespace ibpod::http {

// The largest request: its line and its headers. A body is not read.
constexpr size_t kLargestRequest = 8192;
// A client has this long to send its request, and again to take the answer.
constexpr Duration kClientTimeout{5'000};

class Connection {
 public:
  explicit Connection(Fd fd) : fd_(std::move(fd)), deadline_(Deadline::in(kClientTimeout)) {}

  int descriptor() const { return fd_.get(); }
  // What poll() is to wait for, and until when. Nothing while the answer is being made.
  short wants() const;
  const Deadline& deadline() const { return deadline_; }
  bool waits_for_client() const { return stage_ != Stage::answering; }
  // Its request is not there yet.
  bool reads_request() const { return stage_ == Stage::reading; }
  // Bytes of its answer that it has not taken.
  size_t untaken() const { return stage_ == Stage::writing ? bytes_.size() - written_ : 0; }

  // After poll() has told of something: reads or writes what goes. The request, once it is there.
  std::optional<std::string> proceed();
  void answer(std::string text);
  // The exchange has ended, well or not.
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
