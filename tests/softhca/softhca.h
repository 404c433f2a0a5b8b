/* SPDX-License-Identifier: GPL-2.0 */
/*
 * softhca: InfiniBand adapters and the switch between them, in software.
 *
 * Every QEMU NVMe function, physical or virtual, that this driver binds is a
 * channel adapter with one port.  All ports hang off one virtual switch.  The
 * switch and the adapters answer SMPs, so a subnet manager configures them;
 * traffic follows the forwarding tables that the subnet manager wrote.
 *
 * Concurrency.  A work request is executed from start to end on one ordered
 * workqueue, under fabric.mutex: it is made into a packet, carried through the
 * switch and put into the receive queue of its destination in one go.  Hence
 * delivery is in order, and needs no queues of its own; only faults.c loses
 * packets, and only delay.c keeps some.
 *
 *   fabric.mutex	who is plugged in where, the switch's tables
 *   fabric.lock	link and port states, policies, hca->gone; taken inside
 *			the mutex or alone, also in the MAD layer's context,
 *			where sleeping is not allowed
 *   fabric.trap_lock	traps; innermost
 *
 * Inside the mutex a QP's r_lock and in it s_lock are rdmavt's; trap_lock may
 * be taken under any of them.  Counters and M_Keys have no lock: a counter may
 * miss an event, and a packet that is there while the M_Key changes is judged
 * by either.
 */
#ifndef SOFTHCA_H
#define SOFTHCA_H

#include <linux/if_link.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_hdrs.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_smi.h>
#include <rdma/rdma_vt.h>
#include <rdma/rdmavt_qp.h>

#define SOFTHCA_VENDOR_ID	0x1405
#define SOFTHCA_MAX_VFS		32
#define SOFTHCA_PKEYS		128	/* as many as a ConnectX port has */
#define PKEYS_PER_BLOCK		32

#define SWITCH_PORTS		72	/* external; two PFs with all VFs take 66 */
#define SWITCH_LFT_SIZE		0xc000	/* every unicast LID */
#define SWITCH_MLIDS		1024
#define SWITCH_PKEYS		SOFTHCA_PKEYS	/* of an external port */
#define MFT_PORTS		16	/* ports in one position of an MFT block */
#define MFT_POSITIONS		DIV_ROUND_UP(SWITCH_PORTS + 1, MFT_PORTS)

#define MULTICAST_LID_BASE	0xc000
#define PERMISSIVE_LID		0xffff
#define DEFAULT_GID_PREFIX	cpu_to_be64(0xfe80000000000000ull)

/* Why a packet was dropped: the order of the module parameter "drops". */
enum softhca_drop {
	DROP_LINK,
	DROP_ROUTE,
	DROP_PKEY,
	DROP_QKEY,
	DROP_QP,
	DROP_BUFFER,
	DROP_SMP,
	DROP_FAULT,
	DROP_REASONS,
};

/* PartitionEnforcement of PortInfo: operationalvl_pei_peo_fpi_fpo */
#define ENFORCE_INBOUND		BIT(3)
#define ENFORCE_OUTBOUND	BIT(2)

struct softhca;

enum softhca_trap_kind {
	TRAP_LINK,		/* 128 */
	TRAP_MKEY,		/* 256 */
	TRAP_PKEY,		/* 257, 259 from the switch */
	TRAP_QKEY,		/* 258 */
	TRAP_KINDS,
};

enum softhca_trap_state {
	TRAP_IDLE,
	TRAP_RAISED,		/* to be sent */
	TRAP_SENT,		/* to be sent again, unless it is repressed */
};

struct softhca_agent;

struct softhca_trap {
	struct softhca_agent *agent;
	struct delayed_work work;
	enum softhca_trap_state state;
	struct ib_mad_notice_attr notice;
	__be64 tid;
	unsigned long last;	/* jiffies, when it was sent */
	unsigned int sent;
	unsigned int repressed;
};

/**
 * struct softhca_agent - what every subnet management agent keeps
 * @hca: whose it is, NULL: the switch's
 */
