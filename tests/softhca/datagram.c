// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams: what UD QPs, QP0 and QP1 send and receive.
 * Runs under fabric.mutex.
 */
#include <linux/slab.h>
#include "softhca.h"

#define UD_GRH_TAIL	24	/* BTH, DETH and ICRC count in the GRH's length */
#define MULTICAST_QPN	0xffffff

/* --- Receive --- */

/* QP1 takes every partition of the port, other QPs their own, QP0 none. */
static bool check_keys(struct softhca *hca, struct rvt_qp *qp,
		       struct softhca_pkt *pkt, int *pkey_index)
{
	u32 qpn = qp->ibqp.qp_num;
	bool ok;

	*pkey_index = 0;
	if (qpn == 0)
		return true;
	if (qpn == 1) {
		*pkey_index = softhca_find_pkey(hca->pkeys, SOFTHCA_PKEYS,
						pkt->pkey);
		ok = *pkey_index >= 0;
	} else {
		ok = pkey_match(pkt->pkey, hca->pkeys[qp->s_pkey_index]);
	}
	if (!ok) {
		softhca_bad_pkey(hca, pkt);
		return false;
	}
	if (pkt->qkey != qp->qkey) {
		softhca_bad_qkey(hca, pkt);
		return false;
	}
	return true;
}

/* Make qp->r_sge a buffer for "len" bytes.  The caller holds qp->r_lock. */
static bool get_buffer(struct rvt_qp *qp, u32 len)
{
	int ret;

	if (qp->r_flags & RVT_R_REUSE_SGE) {
		qp->r_flags &= ~RVT_R_REUSE_SGE;
	} else {
		ret = rvt_get_rwqe(qp, false);
		if (ret < 0)
			rvt_rc_error(qp, IB_WC_LOC_QP_OP_ERR);
		if (ret <= 0)
			return false;
	}
	if (len > qp->r_len) {
		/* Not for this packet, but for the next that fits. */
		qp->r_flags |= RVT_R_REUSE_SGE;
		return false;
	}
	return true;
}

static void copy_in(struct rvt_qp *qp, struct softhca_pkt *pkt)
{
	/* The GRH has its place in the buffer also when there is none. */
	if (pkt->has_grh)
		rvt_copy_sge(qp, &qp->r_sge, &pkt->grh, sizeof(pkt->grh), true,
			     false);
	else
		rvt_skip_sge(&qp->r_sge, sizeof(pkt->grh), true);
	rvt_copy_sge(qp, &qp->r_sge, pkt->data, pkt->len, true, false);
	rvt_put_ss(&qp->r_sge);
}

static void complete_receive(struct rvt_qp *qp, struct softhca_pkt *pkt,
			     int pkey_index)
{
	struct ib_wc wc = {
		.wr_id = qp->r_wr_id,
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = pkt->len + sizeof(struct ib_grh),
		.qp = &qp->ibqp,
		.src_qp = pkt->src_qp,
		.pkey_index = pkey_index,
		.slid = pkt->slid,
		.sl = pkt->sl,
		.port_num = 1,
	};

	if (pkt->has_grh)
		wc.wc_flags |= IB_WC_GRH;
	if (pkt->has_imm) {
		wc.wc_flags |= IB_WC_WITH_IMM;
		wc.ex.imm_data = pkt->imm;
	}
	rvt_recv_cq(qp, &wc, pkt->solicited);
}

/* Put one datagram into the receive queue of a QP.  Under RCU. */
static void deliver(struct softhca *hca, struct rvt_qp *qp,
		    struct softhca_pkt *pkt)
{
	unsigned long flags;
	int pkey_index;

	if (qp->allowed_ops != IB_OPCODE_UD ||
	    !(ib_rvt_state_ops[qp->state] & RVT_PROCESS_RECV_OK)) {
		softhca_drop(DROP_QP);
		return;
	}
	if (!check_keys(hca, qp, pkt, &pkey_index))
		return;
	if (qp->ibqp.qp_num <= 1 && !pkt_smp(pkt)) {
		softhca_drop(DROP_SMP);
		return;
	}
	spin_lock_irqsave(&qp->r_lock, flags);
	if (get_buffer(qp, pkt->len + sizeof(struct ib_grh))) {
		copy_in(qp, pkt);
		if (test_and_clear_bit(RVT_R_WRID_VALID, &qp->r_aflags))
			complete_receive(qp, pkt, pkey_index);
	} else {
		softhca_drop(DROP_BUFFER);
	}
	spin_unlock_irqrestore(&qp->r_lock, flags);
}

