// SPDX-License-Identifier: GPL-2.0
/*
 * The switch's subnet management agent.  Runs under fabric.mutex.
 */
#include "softhca.h"

#define SWITCH_GUID		cpu_to_be64(0x0014050000000001ull)
#define LFT_PER_BLOCK		64
#define MLIDS_PER_BLOCK		32
#define LIFE_MASK		0xf8
#define PORT_STATE_CHANGE	0x04
#define ENFORCE_BITS		(ENFORCE_INBOUND | ENFORCE_OUTBOUND)

static u16 node_desc(struct ib_smp *smp, bool set)
{
	if (set)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	strscpy_pad(smp->data, "softhca virtual switch", sizeof(smp->data));
	return 0;
}

static u16 node_info(int in, struct ib_smp *smp, bool set)
{
	struct ib_node_info *ni = (void *)smp->data;

	if (set)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	memset(smp->data, 0, sizeof(smp->data));
	ni->base_version = IB_MGMT_BASE_VERSION;
	ni->class_version = 1;
	ni->node_type = RDMA_NODE_IB_SWITCH;
	ni->num_ports = SWITCH_PORTS;
	ni->sys_guid = SWITCH_GUID;
	ni->node_guid = SWITCH_GUID;
	ni->port_guid = SWITCH_GUID;
	ni->partition_cap = cpu_to_be16(PKEYS_PER_BLOCK);
	ni->device_id = cpu_to_be16(2);
	ni->local_port_num = in;
	ni->vendor_id[1] = SOFTHCA_VENDOR_ID >> 8;
	ni->vendor_id[2] = SOFTHCA_VENDOR_ID & 0xff;
	return 0;
}

/* Each MAD agent of the kernel has an upper half of its own. */
static u32 reader_of(const struct ib_smp *smp)
{
	return be64_to_cpu(smp->tid) >> 32;
}

static void note_told(const struct ib_smp *smp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fabric.told); i++)
		if (fabric.told[i].reader == reader_of(smp))
			break;
	if (i == ARRAY_SIZE(fabric.told))
		i = fabric.next_told++ % ARRAY_SIZE(fabric.told);
	fabric.told[i].reader = reader_of(smp);
	fabric.told[i].changes = fabric.changes;
}

static bool knows_all_changes(const struct ib_smp *smp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fabric.told); i++)
		if (fabric.told[i].reader == reader_of(smp))
			return fabric.told[i].changes == fabric.changes;
	return false;
}

static u16 switch_info(struct ib_smp *smp, bool set)
{
	struct switch_info *si = (void *)smp->data;
	struct switch_info *own = &fabric.info;
	unsigned long flags;

	spin_lock_irqsave(&fabric.lock, flags);
	if (set) {
		own->lft_top = si->lft_top;
		own->default_port = si->default_port;
		own->default_mcast_primary = si->default_mcast_primary;
		own->default_mcast_other = si->default_mcast_other;
		own->life_change = si->life_change & LIFE_MASK;
		own->mft_top = si->mft_top;
		/*
		 * PortStateChange is cleared by writing a one to it.  OpenSM
		 * does so at the end of a sweep: what changed behind the
		 * sweep's back stays flagged, or it would never be seen:
		 * also where somebody else than OpenSM has read it since.
		 */
		if ((si->life_change & PORT_STATE_CHANGE) &&
		    knows_all_changes(smp))
			fabric.port_change = false;
	}
	memset(smp->data, 0, sizeof(smp->data));
	*si = *own;
	if (fabric.port_change)
		si->life_change |= PORT_STATE_CHANGE;
	if (!set)
		note_told(smp);
	spin_unlock_irqrestore(&fabric.lock, flags);
	return 0;
}

static u16 guid_info(struct ib_smp *smp, bool set)
{
	if (set)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	memset(smp->data, 0, sizeof(smp->data));
	if (!smp->attr_mod)
		*(__be64 *)smp->data = SWITCH_GUID;
	return 0;
}

static void set_port_0(const struct ib_port_info *pi)
{
	softhca_mkey_set(&fabric.agent, pi);
	if (!pi->pkey_violations)
		fabric.pkey_violations = 0;
	if (!pi->qkey_violations)
		fabric.qkey_violations = 0;
	fabric.lid = be16_to_cpu(pi->lid);
	fabric.sm_lid = be16_to_cpu(pi->sm_lid);
	fabric.sm_sl = pi->neighbormtu_mastersmsl & 0xf;
	fabric.gid_prefix = pi->gid_prefix;
}

static void set_port(int n, const struct ib_port_info *pi)
{
	struct switch_port *port = &fabric.port[n];
	u8 mtu = pi->neighbormtu_mastersmsl >> 4;
	u8 state = pi->linkspeed_portstate & 0xf;
	u8 phys = pi->portphysstate_linkdown >> 4;
	unsigned long flags;

	spin_lock_irqsave(&fabric.lock, flags);
	if (mtu)
		port->mtu = mtu;
	port->enforce = pi->operationalvl_pei_peo_fpi_fpo & ENFORCE_BITS;
	if (!pi->pkey_violations)
		port->pkey_violations = 0;
	softhca_link_set(n, phys, state, &port->disabled);
	softhca_state_step(&port->state, state);
	spin_unlock_irqrestore(&fabric.lock, flags);
}

