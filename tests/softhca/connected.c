// SPDX-License-Identifier: GPL-2.0
/*
 * Connected QPs, RC and UC: a work request is carried out whole, straight
 * between the memory regions of its two ends.  There are no packets but for
 * the count, and for faults.c to lose.  Runs under fabric.mutex.
 */
#include "softhca.h"

#define PACKET_WORDS	6	/* LRH, BTH and ICRC */

/**
 * struct exchange - one work request on its way
 * @qp: the responder, r_lock is held
 * @wqe: what the requester posted
 * @local: the requester's memory
 * @remote: the responder's memory, for RDMA
 * @wc: flags of the responder's completion, if it gets one
 * @status: what becomes of the request: enum ib_wc_status or SOFTHCA_RNR
 */
struct exchange {
	struct rvt_qp *qp;
	struct rvt_swqe *wqe;
	struct rvt_sge_state local;
	struct rvt_sge_state remote;
	struct ib_wc wc;
	int status;
};

/* A UC requester never learns what happened at the other end. */
static void set_status(struct exchange *x, int status)
{
	x->status = x->qp->ibqp.qp_type == IB_QPT_UC ? IB_WC_SUCCESS : status;
}

static void refuse(struct exchange *x, enum ib_wc_status responder,
		   enum ib_wc_status requester)
{
	rvt_rc_error(x->qp, responder);
	set_status(x, requester);
}

