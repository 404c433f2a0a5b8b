// SPDX-License-Identifier: GPL-2.0
/*
 * Performance management: what every port counts, and the agent that tells.
 * PortCounters and PortCountersExtended are two views of the same counters.
 */
#include "softhca.h"

#define LINK_OVERHEAD	24	/* LRH, BTH and ICRC of every packet */
#define DETH_BYTES	8
#define IMMEDIATE_BYTES	4

/* Where a counter is in an attribute, and the bit that selects it. */
struct field {
	u16 select;
	u8 offset;
	u8 size;
	u8 counter;
};

#define FIELD(type, member, bit, count) {			\
	.select = (bit),					\
	.offset = offsetof(struct type, member),		\
	.size = sizeof_field(struct type, member),		\
	.counter = (count),					\
}
#define PLAIN(member, bit, count) FIELD(ib_pma_portcounters, member, bit, count)
#define WIDE(member, bit, count) \
	FIELD(ib_pma_portcounters_ext, member, bit, count)

static const struct field plain_fields[] = {
	PLAIN(link_downed_counter, BIT(2), COUNT_LINK_DOWNED),
	PLAIN(port_rcv_switch_relay_errors, BIT(5), COUNT_RELAY_ERRORS),
	PLAIN(port_xmit_discards, BIT(6), COUNT_XMIT_DISCARDS),
	PLAIN(port_xmit_constraint_errors, BIT(7), COUNT_XMIT_CONSTRAINT),
	PLAIN(port_rcv_constraint_errors, BIT(8), COUNT_RCV_CONSTRAINT),
	PLAIN(port_xmit_data, BIT(12), COUNT_XMIT_DATA),
	PLAIN(port_rcv_data, BIT(13), COUNT_RCV_DATA),
	PLAIN(port_xmit_packets, BIT(14), COUNT_XMIT_PACKETS),
	PLAIN(port_rcv_packets, BIT(15), COUNT_RCV_PACKETS),
	{ }
};

static const struct field wide_fields[] = {
	WIDE(port_xmit_data, BIT(0), COUNT_XMIT_DATA),
	WIDE(port_rcv_data, BIT(1), COUNT_RCV_DATA),
	WIDE(port_xmit_packets, BIT(2), COUNT_XMIT_PACKETS),
	WIDE(port_rcv_packets, BIT(3), COUNT_RCV_PACKETS),
	WIDE(port_unicast_xmit_packets, BIT(4), COUNT_XMIT_UNICAST),
	WIDE(port_unicast_rcv_packets, BIT(5), COUNT_RCV_UNICAST),
	WIDE(port_multicast_xmit_packets, BIT(6), COUNT_XMIT_MULTICAST),
	WIDE(port_multicast_rcv_packets, BIT(7), COUNT_RCV_MULTICAST),
	{ }
};

/* Packets cross a link. */
void softhca_count(u64 *sender, u64 *receiver, u64 packets, u64 words,
		   bool multicast)
{
	sender[COUNT_XMIT_DATA] += words;
	sender[COUNT_XMIT_PACKETS] += packets;
	sender[multicast ? COUNT_XMIT_MULTICAST : COUNT_XMIT_UNICAST] += packets;
	receiver[COUNT_RCV_DATA] += words;
	receiver[COUNT_RCV_PACKETS] += packets;
	receiver[multicast ? COUNT_RCV_MULTICAST : COUNT_RCV_UNICAST] += packets;
}

/* The length of a datagram on the wire. */
u32 softhca_pkt_words(const struct softhca_pkt *pkt)
{
	u32 bytes = pkt->len + LINK_OVERHEAD + DETH_BYTES;

	if (pkt->has_grh)
		bytes += sizeof(pkt->grh);
	if (pkt->has_imm)
		bytes += IMMEDIATE_BYTES;
	return DIV_ROUND_UP(bytes, 4);
}

static u64 *find_counters(struct softhca *hca, u8 port)
{
	if (hca)
		return port == 1 ? hca->counters : NULL;
	if (port < 1 || port > SWITCH_PORTS)
		return NULL;
	return fabric.port[port].counters;
}

/* A counter that does not fit stays at the maximum of its field. */
static void put_field(u8 *at, u8 size, u64 value)
{
	switch (size) {
	case 1:
		*at = min_t(u64, value, U8_MAX);
		break;
	case 2:
		put_unaligned_be16(min_t(u64, value, U16_MAX), at);
		break;
	case 4:
		put_unaligned_be32(min_t(u64, value, U32_MAX), at);
		break;
	default:
		put_unaligned_be64(value, at);
	}
}

/* A Set clears what it selects, whatever the values in it. */
static u16 port_counters(u64 *counters, struct ib_pma_mad *mad,
			 const struct field *field)
{
	struct ib_pma_portcounters *head = (void *)mad->data;
	u16 select = be16_to_cpu(head->counter_select);
	u8 port = head->port_select;

	if (!counters)
		return IB_MGMT_MAD_STATUS_INVALID_ATTRIB_VALUE;
	memset(mad->data, 0, sizeof(mad->data));
	head->port_select = port;
	head->counter_select = cpu_to_be16(select);
	for (; field->size; field++) {
		if (mad->mad_hdr.method == IB_MGMT_METHOD_SET &&
		    (select & field->select))
			counters[field->counter] = 0;
		put_field(mad->data + field->offset, field->size,
			  counters[field->counter]);
	}
	return 0;
}

static u16 class_port_info(struct ib_pma_mad *mad)
{
	struct ib_class_port_info *info = (void *)mad->data;

	if (mad->mad_hdr.method == IB_MGMT_METHOD_SET)
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	memset(mad->data, 0, sizeof(mad->data));
	info->base_version = IB_MGMT_BASE_VERSION;
	info->class_version = 1;
	info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
	ib_set_cpi_resp_time(info, 18);
	return 0;
}

static u16 answer(struct softhca *hca, struct ib_pma_mad *mad)
{
	struct ib_pma_portcounters *head = (void *)mad->data;
	u64 *counters = find_counters(hca, head->port_select);

	switch (mad->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		return class_port_info(mad);
	case IB_PMA_PORT_COUNTERS:
		return port_counters(counters, mad, plain_fields);
	case IB_PMA_PORT_COUNTERS_EXT:
		return port_counters(counters, mad, wide_fields);
	default:
		return IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB;
	}
}

/*
 * Turn a request into the answer of an adapter or, without one, the switch.
 * False: it is none.
 */
bool softhca_pma(struct softhca *hca, struct ib_pma_mad *mad)
{
	struct ib_mad_hdr *hdr = &mad->mad_hdr;

	if (hdr->mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    (hdr->method != IB_MGMT_METHOD_GET &&
	     hdr->method != IB_MGMT_METHOD_SET))
		return false;
	hdr->status = cpu_to_be16(answer(hca, mad));
	hdr->method = IB_MGMT_METHOD_GET_RESP;
	return true;
}
