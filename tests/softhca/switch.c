// SPDX-License-Identifier: GPL-2.0
/*
 * The switch: forwards by directed route, by the linear forwarding table and
 * by the multicast forwarding table.  Everything here runs under fabric.mutex.
 */
#include "softhca.h"

/* SwitchInfo.flags */
#define INBOUND_ENFORCEMENT_CAP		0x80
#define OUTBOUND_ENFORCEMENT_CAP	0x40

struct softhca_fabric fabric = {
	.mutex = __MUTEX_INITIALIZER(fabric.mutex),
	.lock = __SPIN_LOCK_UNLOCKED(fabric.lock),
	.trap_lock = __SPIN_LOCK_UNLOCKED(fabric.trap_lock),
};

/* Hand a packet to the adapter at an external port. */
static void switch_out(int n, struct softhca_pkt *pkt)
{
	struct switch_port *port;

	if (n < 1 || n > SWITCH_PORTS) {
		softhca_drop(DROP_ROUTE);
		return;
	}
	port = &fabric.port[n];
	if (!port->hca || port->phys != IB_PORT_PHYS_STATE_LINK_UP ||
	    (pkt->dest_qp && port->state != IB_PORT_ACTIVE)) {
		port->counters[COUNT_XMIT_DISCARDS]++;
		softhca_drop(DROP_LINK);
		return;
	}
	if (!softhca_enforce(n, ENFORCE_OUTBOUND, pkt))
		return;
	if (softhca_lost(port->hca, pkt->dest_qp)) {
		softhca_drop(DROP_FAULT);
		return;
	}
	softhca_count(port->counters, port->hca->counters, 1,
		      softhca_pkt_words(pkt), is_multicast_lid(pkt->dlid));
	softhca_rx(port->hca, pkt);
}

/*
 * A directed-route SMP on its way out: one hop further.  True: it ended here
 * and is an answer now.
 */
static bool direct_outgoing(int in, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);

	if (!smp->hop_ptr || smp->hop_ptr > smp->hop_cnt) {
		softhca_drop(DROP_SMP);
		return false;
	}
	smp->return_path[smp->hop_ptr] = in;
	smp->hop_ptr++;
	if (smp->hop_ptr <= smp->hop_cnt) {
		switch_out(smp->initial_path[smp->hop_ptr], pkt);
		return false;
	}
	if (smp->dr_dlid == IB_LID_PERMISSIVE && softhca_switch_sma(in, smp, pkt->slid))
		return true;
	softhca_drop(DROP_SMP);
	return false;
}

/* IBA volume 1, 14.2.2: C14-9 on the way out, C14-13 on the way back. */
static void switch_direct(int in, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);

	if (smp->hop_cnt >= IB_SMP_MAX_PATH_HOPS) {
		softhca_drop(DROP_SMP);
		return;
	}
	if (!ib_get_smp_direction(smp) && !direct_outgoing(in, pkt))
		return;
	/* An answer that ends here is for a subnet manager, and none is. */
	if (smp->hop_ptr < 2 || smp->hop_ptr > smp->hop_cnt + 1) {
		softhca_drop(DROP_SMP);
		return;
	}
	smp->hop_ptr--;
	switch_out(smp->return_path[smp->hop_ptr], pkt);
}

/* The port for a unicast LID; 0: the switch itself; 0xff: none. */
int softhca_switch_lookup(u16 lid)
{
	if (!lid)
		return 0xff;
	if (lid == fabric.lid)
		return 0;
	if (lid >= SWITCH_LFT_SIZE || lid > be16_to_cpu(fabric.info.lft_top))
		return 0xff;
	return fabric.lft[lid];
}

static bool is_member(u16 mlid, int n)
{
	u16 ports;

	if (mlid - MULTICAST_LID_BASE >= SWITCH_MLIDS)
		return false;
	ports = be16_to_cpu(fabric.mft[n / MFT_PORTS][mlid - MULTICAST_LID_BASE]);
	return ports & BIT(n % MFT_PORTS);
}