static bool permitted(struct exchange *x, int access)
{
	if (x->qp->qp_access_flags & access)
		return true;
	refuse(x, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
	return false;
}

static bool map_remote(struct exchange *x, u32 len, u64 addr, u32 rkey,
		       int access)
{
	x->remote.num_sge = len ? 1 : 0;
	if (!len || rvt_rkey_ok(x->qp, &x->remote.sge, len, addr, rkey, access))
		return true;
	refuse(x, IB_WC_LOC_PROT_ERR, IB_WC_REM_ACCESS_ERR);
	return false;
}

static bool take_receive(struct exchange *x, bool wr_id_only)
{
	int ret = rvt_get_rwqe(x->qp, wr_id_only);

	if (ret > 0)
		return true;
	if (ret < 0)
		refuse(x, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_OP_ERR);
	else
		set_status(x, SOFTHCA_RNR);
	return false;
}

static void complete_receive(struct exchange *x, enum ib_wc_opcode opcode)
{
	struct rvt_qp *qp = x->qp;
	struct ib_wc *wc = &x->wc;

	if (!test_and_clear_bit(RVT_R_WRID_VALID, &qp->r_aflags))
		return;
	wc->opcode = opcode;
	wc->wr_id = qp->r_wr_id;
	wc->status = IB_WC_SUCCESS;
	wc->byte_len = x->wqe->length;
	wc->qp = &qp->ibqp;
	wc->src_qp = qp->remote_qpn;
	wc->slid = rdma_ah_get_dlid(&qp->remote_ah_attr);
	wc->sl = rdma_ah_get_sl(&qp->remote_ah_attr);
	wc->port_num = 1;
	rvt_recv_cq(qp, wc, x->wqe->wr.send_flags & IB_SEND_SOLICITED);
}

static void set_immediate(struct exchange *x)
{
	x->wc.wc_flags = IB_WC_WITH_IMM;
	x->wc.ex.imm_data = x->wqe->wr.ex.imm_data;
}

/*
 * References to memory regions: the requester's go when its work request is
 * completed, the responder's are dropped here.
 */
static void copy(struct exchange *x, struct rvt_sge_state *to,
		 struct rvt_sge_state *from)
{
	bool put_to = to != &x->local;
	bool put_from = from == &x->remote;
	u32 left = x->wqe->length;
	u32 len;

	while (left) {
		len = rvt_get_sge_length(&from->sge, left);
		rvt_copy_sge(x->qp, to, from->sge.vaddr, len, put_to, false);
		rvt_update_sge(from, len, put_from);
		left -= len;
	}
	if (put_to)
		rvt_put_ss(to);
}

static void do_send(struct exchange *x)
{
	struct ib_send_wr *wr = &x->wqe->wr;

	if (!take_receive(x, false))
		return;
	if (x->wqe->length > x->qp->r_len) {
		refuse(x, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
		return;
	}
	if (wr->opcode == IB_WR_SEND_WITH_IMM) {
		set_immediate(x);
	} else if (wr->opcode == IB_WR_SEND_WITH_INV &&
		   !rvt_invalidate_rkey(x->qp, wr->ex.invalidate_rkey)) {
		x->wc.wc_flags = IB_WC_WITH_INVALIDATE;
		x->wc.ex.invalidate_rkey = wr->ex.invalidate_rkey;
	}
	copy(x, &x->qp->r_sge, &x->local);
	complete_receive(x, IB_WC_RECV);
}

static void do_write(struct exchange *x, bool immediate)
{
	struct ib_rdma_wr *wr = &x->wqe->rdma_wr;

	if (!permitted(x, IB_ACCESS_REMOTE_WRITE))
		return;
	if (immediate && !take_receive(x, true))
		return;
	if (!map_remote(x, x->wqe->length, wr->remote_addr, wr->rkey,
			IB_ACCESS_REMOTE_WRITE))
		return;
	copy(x, &x->remote, &x->local);
	if (immediate) {
		set_immediate(x);
		complete_receive(x, IB_WC_RECV_RDMA_WITH_IMM);
	}
}

static void do_read(struct exchange *x)
{
	struct ib_rdma_wr *wr = &x->wqe->rdma_wr;

	if (!permitted(x, IB_ACCESS_REMOTE_READ))
		return;
	if (map_remote(x, x->wqe->length, wr->remote_addr, wr->rkey,
		       IB_ACCESS_REMOTE_READ))
		copy(x, &x->local, &x->remote);
}

static void do_atomic(struct exchange *x)
{
	struct ib_atomic_wr *wr = &x->wqe->atomic_wr;
	atomic64_t *target;
	u64 before;

	if (!permitted(x, IB_ACCESS_REMOTE_ATOMIC))
		return;
	if (!IS_ALIGNED(wr->remote_addr, sizeof(u64))) {
		refuse(x, IB_WC_LOC_QP_OP_ERR, IB_WC_REM_INV_REQ_ERR);
		return;
	}
	if (!map_remote(x, sizeof(u64), wr->remote_addr, wr->rkey,
			IB_ACCESS_REMOTE_ATOMIC))
		return;
	target = x->remote.sge.vaddr;
	if (wr->wr.opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		before = atomic64_fetch_add(wr->compare_add, target);
	else
		before = atomic64_cmpxchg(target, wr->compare_add, wr->swap);
	*(u64 *)x->local.sge.vaddr = before;
	rvt_put_mr(x->remote.sge.mr);
}

static int execute(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	struct exchange x = {
		.qp = qp,
		.wqe = wqe,
		.local = {
			.sge = wqe->sg_list[0],
			.sg_list = wqe->sg_list + 1,
			.num_sge = wqe->wr.num_sge,
			.total_len = wqe->length,
		},
		.status = IB_WC_SUCCESS,
	};

	switch (wqe->wr.opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		do_send(&x);
		break;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		do_write(&x, wqe->wr.opcode == IB_WR_RDMA_WRITE_WITH_IMM);
		break;
	case IB_WR_RDMA_READ:
		do_read(&x);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		do_atomic(&x);
		break;
	default:
		x.status = IB_WC_LOC_QP_OP_ERR;
	}
	return x.status;
}

/* Work requests that never leave the adapter. */
static int do_local(struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	int ret;

	/* rdmavt has done the work when the request was posted. */
	if (wqe->wr.send_flags & RVT_SEND_COMPLETION_ONLY)
		return IB_WC_SUCCESS;
	ret = rvt_invalidate_rkey(qp, wqe->wr.ex.invalidate_rkey);
	atomic_dec(&qp->local_ops_pending);
	return ret ? IB_WC_LOC_PROT_ERR : IB_WC_SUCCESS;
}

/* The adapter at the other end of a connection, NULL if it is out of reach. */
static struct softhca *find_peer(struct softhca *hca, u16 dlid)
{
	struct switch_port *out;
	int n;

	if (!hca->swport || hca->state != IB_PORT_ACTIVE)
		return NULL;
	if (hca->lid == dlid)
		return hca;
	if (fabric.port[hca->swport].state != IB_PORT_ACTIVE)
		return NULL;
	n = softhca_switch_lookup(dlid);
	if (n < 1 || n > SWITCH_PORTS)
		return NULL;
	out = &fabric.port[n];
	if (out->state != IB_PORT_ACTIVE || !out->hca ||
	    out->hca->state != IB_PORT_ACTIVE || out->hca->lid != dlid)
		return NULL;
	return out->hca;
}

static bool is_connected(const struct rvt_qp *qp, const struct rvt_qp *peer)
{
	return ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK &&
	       qp->ibqp.qp_type == peer->ibqp.qp_type &&
	       qp->remote_qpn == peer->ibqp.qp_num;
}

/* The headers of what "from" sends to the QP it is connected to. */
static struct softhca_pkt headers(struct softhca *hca, struct rvt_qp *from)
{
	return (struct softhca_pkt) {
		.src = hca,
		.src_qp = from->ibqp.qp_num,
		.dest_qp = from->remote_qpn,
		.slid = hca->lid,
		.dlid = rdma_ah_get_dlid(&from->remote_ah_attr),
		.sl = rdma_ah_get_sl(&from->remote_ah_attr),
		.pkey = hca->pkeys[from->s_pkey_index],
	};
}

static bool switch_permits(struct softhca *from, struct softhca *to,
			   const struct softhca_pkt *pkt)
{
	return from == to ||
	       (softhca_enforce(from->swport, ENFORCE_INBOUND, pkt) &&
		softhca_enforce(to->swport, ENFORCE_OUTBOUND, pkt));
}

/* Whether the P_Keys of the two QPs let the request and its answer through. */
static bool partitions_permit(struct softhca *hca, struct rvt_qp *sqp,
			      struct softhca *peer, struct rvt_qp *qp)
{
	struct softhca_pkt request = headers(hca, sqp);
	struct softhca_pkt answer = headers(peer, qp);

	if (!switch_permits(hca, peer, &request))
		return false;
	if (!pkey_match(request.pkey, answer.pkey)) {
		softhca_bad_pkey(peer, &request);
		return false;
	}
	return qp->ibqp.qp_type == IB_QPT_UC ||
	       switch_permits(peer, hca, &answer);
}

static u32 data_packets(const struct rvt_qp *qp, const struct rvt_swqe *wqe)
{
	return max_t(u32, 1, DIV_ROUND_UP(wqe->length, qp->pmtu));
}

/*
 * Packets of a request that get through: those of the message, and for RC one
 * the other way.  The timer has to run out for one that does not, and those
 * before it are not sent again.
 */
static bool carry(struct softhca *hca, struct rvt_qp *sqp,
		  struct softhca *peer, struct rvt_swqe *wqe)
{
	struct softhca_qp *own = sqp->priv;
	bool reliable = sqp->ibqp.qp_type == IB_QPT_RC;
	u32 packets = data_packets(sqp, wqe) + reliable;

	for (; hca != peer && own->carried < packets; own->carried++) {
		if (softhca_lost(hca, sqp->remote_qpn) ||
		    softhca_lost(peer, sqp->remote_qpn)) {
			softhca_drop(DROP_FAULT);
			return false;
		}
		sqp->s_retry = sqp->s_retry_cnt;
	}
	return true;
}

static void count_one_way(struct softhca *from, struct softhca *to,
			  u64 packets, u64 bytes)
{
	u64 words = DIV_ROUND_UP_ULL(bytes, 4) + packets * PACKET_WORDS;

	softhca_count(from->counters, fabric.port[from->swport].counters,
		      packets, words, false);
	softhca_count(fabric.port[to->swport].counters, to->counters,
		      packets, words, false);
}

static void count_request(struct softhca *hca, struct rvt_qp *sqp,
			  struct softhca *peer, struct rvt_swqe *wqe)
{
	bool read = wqe->wr.opcode == IB_WR_RDMA_READ;
	u32 packets = data_packets(sqp, wqe);

	if (hca == peer)
		return;
	count_one_way(read ? peer : hca, read ? hca : peer, packets,
		      wqe->length);
	if (sqp->ibqp.qp_type == IB_QPT_RC)
		count_one_way(read ? hca : peer, read ? peer : hca, 1, 0);
}

/* Returns what becomes of a request that reached the other adapter. */
static int send_to_qp(struct softhca *hca, struct rvt_qp *sqp,
		      struct softhca *peer, struct rvt_qp *qp,
		      struct rvt_swqe *wqe, u8 *rnr_timer)
{
	unsigned long flags;
	int status = SOFTHCA_LOST;

	spin_lock_irqsave(&qp->r_lock, flags);
	if (!is_connected(qp, sqp)) {
		softhca_drop(DROP_QP);
	} else if (partitions_permit(hca, sqp, peer, qp) &&
		   carry(hca, sqp, peer, wqe)) {
		count_request(hca, sqp, peer, wqe);
		status = execute(qp, wqe);
		*rnr_timer = qp->r_min_rnr_timer;
	}
	spin_unlock_irqrestore(&qp->r_lock, flags);
	return status;
}

static int send_to_peer(struct softhca *hca, struct rvt_qp *sqp,
			struct softhca *peer, struct rvt_swqe *wqe,
			u8 *rnr_timer)
{
	int status = SOFTHCA_LOST;
	struct rvt_qp *qp;

	rcu_read_lock();
	qp = rvt_lookup_qpn(&peer->rdi, &peer->port, sqp->remote_qpn);
	if (qp && qp->ibqp.qp_num > 1)
		status = send_to_qp(hca, sqp, peer, qp, wqe, rnr_timer);
	else
		softhca_drop(DROP_QP);
	rcu_read_unlock();
	return status;
}

/* How long a request and its answer take; a request waits for that once. */
static u32 delay_of(struct softhca *hca, struct rvt_qp *sqp,
		    struct softhca *peer)
{
	struct softhca_qp *own = sqp->priv;
	u32 ms = READ_ONCE(hca->faults.delay_ms);

	if (own->delayed || hca == peer)
		return 0;
	if (sqp->ibqp.qp_type == IB_QPT_RC)
		ms += READ_ONCE(peer->faults.delay_ms);
	own->delayed = ms;
	return ms;
}

/* Returns the enum ib_wc_status of the work request, or SOFTHCA_*. */
int softhca_connected_send(struct softhca *hca, struct rvt_qp *sqp,
			   struct rvt_swqe *wqe, u8 *rnr_timer, u32 *delay_ms)
{
	struct softhca *peer;
	int status = SOFTHCA_LOST;

	if (wqe->wr.opcode == IB_WR_REG_MR || wqe->wr.opcode == IB_WR_LOCAL_INV)
		return do_local(sqp, wqe);

	peer = find_peer(hca, rdma_ah_get_dlid(&sqp->remote_ah_attr));
	if (peer) {
		*delay_ms = delay_of(hca, sqp, peer);
		if (*delay_ms)
			return SOFTHCA_DELAYED;
		status = send_to_peer(hca, sqp, peer, wqe, rnr_timer);
	} else {
		softhca_drop(DROP_ROUTE);
	}
	if (status == SOFTHCA_LOST && sqp->ibqp.qp_type == IB_QPT_UC)
		return IB_WC_SUCCESS;
	return status;
}
