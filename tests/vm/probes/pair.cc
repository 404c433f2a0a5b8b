#include "tests/vm/probes/pair.h"

#include <cerrno>
#include <cstring>

namespace ibpod::probes {
namespace {

constexpr uint32_t kQKey = 0x1b0d;

}  // namespace

Result<std::unique_ptr<Pair>> Pair::make(const Port& port, Kind kind, Index index) {
  std::unique_ptr<Pair> made(new Pair(kind, index));
  made->memory_.reset(
      ibv_reg_mr(port.domain(), made->room_.data(), made->room_.size(), IBV_ACCESS_LOCAL_WRITE));
  if (!made->memory_) return Error::from_errno(errno, "register memory");
  ibv_qp_init_attr wanted = {};
  wanted.send_cq = wanted.recv_cq = port.queue();
  wanted.qp_type = kind == Kind::datagrams ? IBV_QPT_UD : IBV_QPT_RC;
  wanted.cap.max_send_wr = kSends;
  wanted.cap.max_recv_wr = kReceives;
  wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
  made->pair_.reset(ibv_create_qp(port.domain(), &wanted));
  if (!made->pair_) return Error::from_errno(errno, "make a queue pair");
  TRY(made->begin());
  return made;
}

Status Pair::modify(ibv_qp_attr attributes, int mask, const char* what) {
  const int error = ibv_modify_qp(pair_.get(), &attributes, mask | IBV_QP_STATE);
  if (error == 0) return ok();
  return Error::from_errno(error, what);
}

Status Pair::begin() {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = static_cast<uint16_t>(index_);
  attributes.port_num = kPort;
  attributes.qkey = kQKey;
  const int last = kind_ == Kind::datagrams ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
  TRY(modify(attributes, IBV_QP_PKEY_INDEX | IBV_QP_PORT | last, "begin a queue pair"));
  failed_ = false;
  free_.clear();
  for (size_t slot = 0; slot < kSends; ++slot) free_.push_back(slot);
  for (size_t slot = kSends; slot < kSends + kReceives; ++slot) receive(slot);
  return ok();
}

Status Pair::give_up() {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_ERR;
  return modify(attributes, 0, "give a queue pair up");
}

Status Pair::start_over() {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RESET;
  TRY(modify(attributes, 0, "reset a queue pair"));
  return begin();
}

Status Pair::activate() {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  TRY(modify(attributes, 0, "have a queue pair receive"));
  attributes.qp_state = IBV_QPS_RTS;
  return modify(attributes, IBV_QP_SQ_PSN, "have a queue pair send");
}

Status Pair::connect(QpNumber peer, uint16_t lid) {
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = IBV_MTU_256;
  attributes.dest_qp_num = peer;
  attributes.min_rnr_timer = 12;  // 0.64 ms
  attributes.ah_attr.dlid = lid;
  attributes.ah_attr.port_num = kPort;
  TRY(modify(attributes,
             IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
             "connect a queue pair"));
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = 14;  // 67 ms
  attributes.retry_cnt = 2;
  attributes.rnr_retry = 6;
  return modify(attributes,
                IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                    IBV_QP_MAX_QP_RD_ATOMIC,
                "have a connection send");
}

ibv_sge Pair::piece(size_t slot, size_t bytes) {
  return {reinterpret_cast<uintptr_t>(room_.data() + slot * kBytes), static_cast<uint32_t>(bytes),
          memory_->lkey};
}

void Pair::receive(size_t slot) {
  ibv_sge place = piece(slot, kBytes);
  ibv_recv_wr request = {};
  request.wr_id = slot;
  request.sg_list = &place;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (ibv_post_recv(pair_.get(), &request, &bad) == 0) ++receiving_;
}

bool Pair::send(const std::string& bytes, ibv_ah* way, QpNumber to) {
  if (failed_ || free_.empty()) return false;
  const size_t slot = free_.back();
  std::memcpy(room_.data() + slot * kBytes, bytes.data(), bytes.size());
  ibv_sge place = piece(slot, bytes.size());
  ibv_send_wr request = {};
  request.wr_id = slot;
  request.sg_list = &place;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  if (way != nullptr) {
    request.wr.ud.ah = way;
    request.wr.ud.remote_qpn = to;
    request.wr.ud.remote_qkey = kQKey;
  }
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(pair_.get(), &request, &bad) != 0) return false;
  free_.pop_back();
  return true;
}

std::optional<std::string> Pair::take(const ibv_wc& completion) {
  const size_t slot = completion.wr_id;
  const bool succeeded = completion.status == IBV_WC_SUCCESS;
  failed_ = failed_ || !succeeded;
  if (slot < kSends) {
    free_.push_back(slot);
    return {};
  }
  --receiving_;
  if (!succeeded) return {};
  const size_t header = kind_ == Kind::datagrams ? kRouteHeader : 0;
  const char* const begin = room_.data() + slot * kBytes;
  std::string bytes(begin + header, begin + completion.byte_len);
  receive(slot);
  return bytes;
}

}  // namespace ibpod::probes
