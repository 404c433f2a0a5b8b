// SPDX-License-Identifier: GPL-2.0
/*
 * Packets with a P_Key or Q_Key that does not belong where they came to: what
 * the switch lets pass, and who hears of what it or an adapter refused.
 */
#include "softhca.h"

/* The fields in their order; which bit is which is our own reading. */
#define VALID_ALL_BUT_GIDS	0x003f
#define VALID_GIDS		0x00c0

/* Trap 259, whose details the kernel's headers do not have. */
struct notice_259 {
	__be16 valid;
	__be16 lid1;
	__be16 lid2;
	__be16 pkey;
	__be32 sl_qp1;
	__be32 qp2;
	union ib_gid gid1;
	union ib_gid gid2;
	__be16 switch_lid;
	u8 port;
} __packed;

/* The index of the P_Key that lets a packet in, -1: none does. */
int softhca_find_pkey(const u16 *pkeys, int n, u16 pkey)
{
	int i;

	for (i = 0; i < n; i++)
		if (pkey_match(pkey, pkeys[i]))
			return i;
	return -1;
}

/*
 * What a port behind the switch may send: the keys of its table, and of those
 * that it holds as a full member the limited form, too: of two keys of one
 * partition the full one is the greater number.
 */
static bool may_send(const struct switch_port *port, u16 pkey)
{
	int i;

	for (i = 0; i < SWITCH_PKEYS; i++)
		if ((pkey & 0x7fff) && port->pkeys[i] >= pkey &&
		    (port->pkeys[i] | 0x8000) == (pkey | 0x8000))
			return true;
	return false;
}

static void tell_259(int n, const struct softhca_pkt *pkt)
{
	struct ib_mad_notice_attr notice = {};
	struct notice_259 *d = (void *)&notice.details;

	d->valid = cpu_to_be16(VALID_ALL_BUT_GIDS);
	d->lid1 = cpu_to_be16(pkt->slid);
	d->lid2 = cpu_to_be16(pkt->dlid);
	d->pkey = cpu_to_be16(pkt->pkey);
	d->sl_qp1 = cpu_to_be32(pkt->sl << 28 | pkt->src_qp);
	d->qp2 = cpu_to_be32(pkt->dest_qp);
	d->switch_lid = cpu_to_be16(fabric.lid);
	d->port = n;
	if (pkt->has_grh) {
		d->valid |= cpu_to_be16(VALID_GIDS);
		d->gid1 = pkt->grh.sgid;
		d->gid2 = pkt->grh.dgid;
	}
	softhca_trap_raise(&fabric.agent, TRAP_PKEY, &notice, 259);
}

/* Whether external port "n" lets a packet pass in that direction. */
bool softhca_enforce(int n, u8 direction, const struct softhca_pkt *pkt)
{
	struct switch_port *port = &fabric.port[n];
	bool inbound = direction == ENFORCE_INBOUND;
	int errors = inbound ? COUNT_RCV_CONSTRAINT : COUNT_XMIT_CONSTRAINT;
	bool ok;

	/* QP0 talks over VL15, where there are no partitions. */
	if (!(port->enforce & direction) || !pkt->dest_qp)
		return true;
	if (inbound)
		ok = may_send(port, pkt->pkey);
	else
		ok = softhca_find_pkey(port->pkeys, SWITCH_PKEYS,
				       pkt->pkey) >= 0;
	if (ok)
		return true;
	port->counters[errors]++;
	count_violation(&port->pkey_violations);
	tell_259(n, pkt);
	softhca_drop(DROP_PKEY);
	return false;
}

static void tell_257_258(struct softhca *hca, const struct softhca_pkt *pkt,
			 enum softhca_trap_kind kind, u32 key, u16 number)
{
	struct ib_mad_notice_attr notice = {
		.details.ntc_257_258 = {
			.lid1 = cpu_to_be16(pkt->slid),
			.lid2 = cpu_to_be16(pkt->dlid),
			.key = cpu_to_be32(key),
			.sl_qp1 = cpu_to_be32(pkt->sl << 28 | pkt->src_qp),
			.qp2 = cpu_to_be32(pkt->dest_qp),
		},
	};

	if (pkt->has_grh) {
		notice.details.ntc_257_258.gid1 = pkt->grh.sgid;
		notice.details.ntc_257_258.gid2 = pkt->grh.dgid;
	}
	softhca_trap_raise(&hca->agent, kind, &notice, number);
}

/* An adapter got a packet whose P_Key the QP, or the port for QP1, has not. */
void softhca_bad_pkey(struct softhca *hca, const struct softhca_pkt *pkt)
{
	count_violation(&hca->port.pkey_violations);
	tell_257_258(hca, pkt, TRAP_PKEY, pkt->pkey, 257);
	softhca_drop(DROP_PKEY);
}

void softhca_bad_qkey(struct softhca *hca, const struct softhca_pkt *pkt)
{
	count_violation(&hca->port.qkey_violations);
	tell_257_258(hca, pkt, TRAP_QKEY, pkt->qkey, 258);
	softhca_drop(DROP_QKEY);
}