struct softhca_agent {
	struct softhca *hca;
	__be64 mkey;
	u16 mkey_lease;
	u16 mkey_violations;
	u8 mkey_protect;
	struct softhca_trap trap[TRAP_KINDS];
};

/* What a subnet management agent does with an SMP. */
enum softhca_sma_verdict {
	SMA_NOT_MINE,
	SMA_REPLY,		/* the request has become the answer */
	SMA_DISCARD,
};

/* What performance management counts, at either end of a link. */
enum softhca_counter {
	COUNT_XMIT_DATA,	/* in words of 32 bits */
	COUNT_RCV_DATA,
	COUNT_XMIT_PACKETS,
	COUNT_RCV_PACKETS,
	COUNT_XMIT_UNICAST,
	COUNT_RCV_UNICAST,
	COUNT_XMIT_MULTICAST,
	COUNT_RCV_MULTICAST,
	COUNT_LINK_DOWNED,
	COUNT_RELAY_ERRORS,
	COUNT_XMIT_DISCARDS,
	COUNT_XMIT_CONSTRAINT,
	COUNT_RCV_CONSTRAINT,
	COUNTERS,
};

/* What debugfs makes go wrong at one port. */
struct softhca_faults {
	struct dentry *dir;
	u32 lose_packets;	/* per cent, both ways; MADs not among them */
	u32 lose_mads;
	u32 delay_ms;		/* of what the port sends */
	u32 hide_pkeys;		/* Get(P_KeyTable): 1 discarded, 2 refused */
	bool freeze_sma;
	bool down;
};

/* What the PF decides for one of its VFs.  It outlives the VF. */
struct softhca_vf {
	u64 node_guid;
	u64 port_guid;
	int policy;		/* IFLA_VF_LINK_STATE_* */
	struct softhca *hca;	/* while the VF is bound to this driver */
};

/**
 * struct softhca - one channel adapter with one port
 * @rdi: must be first, rvt_alloc_device() allocates all of it
 * @pf: the PF of a VF, NULL for a PF
 * @disabled: a subnet manager disabled this end of the link
 * @gone: ib_core is letting go of the device, it must see no more events
 * @swport: the switch port at the other end of the link, 0 for none
 * @vf: of a PF
 */
struct softhca {
	struct rvt_dev_info rdi;
	struct rvt_ibport port;
	struct pci_dev *pdev;
	struct softhca *pf;
	int vfid;
	__be64 node_guid;
	__be64 port_guid;
	__be64 sys_guid;
	u16 pkeys[SOFTHCA_PKEYS];
	u16 lid;
	u8 state;		/* enum ib_port_state */
	u8 phys;		/* enum ib_port_phys_state */
	u8 mtu;			/* enum ib_mtu */
	bool disabled;
	bool gone;
	u32 swport;
	struct softhca_agent agent;
	struct softhca_faults faults;
	u64 counters[COUNTERS];
	struct softhca_vf vf[SOFTHCA_MAX_VFS];
};

/**
 * struct softhca_qp - what this driver keeps of a QP
 * @special: QP0 or QP1
 * @carried: packets of the current work request that have got through
 * @delayed: the current work request has had its delay
 */
struct softhca_qp {
	struct rvt_qp *qp;
	struct work_struct work;
	bool special;
	bool delayed;
	bool last_try;	/* its timeout runs, and no other will */
	u32 carried;
};

/* One datagram on the wire. */
struct softhca_pkt {
	struct softhca *src;
	u32 src_qp;
	u32 dest_qp;
	u32 qkey;
	u32 len;
	u16 slid;
	u16 dlid;
	u16 pkey;
	u8 sl;
	bool has_grh;
	bool has_imm;
	bool solicited;
	__be32 imm;
	struct ib_grh grh;
	u8 data[];
};

/* SwitchInfo as it is in an SMP. */
struct switch_info {
	__be16 lft_cap;
	__be16 rft_cap;
	__be16 mft_cap;
	__be16 lft_top;
	u8 default_port;
	u8 default_mcast_primary;
	u8 default_mcast_other;
	u8 life_change;		/* 5 bits lifetime, PortStateChange, 2 bits */
	__be16 lids_per_port;
	__be16 enforcement_cap;
	u8 flags;
	u8 reserved;
	__be16 mft_top;
} __packed;