static void deliver_multicast(struct softhca *hca, struct softhca_pkt *pkt)
{
	struct rvt_mcast_qp *member;
	struct rvt_mcast *group;

	group = rvt_mcast_find(&hca->port, &pkt->grh.dgid, pkt->dlid);
	if (!group)
		return;
	list_for_each_entry_rcu(member, &group->qp_list, list)
		if (hca != pkt->src || member->qp->ibqp.qp_num != pkt->src_qp)
			deliver(hca, member->qp, pkt);
	/* rvt_mcast_find() took a reference, for which a detach waits. */
	if (atomic_dec_return(&group->refcount) <= 1)
		wake_up(&group->wait);
}

static void deliver_unicast(struct softhca *hca, struct softhca_pkt *pkt)
{
	struct rvt_qp *qp;

	qp = rvt_lookup_qpn(&hca->rdi, &hca->port, pkt->dest_qp);
	if (qp)
		deliver(hca, qp, pkt);
	else
		softhca_drop(DROP_QP);
}

static bool direct_route_ends_here(struct ib_smp *smp)
{
	return !ib_get_smp_direction(smp) && smp->hop_cnt &&
	       smp->hop_cnt < IB_SMP_MAX_PATH_HOPS &&
	       smp->hop_ptr == smp->hop_cnt &&
	       smp->dr_dlid == IB_LID_PERMISSIVE;
}

/*
 * Let the SMA have what is for it.  False: it is for QP0, being an answer, a
 * trap, or a request to a subnet manager.
 */
static bool receive_smp(struct softhca *hca, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);
	bool direct;

	if (!smp)
		return false;
	direct = smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	if (direct) {
		if (!direct_route_ends_here(smp))
			return false;
		smp->return_path[smp->hop_ptr] = 1;
	}
	switch (softhca_sma(hca, smp, pkt->slid, false)) {
	case SMA_NOT_MINE:
		return false;
	case SMA_DISCARD:
		return true;
	case SMA_REPLY:
		break;
	}
	/*
	 * The hop pointer stays: a step up for having arrived, a step down
	 * for the first hop back.
	 */
	if (!direct)
		swap(pkt->slid, pkt->dlid);
	pkt->src = hca;
	pkt->src_qp = 0;
	softhca_tx(hca, pkt);
	return true;
}

void softhca_rx(struct softhca *hca, struct softhca_pkt *pkt)
{
	bool multicast = is_multicast_lid(pkt->dlid);

	if (pkt->dest_qp && hca->state != IB_PORT_ACTIVE) {
		softhca_drop(DROP_LINK);
		return;
	}
	if (!multicast && pkt->dlid != PERMISSIVE_LID &&
	    pkt->dlid != hca->lid) {
		softhca_drop(DROP_ROUTE);
		return;
	}
	if (!pkt->dest_qp && receive_smp(hca, pkt))
		return;
	rcu_read_lock();
	if (multicast)
		deliver_multicast(hca, pkt);
	else
		deliver_unicast(hca, pkt);
	rcu_read_unlock();
}

/* --- Send --- */

static void to_switch(struct softhca *hca, struct softhca_pkt *pkt)
{
	if (softhca_lost(hca, pkt->dest_qp)) {
		softhca_drop(DROP_FAULT);
		return;
	}
	softhca_count(hca->counters, fabric.port[hca->swport].counters, 1,
		      softhca_pkt_words(pkt), is_multicast_lid(pkt->dlid));
	if (!softhca_delay(hca, pkt))
		softhca_switch_rx(hca->swport, pkt);
}

void softhca_tx(struct softhca *hca, struct softhca_pkt *pkt)
{
	if (!hca->swport || hca->phys != IB_PORT_PHYS_STATE_LINK_UP ||
	    (pkt->dest_qp && hca->state != IB_PORT_ACTIVE)) {
		softhca_drop(DROP_LINK);
		return;
	}
	if (pkt->dest_qp && !(pkt->pkey & 0x7fff)) {
		softhca_drop(DROP_PKEY);
		return;
	}
	if (hca->lid && pkt->dlid == hca->lid) {
		softhca_rx(hca, pkt);	/* never leaves the adapter */
		return;
	}
	if (is_multicast_lid(pkt->dlid))
		softhca_rx(hca, pkt);	/* other members on this port */
	to_switch(hca, pkt);
}

static void fill_grh(struct softhca *hca, struct softhca_pkt *pkt,
		     const struct ib_global_route *route)
{
	struct ib_grh *grh = &pkt->grh;

	pkt->has_grh = true;
	grh->version_tclass_flow =
		cpu_to_be32(IB_GRH_VERSION << IB_GRH_VERSION_SHIFT |
			    route->traffic_class << IB_GRH_TCLASS_SHIFT |
			    route->flow_label);
	grh->paylen = cpu_to_be16(pkt->len + UD_GRH_TAIL);
	grh->next_hdr = IB_GRH_NEXT_HDR;
	grh->hop_limit = route->hop_limit;
	grh->sgid.global.subnet_prefix = hca->port.gid_prefix;
	grh->sgid.global.interface_id = hca->port_guid;
	grh->dgid = route->dgid;
}

