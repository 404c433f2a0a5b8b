// SPDX-License-Identifier: GPL-2.0
/*
 * An adapter's subnet management agent.
 *
 * On real adapters firmware answers SMPs.  Here too they are answered without
 * ib_mad, see receive_smp(): a device that is on its way from one network
 * namespace to another has no QP0 for a while, and must not look dead to the
 * subnet manager.
 */
#include "softhca.h"

void softhca_smp_reply(struct ib_smp *smp, u16 status)
{
	smp->method = IB_MGMT_METHOD_GET_RESP;
	smp->status = cpu_to_be16(status);
	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		smp->status |= IB_SMP_DIRECTION;
}

/* What PortInfo says alike of every port, at either end of a link. */
void softhca_port_info(struct ib_port_info *pi, u8 state, u8 phys, u8 mtu)
{
	u8 *bytes = (u8 *)pi;

	memset(pi, 0, IB_SMP_DATA_SIZE);
	pi->link_width_enabled = IB_WIDTH_1X | IB_WIDTH_4X;
	pi->link_width_supported = IB_WIDTH_1X | IB_WIDTH_4X;
	pi->link_width_active = IB_WIDTH_4X;
	pi->linkspeed_portstate = 7 << 4 | state;
	pi->portphysstate_linkdown = phys << 4 | IB_PORT_PHYS_STATE_POLLING;
	pi->linkspeedactive_enabled = IB_SPEED_QDR << 4 | 7;
	pi->neighbormtu_mastersmsl = mtu << 4;
	pi->vlcap_inittype = 1 << 4;			/* VL0 only */
	pi->operationalvl_pei_peo_fpi_fpo = 1 << 4;
	pi->inittypereply_mtucap = IB_MTU_4096;
	pi->resv_resptimevalue = 16;
	/*
	 * Behind the end of struct ib_port_info, with no names in it:
	 * LinkSpeedExtActive (EDR) and Supported, LinkSpeedExtEnabled.
	 */
	bytes[62] = 2 << 4 | 3;
	bytes[63] = 3;
}

static u16 node_desc(struct softhca *hca, struct ib_smp *smp, bool set)
{
	if (set)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	memcpy(smp->data, hca->rdi.ibdev.node_desc, sizeof(smp->data));
	return 0;
}

static u16 node_info(struct softhca *hca, struct ib_smp *smp, bool set)
{
	struct ib_node_info *ni = (void *)smp->data;

	if (set)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	memset(smp->data, 0, sizeof(smp->data));
	ni->base_version = IB_MGMT_BASE_VERSION;
	ni->class_version = 1;
	ni->node_type = RDMA_NODE_IB_CA;
	ni->num_ports = 1;
	ni->local_port_num = 1;
	ni->sys_guid = hca->sys_guid;
	ni->node_guid = hca->node_guid;
	ni->port_guid = hca->port_guid;
	ni->partition_cap = cpu_to_be16(SOFTHCA_PKEYS);
	ni->device_id = cpu_to_be16(1);
	ni->vendor_id[1] = SOFTHCA_VENDOR_ID >> 8;
	ni->vendor_id[2] = SOFTHCA_VENDOR_ID & 0xff;
	return 0;
}

static u16 guid_info(struct softhca *hca, struct ib_smp *smp, bool set)
{
	if (set)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	memset(smp->data, 0, sizeof(smp->data));
	if (!smp->attr_mod)
		*(__be64 *)smp->data = hca->port_guid;
	return 0;
}

static void get_port_info(struct softhca *hca, struct ib_smp *smp)
{
	struct ib_port_info *pi = (void *)smp->data;
	struct rvt_ibport *port = &hca->port;

	softhca_port_info(pi, hca->state, hca->phys, hca->mtu);
	softhca_mkey_get(&hca->agent, smp);
	pi->gid_prefix = port->gid_prefix;
	pi->lid = cpu_to_be16(hca->lid);
	pi->sm_lid = cpu_to_be16(port->sm_lid);
	pi->cap_mask = cpu_to_be32(port->port_cap_flags);
	pi->local_port_num = 1;
	pi->neighbormtu_mastersmsl |= port->sm_sl;
	pi->vl_high_limit = port->vl_high_limit;
	pi->pkey_violations = cpu_to_be16(port->pkey_violations);
	pi->qkey_violations = cpu_to_be16(port->qkey_violations);
	pi->guid_cap = 1;
	pi->clientrereg_resv_subnetto = port->subnet_timeout;
}