/**
 * struct switch_port - one external port of the switch
 * @hca: what is plugged in
 * @bdf: the function that was here last; it gets the port back
 * @disabled: a subnet manager disabled this end of the link
 */
struct switch_port {
	struct softhca *hca;
	u32 bdf;
	u8 state;
	u8 phys;
	u8 mtu;
	u8 enforce;		/* ENFORCE_* */
	bool disabled;
	u16 pkey_violations;
	u16 pkeys[SWITCH_PKEYS];
	u64 counters[COUNTERS];
};

struct softhca_fabric {
	struct mutex mutex;	/* see the top of this file */
	spinlock_t lock;	/* the same */
	spinlock_t trap_lock;	/* the same */
	struct workqueue_struct *wq;
	struct softhca_agent agent;
	bool port_change;	/* SwitchInfo:PortStateChange */
	u32 changes;		/* of port states, ever */
	/* What the last few readers of SwitchInfo were told of. */
	struct {
		u32 reader;	/* the upper half of its transaction IDs */
		u32 changes;
	} told[8];
	unsigned int next_told;
	u16 lid;
	u16 sm_lid;
	u8 sm_sl;
	__be64 gid_prefix;
	u64 trap_tid;
	struct switch_info info;
	u16 pkeys[PKEYS_PER_BLOCK];	/* of port 0 */
	u16 pkey_violations;
	u16 qkey_violations;
	struct switch_port port[SWITCH_PORTS + 1];
	__be16 mft[MFT_POSITIONS][SWITCH_MLIDS];
	u8 lft[SWITCH_LFT_SIZE];
};

extern struct softhca_fabric fabric;

static inline struct softhca *rdi_to_softhca(struct rvt_dev_info *rdi)
{
	return container_of(rdi, struct softhca, rdi);
}

static inline struct softhca *ib_to_softhca(struct ib_device *ibdev)
{
	return rdi_to_softhca(ib_to_rvt(ibdev));
}

static inline bool is_multicast_lid(u16 lid)
{
	return lid >= MULTICAST_LID_BASE && lid != PERMISSIVE_LID;
}

static inline bool is_unicast_lid(u16 lid)
{
	return lid && lid < MULTICAST_LID_BASE;
}

/* One partition, and at least one of the two is a full member (IBA 10.9.3). */
static inline bool pkey_match(u16 a, u16 b)
{
	return (a & 0x7fff) && (a & 0x7fff) == (b & 0x7fff) &&
	       ((a | b) & 0x8000);
}

/* The counters for violations stay at their maximum. */
static inline void count_violation(u16 *counter)
{
	if (*counter != U16_MAX)
		(*counter)++;
}

/* The SMP or other MAD in a packet, NULL if it cannot be one. */
static inline struct ib_smp *pkt_smp(struct softhca_pkt *pkt)
{
	return pkt->len == IB_MGMT_MAD_SIZE ? (struct ib_smp *)pkt->data : NULL;
}

/* link.c */
int softhca_attach(struct softhca *hca);
void softhca_detach(struct softhca *hca);
void softhca_link_update(int n);
void softhca_link_set(int n, u8 phys, u8 state, bool *disabled);
bool softhca_state_step(u8 *now, u8 wanted);
void softhca_event(struct softhca *hca, enum ib_event_type type);

/* switch.c */
void softhca_switch_init(void);
void softhca_switch_rx(int in, struct softhca_pkt *pkt);
void softhca_switch_tx(struct softhca_pkt *pkt);
int softhca_switch_lookup(u16 lid);

/* switch_sma.c */
bool softhca_switch_sma(int in, struct ib_smp *smp, u16 slid);

/* hca_sma.c */
enum softhca_sma_verdict softhca_sma(struct softhca *hca, struct ib_smp *smp,
				     u16 slid, bool trusted);
void softhca_smp_reply(struct ib_smp *smp, u16 status);
void softhca_port_info(struct ib_port_info *pi, u8 state, u8 phys, u8 mtu);
int softhca_process_mad(struct ib_device *ibdev, int flags, u32 port,
			const struct ib_wc *wc, const struct ib_grh *grh,
			const struct ib_mad *in, struct ib_mad *out,
			size_t *out_size, u16 *out_pkey_index);