/* Port 0, the way into the switch itself, is a base port and always up. */
static void get_port_0(struct ib_smp *smp)
{
	struct ib_port_info *pi = (void *)smp->data;

	softhca_port_info(pi, IB_PORT_ACTIVE, IB_PORT_PHYS_STATE_LINK_UP,
			  IB_MTU_4096);
	softhca_mkey_get(&fabric.agent, smp);
	pi->pkey_violations = cpu_to_be16(fabric.pkey_violations);
	pi->qkey_violations = cpu_to_be16(fabric.qkey_violations);
	pi->lid = cpu_to_be16(fabric.lid);
	pi->sm_lid = cpu_to_be16(fabric.sm_lid);
	pi->gid_prefix = fabric.gid_prefix;
	pi->neighbormtu_mastersmsl |= fabric.sm_sl;
	pi->guid_cap = 1;
}

static void get_port(int n, struct ib_port_info *pi)
{
	struct switch_port *port = &fabric.port[n];

	softhca_port_info(pi, port->state, port->phys, port->mtu);
	pi->operationalvl_pei_peo_fpi_fpo |= port->enforce;
	pi->pkey_violations = cpu_to_be16(port->pkey_violations);
}

static u16 port_info(int in, struct ib_smp *smp, bool set)
{
	struct ib_port_info *pi = (void *)smp->data;
	int n = be32_to_cpu(smp->attr_mod) & 0xff;

	if (n > SWITCH_PORTS)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	if (set && n)
		set_port(n, pi);
	else if (set)
		set_port_0(pi);
	if (n)
		get_port(n, pi);
	else
		get_port_0(smp);
	/* Where the request came in: a walk does not go back out of it. */
	pi->local_port_num = in;
	pi->cap_mask = cpu_to_be32(IB_PORT_TRAP_SUP |
				   IB_PORT_SYS_IMAGE_GUID_SUP |
				   IB_PORT_PKEY_SW_EXT_PORT_TRAP_SUP |
				   IB_PORT_EXTENDED_SPEEDS_SUP);
	return 0;
}

/* The modifier is the port, and the block of its table. */
static u16 pkey_table(struct ib_smp *smp, bool set)
{
	u32 n = be32_to_cpu(smp->attr_mod) >> 16;
	u32 block = be32_to_cpu(smp->attr_mod) & 0xffff;
	u32 blocks = (n ? SWITCH_PKEYS : PKEYS_PER_BLOCK) / PKEYS_PER_BLOCK;
	__be16 *wire = (__be16 *)smp->data;
	u16 *own;
	int i;

	if (n > SWITCH_PORTS || block >= blocks)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	own = n ? fabric.port[n].pkeys + block * PKEYS_PER_BLOCK : fabric.pkeys;
	for (i = 0; i < PKEYS_PER_BLOCK; i++) {
		if (set)
			own[i] = be16_to_cpu(wire[i]);
		wire[i] = cpu_to_be16(own[i]);
	}
	return 0;
}

static u16 linear_table(struct ib_smp *smp, bool set)
{
	u32 block = be32_to_cpu(smp->attr_mod);
	u8 *lft = fabric.lft + block * LFT_PER_BLOCK;

	if (block >= SWITCH_LFT_SIZE / LFT_PER_BLOCK)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	if (set)
		memcpy(lft, smp->data, LFT_PER_BLOCK);
	else
		memcpy(smp->data, lft, LFT_PER_BLOCK);
	return 0;
}

/* A block is 32 MLIDs by the 16 ports of one position. */
static u16 multicast_table(struct ib_smp *smp, bool set)
{
	u32 modifier = be32_to_cpu(smp->attr_mod);
	u32 mlid = (modifier & 0x1ff) * MLIDS_PER_BLOCK;
	u32 position = modifier >> 28;
	__be16 *mft;

	if (mlid >= SWITCH_MLIDS || position >= MFT_POSITIONS)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	mft = &fabric.mft[position][mlid];
	if (set)
		memcpy(mft, smp->data, MLIDS_PER_BLOCK * sizeof(*mft));
	else
		memcpy(smp->data, mft, MLIDS_PER_BLOCK * sizeof(*mft));
	return 0;
}

static u16 answer(int in, struct ib_smp *smp, bool set)
{
	switch (smp->attr_id) {
	case IB_SMP_ATTR_NODE_DESC:
		return node_desc(smp, set);
	case IB_SMP_ATTR_NODE_INFO:
		return node_info(in, smp, set);
	case IB_SMP_ATTR_SWITCH_INFO:
		return switch_info(smp, set);
	case IB_SMP_ATTR_GUID_INFO:
		return guid_info(smp, set);
	case IB_SMP_ATTR_PORT_INFO:
		return port_info(in, smp, set);
	case IB_SMP_ATTR_PKEY_TABLE:
		return pkey_table(smp, set);
	case IB_SMP_ATTR_SL_TO_VL_TABLE:
	case IB_SMP_ATTR_VL_ARB_TABLE:
		/* There is only VL0: accepted, and nothing to keep. */
		if (!set)
			memset(smp->data, 0, sizeof(smp->data));
		return 0;
	case IB_SMP_ATTR_LINEAR_FORWARD_TABLE:
		return linear_table(smp, set);
	case IB_SMP_ATTR_MCAST_FORWARD_TABLE:
		return multicast_table(smp, set);
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}

/* Turn a request into the switch's answer.  False: there is none. */
bool softhca_switch_sma(int in, struct ib_smp *smp, u16 slid)
{
	bool set = smp->method == IB_MGMT_METHOD_SET;
	bool repress = smp->method == IB_MGMT_METHOD_TRAP_REPRESS;

	if (!set && !repress && smp->method != IB_MGMT_METHOD_GET)
		return false;
	if (!softhca_mkey_permits(&fabric.agent, smp, slid))
		return false;
	if (repress) {
		softhca_trap_repress(&fabric.agent, smp);
		return false;
	}
	softhca_smp_reply(smp, answer(in, smp, set));
	return true;
}
