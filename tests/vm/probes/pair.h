// One queue pair of a prober, with the memory for its messages.
#pragma once

#include "tests/vm/probes/port.h"

namespace ibpod::probes {

class Pair {
 public:
  enum class Kind { datagrams, connection };
  // With the P_Key at that index of the port's table. `port` outlives it.
  static Result<std::unique_ptr<Pair>> make(const Port& port, Kind kind, Index index);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  QpNumber number() const { return pair_->qp_num; }

  // Datagrams come and go from here on.
  Status activate();
  // Messages come from, and go to, that queue pair from here on.
  Status connect(QpNumber peer, uint16_t lid);

  // False: there was no room, and nothing was sent.
  bool send(const std::string& bytes, ibv_ah* way = nullptr, QpNumber to = 0);

  // Takes a completion of this queue pair; the message, where it is one that has come.
  std::optional<std::string> take(const ibv_wc& completion);
  // A message could not be delivered; nothing more is sent.
  bool failed() const { return failed_; }
  // As after that: what is on its way comes back.
  Status give_up();
  // It has failed, and all that was on its way has come back, so that it can start over.
  bool quiet() const { return failed_ && free_.size() == kSends && receiving_ == 0; }
  // As new, to be connected again.
  Status start_over();

 private:
  static constexpr size_t kSends = 16, kReceives = 32;
  static constexpr size_t kRouteHeader = 40;  // in front of every datagram
  static constexpr size_t kBytes = kRouteHeader + kProbeBytes;

  Pair(Kind kind, Index index) : kind_(kind), index_(index), room_((kSends + kReceives) * kBytes) {}
  Status begin();
  void receive(size_t slot);
  ibv_sge piece(size_t slot, size_t bytes);
  Status modify(ibv_qp_attr attributes, int mask, const char* what);

  const Kind kind_;
  const Index index_;
  std::vector<char> room_;    // the sends' slots, then the receives'
  std::vector<size_t> free_;  // slots to send from
  size_t receiving_ = 0;
  bool failed_ = false;
  std::unique_ptr<ibv_mr, Closes<ibv_dereg_mr>> memory_;
  std::unique_ptr<ibv_qp, Closes<ibv_destroy_qp>> pair_;
};

}  // namespace ibpod::probes