/* mkey.c */
bool softhca_mkey_permits(struct softhca_agent *agent, struct ib_smp *smp,
			  u16 slid);
void softhca_mkey_get(const struct softhca_agent *agent, struct ib_smp *smp);
void softhca_mkey_set(struct softhca_agent *agent,
		      const struct ib_port_info *pi);

/* partition.c */
int softhca_find_pkey(const u16 *pkeys, int n, u16 pkey);
bool softhca_enforce(int n, u8 direction, const struct softhca_pkt *pkt);
void softhca_bad_pkey(struct softhca *hca, const struct softhca_pkt *pkt);
void softhca_bad_qkey(struct softhca *hca, const struct softhca_pkt *pkt);

/* trap.c */
void softhca_agent_init(struct softhca_agent *agent, struct softhca *hca);
void softhca_agent_stop(struct softhca_agent *agent);
void softhca_trap_raise(struct softhca_agent *agent,
			enum softhca_trap_kind kind,
			struct ib_mad_notice_attr *notice, u16 number);
void softhca_trap_repress(struct softhca_agent *agent,
			  const struct ib_smp *smp);

/* pma.c */
void softhca_count(u64 *sender, u64 *receiver, u64 packets, u64 words,
		   bool multicast);
u32 softhca_pkt_words(const struct softhca_pkt *pkt);
bool softhca_pma(struct softhca *hca, struct ib_pma_mad *mad);

/* faults.c */
void softhca_faults_init(void);
void softhca_faults_exit(void);
void softhca_faults_add(struct softhca *hca);
void softhca_faults_remove(struct softhca *hca);
int softhca_open_qp0(void);
bool softhca_lost(const struct softhca *hca, u32 qpn);

/* delay.c */
bool softhca_delay(struct softhca *hca, const struct softhca_pkt *pkt);
void softhca_delay_exit(void);

/* datagram.c */
int softhca_ud_send(struct softhca *hca, struct rvt_qp *qp,
		    struct rvt_swqe *wqe);
void softhca_tx(struct softhca *hca, struct softhca_pkt *pkt);
void softhca_rx(struct softhca *hca, struct softhca_pkt *pkt);
void softhca_drop(enum softhca_drop why);

/* connected.c: besides an enum ib_wc_status, a request may have to wait */
#define SOFTHCA_RNR	(-1)	/* for a receive buffer */
#define SOFTHCA_LOST	(-2)	/* for an answer that does not come */
#define SOFTHCA_DELAYED	(-3)	/* for as long as its packets take */
int softhca_connected_send(struct softhca *hca, struct rvt_qp *sqp,
			   struct rvt_swqe *wqe, u8 *rnr_timer, u32 *delay_ms);

/* qp.c */
bool softhca_qp_schedule(struct rvt_qp *qp);
void softhca_qp_do_send(struct rvt_qp *qp);
void *softhca_qp_alloc(struct rvt_dev_info *rdi, struct rvt_qp *qp);
int softhca_qp_init(struct rvt_dev_info *rdi, struct rvt_qp *qp,
		    struct ib_qp_init_attr *attr);
void softhca_qp_free(struct rvt_dev_info *rdi, struct rvt_qp *qp);
void softhca_qp_stop(struct rvt_qp *qp);

/* verbs.c */
int softhca_register(struct softhca *hca);

/* vf.c */
void softhca_vf_defaults(struct softhca *pf);
int softhca_set_vf_guid(struct ib_device *ibdev, int vf, u32 port, u64 guid,
			int type);
int softhca_get_vf_guid(struct ib_device *ibdev, int vf, u32 port,
			struct ifla_vf_guid *node_guid,
			struct ifla_vf_guid *port_guid);
int softhca_get_vf_config(struct ib_device *ibdev, int vf, u32 port,
			  struct ifla_vf_info *info);
int softhca_set_vf_link_state(struct ib_device *ibdev, int vf, u32 port,
			      int state);

#endif