static void fill_address(struct softhca *hca, struct softhca_pkt *pkt,
			 struct rvt_swqe *wqe)
{
	struct rdma_ah_attr *ah = rvt_get_swqe_ah_attr(wqe);

	pkt->src = hca;
	pkt->sl = rdma_ah_get_sl(ah);
	pkt->dlid = rdma_ah_get_dlid(ah);
	/*
	 * A pure directed route has permissive LIDs at both ends.  ib_mad
	 * sends the answer to the source LID that it sees, so with the LID of
	 * the port there the answer would not come by directed route.
	 */
	pkt->slid = hca->lid;
	if (pkt->dlid == PERMISSIVE_LID || !hca->lid)
		pkt->slid = PERMISSIVE_LID;
	if (rdma_ah_get_ah_flags(ah) & IB_AH_GRH)
		fill_grh(hca, pkt, rdma_ah_read_grh(ah));
}

static u16 send_pkey(struct softhca *hca, struct rvt_qp *qp,
		     struct rvt_swqe *wqe)
{
	switch (qp->ibqp.qp_type) {
	case IB_QPT_SMI:
		return 0xffff;
	case IB_QPT_GSI:
		return rvt_get_pkey(&hca->rdi, 0,
				    rvt_get_swqe_pkey_index(wqe));
	default:
		return rvt_get_pkey(&hca->rdi, 0, qp->s_pkey_index);
	}
}

static void fill_transport(struct softhca *hca, struct softhca_pkt *pkt,
			   struct rvt_qp *qp, struct rvt_swqe *wqe)
{
	pkt->src_qp = qp->ibqp.qp_num;
	pkt->dest_qp = rvt_get_swqe_remote_qpn(wqe);
	if (is_multicast_lid(pkt->dlid))
		pkt->dest_qp = MULTICAST_QPN;
	/* A Q_Key with the high bit set stands for that of the QP (10.2.5). */
	pkt->qkey = rvt_get_swqe_remote_qkey(wqe);
	if (pkt->qkey & BIT(31))
		pkt->qkey = qp->qkey;
	pkt->pkey = send_pkey(hca, qp, wqe);
	pkt->solicited = wqe->wr.send_flags & IB_SEND_SOLICITED;
	if (wqe->wr.opcode == IB_WR_SEND_WITH_IMM) {
		pkt->has_imm = true;
		pkt->imm = wqe->wr.ex.imm_data;
	}
}

static void copy_out(struct softhca_pkt *pkt, struct rvt_swqe *wqe)
{
	struct rvt_sge_state ss = {
		.sge = wqe->sg_list[0],
		.sg_list = wqe->sg_list + 1,
		.num_sge = wqe->wr.num_sge,
	};
	u32 done = 0;
	u32 len;

	while (done < pkt->len) {
		len = rvt_get_sge_length(&ss.sge, pkt->len - done);
		memcpy(pkt->data + done, ss.sge.vaddr, len);
		/* The WQE keeps its memory regions until it is completed. */
		rvt_update_sge(&ss, len, false);
		done += len;
	}
}

/* Subnet management packets go from QP0 to QP0, on a lane of their own. */
static bool may_address(const struct rvt_qp *qp, const struct softhca_pkt *pkt)
{
	return (qp->ibqp.qp_type == IB_QPT_SMI) == !pkt->dest_qp;
}

/* Returns the enum ib_wc_status of the work request. */
int softhca_ud_send(struct softhca *hca, struct rvt_qp *qp,
		    struct rvt_swqe *wqe)
{
	struct softhca_pkt *pkt;

	if (wqe->length > ib_mtu_enum_to_int(hca->mtu))
		return IB_WC_LOC_LEN_ERR;
	pkt = kzalloc(sizeof(*pkt) + wqe->length, GFP_KERNEL);
	if (!pkt)
		return IB_WC_SUCCESS;	/* lost on the way, as may happen */
	pkt->len = wqe->length;
	fill_address(hca, pkt, wqe);
	fill_transport(hca, pkt, qp, wqe);
	copy_out(pkt, wqe);
	if (may_address(qp, pkt))
		softhca_tx(hca, pkt);
	else
		softhca_drop(DROP_QP);
	kfree(pkt);
	return IB_WC_SUCCESS;
}
