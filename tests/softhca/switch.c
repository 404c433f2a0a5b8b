// SPDX-License-Identifier: GPL-2.0
/*
 * The switch: forwards by directed route, by the linear forwarding table and
 * by the multicast forwarding table.  Everything here runs under fabric.mutex.
 */
#include "softhca.h"

struct softhca_fabric fabric = {
	.mutex = __MUTEX_INITIALIZER(fabric.mutex),
	.lock = __SPIN_LOCK_UNLOCKED(fabric.lock),
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
	    (pkt->dest_qp && port->state != IB_PORT_ACTIVE))
		softhca_drop(DROP_LINK);
	else
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
	if (smp->dr_dlid == IB_LID_PERMISSIVE && softhca_switch_sma(in, smp))
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

static void switch_unicast(int in, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);
	int n = softhca_switch_lookup(pkt->dlid);

	if (n) {
		switch_out(n, pkt);
	} else if (!pkt->dest_qp && smp && softhca_switch_sma(in, smp)) {
		pkt->dlid = pkt->slid;
		pkt->slid = fabric.lid;
		switch_out(softhca_switch_lookup(pkt->dlid), pkt);
	}
}

/* A packet came in by port "in". */
void softhca_switch_rx(int in, struct softhca_pkt *pkt)
{
	struct ib_smp *smp = pkt_smp(pkt);

	if (pkt->dest_qp && fabric.port[in].state != IB_PORT_ACTIVE) {
		softhca_drop(DROP_LINK);
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

static void fill_trap(struct softhca_pkt *pkt)
{
	struct ib_smp *smp = (struct ib_smp *)pkt->data;
	struct ib_mad_notice_attr *notice = (void *)smp->data;

	pkt->len = IB_MGMT_MAD_SIZE;
	pkt->slid = fabric.lid;
	pkt->dlid = fabric.sm_lid;
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->tid = cpu_to_be64(++fabric.trap_tid);
	smp->attr_id = IB_SMP_ATTR_NOTICE;
	notice->generic_type = IB_NOTICE_TYPE_URGENT;
	notice->prod_type_lsb = IB_NOTICE_PROD_SWITCH;
	notice->trap_num = cpu_to_be16(128);
	notice->issuer_lid = cpu_to_be16(fabric.lid);
	/* DataDetails of trap 128 is the LID of the switch. */
	notice->details.raw_data.details[0] = fabric.lid >> 8;
	notice->details.raw_data.details[1] = fabric.lid & 0xff;
}

/* Trap 128 to the master subnet manager: the state of some port changed. */
static void send_trap(struct work_struct *work)
{
	struct softhca_pkt *pkt;

	pkt = kzalloc(sizeof(*pkt) + IB_MGMT_MAD_SIZE, GFP_KERNEL);
	if (!pkt)
		return;
	mutex_lock(&fabric.mutex);
	if (fabric.lid && fabric.sm_lid) {
		fill_trap(pkt);
		switch_out(softhca_switch_lookup(pkt->dlid), pkt);
	}
	mutex_unlock(&fabric.mutex);
	kfree(pkt);
}

void softhca_switch_init(void)
{
	int n;

	INIT_DELAYED_WORK(&fabric.trap, send_trap);
	memset(fabric.lft, 0xff, sizeof(fabric.lft));
	fabric.gid_prefix = DEFAULT_GID_PREFIX;
	fabric.pkeys[0] = cpu_to_be16(0xffff);
	fabric.info.lft_cap = cpu_to_be16(SWITCH_LFT_SIZE - 1);
	fabric.info.mft_cap = cpu_to_be16(SWITCH_MLIDS);
	for (n = 0; n <= SWITCH_PORTS; n++) {
		fabric.port[n].state = IB_PORT_DOWN;
		fabric.port[n].phys = IB_PORT_PHYS_STATE_POLLING;
		fabric.port[n].mtu = IB_MTU_4096;
	}
}