static void switch_multicast(int in, struct softhca_pkt *pkt)
{
	int n;

	for (n = 1; n <= SWITCH_PORTS; n++)
		if (n != in && is_member(pkt->dlid, n))
			switch_out(n, pkt);
}

/* QP1 of port 0. */
static bool switch_gmp(struct softhca_pkt *pkt)
{
	int index = softhca_find_pkey(fabric.pkeys, PKEYS_PER_BLOCK, pkt->pkey);

	if (pkt->dest_qp != 1)
		return false;
	if (index < 0) {
		count_violation(&fabric.pkey_violations);
		softhca_drop(DROP_PKEY);
		return false;
	}
	if (pkt->qkey != IB_QP1_QKEY) {
		count_violation(&fabric.qkey_violations);
		softhca_drop(DROP_QKEY);
		return false;
	}
	pkt->pkey = fabric.pkeys[index];
	return softhca_pma(NULL, (struct ib_pma_mad *)pkt->data);
}

/* A packet for port 0.  True: it is an answer now. */
static bool switch_management(int in, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);

	if (!smp)
		return false;
	return pkt->dest_qp ? switch_gmp(pkt) :
			      softhca_switch_sma(in, smp, pkt->slid);
}

static void switch_unicast(int in, struct softhca_pkt *pkt)
{
	int n = softhca_switch_lookup(pkt->dlid);

	if (n) {
		if (n > SWITCH_PORTS)
			fabric.port[in].counters[COUNT_RELAY_ERRORS]++;
		switch_out(n, pkt);
	} else if (switch_management(in, pkt)) {
		swap(pkt->slid, pkt->dlid);
		swap(pkt->src_qp, pkt->dest_qp);
		if (pkt->has_grh)
			swap(pkt->grh.sgid, pkt->grh.dgid);
		softhca_switch_tx(pkt);
	}
}

/* A packet came in by port "in". */
void softhca_switch_rx(int in, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);

	if (fabric.port[in].phys != IB_PORT_PHYS_STATE_LINK_UP ||
	    (pkt->dest_qp && fabric.port[in].state != IB_PORT_ACTIVE)) {
		softhca_drop(DROP_LINK);
	} else if (!softhca_enforce(in, ENFORCE_INBOUND, pkt)) {
		return;
	} else if (!pkt->dest_qp && pkt->dlid == PERMISSIVE_LID) {
		if (smp && smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
			switch_direct(in, pkt);
		else
			softhca_drop(DROP_SMP);
	} else if (is_multicast_lid(pkt->dlid)) {
		switch_multicast(in, pkt);
	} else {
		switch_unicast(in, pkt);
	}
}

/* What the switch itself sends by LID. */
void softhca_switch_tx(struct softhca_pkt *pkt)
{
	switch_out(softhca_switch_lookup(pkt->dlid), pkt);
}

void softhca_switch_init(void)
{
	int n;

	softhca_agent_init(&fabric.agent, NULL);
	memset(fabric.lft, 0xff, sizeof(fabric.lft));
	fabric.gid_prefix = DEFAULT_GID_PREFIX;
	fabric.pkeys[0] = 0xffff;
	fabric.info.lft_cap = cpu_to_be16(SWITCH_LFT_SIZE - 1);
	fabric.info.mft_cap = cpu_to_be16(SWITCH_MLIDS);
	fabric.info.enforcement_cap = cpu_to_be16(SWITCH_PKEYS);
	fabric.info.flags = INBOUND_ENFORCEMENT_CAP | OUTBOUND_ENFORCEMENT_CAP;
	for (n = 0; n <= SWITCH_PORTS; n++) {
		fabric.port[n].state = IB_PORT_DOWN;
		fabric.port[n].phys = IB_PORT_PHYS_STATE_POLLING;
		fabric.port[n].mtu = IB_MTU_4096;
	}
}