/* The addresses in a Set(PortInfo); zero leaves a LID as it is. */
static void set_addresses(struct softhca *hca, const struct ib_port_info *pi)
{
	u16 lid = be16_to_cpu(pi->lid);
	u16 sm_lid = be16_to_cpu(pi->sm_lid);
	u8 sm_sl = pi->neighbormtu_mastersmsl & 0xf;
	struct rvt_ibport *port = &hca->port;

	if (is_unicast_lid(lid) && lid != hca->lid) {
		hca->lid = lid;
		softhca_event(hca, IB_EVENT_LID_CHANGE);
	}
	if (is_unicast_lid(sm_lid) &&
	    (sm_lid != port->sm_lid || sm_sl != port->sm_sl)) {
		port->sm_lid = sm_lid;
		port->sm_sl = sm_sl;
		softhca_event(hca, IB_EVENT_SM_CHANGE);
	}
	if (port->gid_prefix != pi->gid_prefix) {
		port->gid_prefix = pi->gid_prefix;
		softhca_event(hca, IB_EVENT_GID_CHANGE);
	}
}

static void set_parameters(struct softhca *hca, const struct ib_port_info *pi)
{
	struct rvt_ibport *port = &hca->port;
	u8 mtu = pi->neighbormtu_mastersmsl >> 4;

	softhca_mkey_set(&hca->agent, pi);
	if (!pi->pkey_violations)
		port->pkey_violations = 0;
	if (!pi->qkey_violations)
		port->qkey_violations = 0;
	port->vl_high_limit = pi->vl_high_limit;
	port->subnet_timeout = pi->clientrereg_resv_subnetto & 0x1f;
	if (mtu >= IB_MTU_256 && mtu <= IB_MTU_4096)
		hca->mtu = mtu;
}

static u16 set_state(struct softhca *hca, const struct ib_port_info *pi)
{
	u8 state = pi->linkspeed_portstate & 0xf;
	u8 phys = pi->portphysstate_linkdown >> 4;
	u8 before;

	softhca_link_set(hca->swport, phys, state, &hca->disabled);
	before = hca->state;
	if (!softhca_state_step(&hca->state, state))
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	if (hca->state == IB_PORT_ACTIVE && before != IB_PORT_ACTIVE)
		softhca_event(hca, IB_EVENT_PORT_ACTIVE);
	return 0;
}

static u16 port_info(struct softhca *hca, struct ib_smp *smp, bool set)
{
	struct ib_port_info *pi = (void *)smp->data;
	unsigned long flags;
	u16 status = 0;

	spin_lock_irqsave(&fabric.lock, flags);
	if (set) {
		set_addresses(hca, pi);
		set_parameters(hca, pi);
		status = set_state(hca, pi);
		if (pi->clientrereg_resv_subnetto & 0x80)
			softhca_event(hca, IB_EVENT_CLIENT_REREGISTER);
	}
	get_port_info(hca, smp);
	spin_unlock_irqrestore(&fabric.lock, flags);
	return status;
}

static void set_pkeys(struct softhca *hca, u16 *own, const __be16 *wire)
{
	bool changed = false;
	unsigned long flags;
	int i;

	for (i = 0; i < PKEYS_PER_BLOCK; i++) {
		changed |= own[i] != be16_to_cpu(wire[i]);
		own[i] = be16_to_cpu(wire[i]);
	}
	if (!changed)
		return;
	spin_lock_irqsave(&fabric.lock, flags);
	softhca_event(hca, IB_EVENT_PKEY_CHANGE);
	spin_unlock_irqrestore(&fabric.lock, flags);
}

static u16 pkey_table(struct softhca *hca, struct ib_smp *smp, bool set)
{
	u32 block = be32_to_cpu(smp->attr_mod) & 0xffff;
	u16 *own = hca->pkeys + block * PKEYS_PER_BLOCK;
	__be16 *wire = (__be16 *)smp->data;
	int i;

	if (block >= SOFTHCA_PKEYS / PKEYS_PER_BLOCK)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	if (set)
		set_pkeys(hca, own, wire);
	for (i = 0; i < PKEYS_PER_BLOCK; i++)
		wire[i] = cpu_to_be16(own[i]);
	return 0;
}

static u16 answer(struct softhca *hca, struct ib_smp *smp, bool set)
{
	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		return node_desc(hca, smp, set);
	case IB_SMP_ATTR_NODE_INFO:
		return node_info(hca, smp, set);
	case IB_SMP_ATTR_GUID_INFO:
		return guid_info(hca, smp, set);
	case IB_SMP_ATTR_PORT_INFO:
		return port_info(hca, smp, set);
	case IB_SMP_ATTR_PKEY_TABLE:
		return pkey_table(hca, smp, set);
	case IB_SMP_ATTR_SL_TO_VL_TABLE:
	case IB_SMP_ATTR_VL_ARB_TABLE:
		/* There is only VL0: accepted, and nothing to keep. */
		if (!set)
			memset(smp->data, 0, sizeof(smp->data));
		return 0;
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}

/* A port that shows nobody its P_Keys; they can be set all the same. */
static u32 hides(const struct softhca *hca, const struct ib_smp *smp)
{
	bool asked = smp->attr_id == IB_SMP_ATTR_PKEY_TABLE &&
		     smp->method == IB_MGMT_METHOD_GET;

	return asked ? READ_ONCE(hca->faults.hide_pkeys) : 0;
}

static bool is_for_sm(const struct softhca *hca, const struct ib_smp *smp)
{
	return smp->attr_id == IB_SMP_ATTR_SM_INFO &&
	       hca->port.port_cap_flags & IB_PORT_SM;
}

/* "trusted": of this kernel, which need not know the M_Key. */
enum softhca_sma_verdict softhca_sma(struct softhca *hca, struct ib_smp *smp,
				     u16 slid, bool trusted)
{
	bool repress = smp->method == IB_MGMT_METHOD_TRAP_REPRESS;
	bool set = smp->method == IB_MGMT_METHOD_SET;
	u32 hidden = hides(hca, smp);

	if ((!set && !repress && smp->method != IB_MGMT_METHOD_GET) ||
	    is_for_sm(hca, smp))
		return SMA_NOT_MINE;
	if (READ_ONCE(hca->faults.freeze_sma) || hidden == 1)
		return SMA_DISCARD;
	if (!trusted && !softhca_mkey_permits(&hca->agent, smp, slid))
		return SMA_DISCARD;
	if (repress) {
		softhca_trap_repress(&hca->agent, smp);
		return SMA_DISCARD;
	}
	if (hidden)
		softhca_smp_reply(smp,
				  IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	else
		softhca_smp_reply(smp, answer(hca, smp, set));
	return SMA_REPLY;
}

static bool is_smp(const struct ib_mad *mad)
{
	return mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

/* What a node asks itself.  SMPs from the wire never get here, others do. */
int softhca_process_mad(struct ib_device *ibdev, int flags, u32 port,
			const struct ib_wc *wc, const struct ib_grh *grh,
			const struct ib_mad *in, struct ib_mad *out,
			size_t *out_size, u16 *out_pkey_index)
{
	struct softhca *hca = ib_to_softhca(ibdev);
	enum softhca_sma_verdict verdict;

	memcpy(out, in, sizeof(*out));
	if (is_smp(in))
		verdict = softhca_sma(hca, (struct ib_smp *)out, hca->lid,
				      flags & IB_MAD_IGNORE_MKEY);
	else
		verdict = softhca_pma(hca, (struct ib_pma_mad *)out) ?
				SMA_REPLY : SMA_NOT_MINE;
	switch (verdict) {
	case SMA_REPLY:
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	case SMA_DISCARD:
		/* "Consumed" would leave the sender waiting for ever. */
		return IB_MAD_RESULT_FAILURE;
	default:
		return IB_MAD_RESULT_SUCCESS;	/* an agent may want it */
	}
}
