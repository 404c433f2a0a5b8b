// SPDX-License-Identifier: GPL-2.0
/*
 * The device as ib_core and rdmavt see it: operations, limits, registration.
 */
#include <linux/utsname.h>
#include "softhca.h"

/* --- What rdmavt asks of a driver --- */

static struct pci_dev *get_pci_dev(struct rvt_dev_info *rdi)
{
	return rdi_to_softhca(rdi)->pdev;
}

static int get_guid_be(struct rvt_dev_info *rdi, struct rvt_ibport *port,
		       int index, __be64 *guid)
{
	if (index)
		return -EINVAL;
	*guid = rdi_to_softhca(rdi)->port_guid;
	return 0;
}

static int query_port_state(struct rvt_dev_info *rdi, u32 port_num,
			    struct ib_port_attr *attr)
{
	struct softhca *hca = rdi_to_softhca(rdi);

	attr->lid = hca->lid;
	attr->state = hca->state;
	attr->phys_state = hca->phys;
	attr->gid_tbl_len = 1;
	attr->active_width = IB_WIDTH_4X;
	attr->active_speed = IB_SPEED_EDR;
	attr->max_vl_num = 1;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = hca->mtu;
	return 0;
}

static int get_pmtu_from_attr(struct rvt_dev_info *rdi, struct rvt_qp *qp,
			      struct ib_qp_attr *attr)
{
	return attr->path_mtu;
}

static u32 mtu_from_qp(struct rvt_dev_info *rdi, struct rvt_qp *qp, u32 pmtu)
{
	return ib_mtu_enum_to_int(pmtu);
}

static int mtu_to_path_mtu(u32 mtu)
{
	return ib_mtu_int_to_enum(mtu);
}

static void notify_new_ah(struct ib_device *ibdev, struct rdma_ah_attr *attr,
			  struct rvt_ah *ah)
{
	ah->log_pmtu = ilog2(4096);
}

/* Required by rdmavt; there is nothing to do for any of them here. */
static void qp_nothing(struct rvt_qp *qp)
{
}

static unsigned int free_all_qps(struct rvt_dev_info *rdi)
{
	return 0;
}

static void notify_restart_rc(struct rvt_qp *qp, u32 psn, int wait)
{
}

static int shut_down_port(struct rvt_dev_info *rdi, u32 port_num)
{
	return 0;
}

static void cap_mask_chg(struct rvt_dev_info *rdi, u32 port_num)
{
}

static const struct rvt_driver_provided driver_ops = {
	.schedule_send = softhca_qp_schedule,
	.schedule_send_no_lock = softhca_qp_schedule,
	.do_send = softhca_qp_do_send,
	.get_pci_dev = get_pci_dev,
	.qp_priv_alloc = softhca_qp_alloc,
	.qp_priv_init = softhca_qp_init,
	.qp_priv_free = softhca_qp_free,
	.stop_send_queue = softhca_qp_stop,
	.notify_qp_reset = qp_nothing,
	.flush_qp_waiters = qp_nothing,
	.quiesce_qp = qp_nothing,
	.notify_error_qp = qp_nothing,
	.get_pmtu_from_attr = get_pmtu_from_attr,
	.mtu_from_qp = mtu_from_qp,
	.mtu_to_path_mtu = mtu_to_path_mtu,
	.notify_new_ah = notify_new_ah,
	.get_guid_be = get_guid_be,
	.free_all_qps = free_all_qps,
	.notify_restart_rc = notify_restart_rc,
	.query_port_state = query_port_state,
	.shut_down_port = shut_down_port,
	.cap_mask_chg = cap_mask_chg,
};

/* --- Work requests: which QP may post what, and how it completes --- */

#define DATAGRAM_QPS	(BIT(IB_QPT_UD) | BIT(IB_QPT_SMI) | BIT(IB_QPT_GSI))
#define CONNECTED_QPS	(BIT(IB_QPT_RC) | BIT(IB_QPT_UC))

static const struct rvt_operation_params post_parms[RVT_OPERATION_MAX] = {
	[IB_WR_SEND] = {
		.length = sizeof(struct ib_send_wr),
		.qpt_support = DATAGRAM_QPS | CONNECTED_QPS,
	},
	[IB_WR_SEND_WITH_IMM] = {
		.length = sizeof(struct ib_send_wr),
		.qpt_support = DATAGRAM_QPS | CONNECTED_QPS,
	},
	[IB_WR_SEND_WITH_INV] = {
		.length = sizeof(struct ib_send_wr),
		.qpt_support = BIT(IB_QPT_RC),
	},
	[IB_WR_RDMA_WRITE] = {
		.length = sizeof(struct ib_rdma_wr),
		.qpt_support = CONNECTED_QPS,
	},
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		.length = sizeof(struct ib_rdma_wr),
		.qpt_support = CONNECTED_QPS,
	},
	[IB_WR_RDMA_READ] = {
		.length = sizeof(struct ib_rdma_wr),
		.qpt_support = BIT(IB_QPT_RC),
		.flags = RVT_OPERATION_ATOMIC,
	},
	[IB_WR_ATOMIC_CMP_AND_SWP] = {
		.length = sizeof(struct ib_atomic_wr),
		.qpt_support = BIT(IB_QPT_RC),
		.flags = RVT_OPERATION_ATOMIC | RVT_OPERATION_ATOMIC_SGE,
	},
	[IB_WR_ATOMIC_FETCH_AND_ADD] = {
		.length = sizeof(struct ib_atomic_wr),
		.qpt_support = BIT(IB_QPT_RC),
		.flags = RVT_OPERATION_ATOMIC | RVT_OPERATION_ATOMIC_SGE,
	},
	[IB_WR_LOCAL_INV] = {
		.length = sizeof(struct ib_send_wr),
		.qpt_support = CONNECTED_QPS,
		.flags = RVT_OPERATION_LOCAL,
	},
	[IB_WR_REG_MR] = {
		.length = sizeof(struct ib_reg_wr),
		.qpt_support = CONNECTED_QPS,
		.flags = RVT_OPERATION_LOCAL,
	},
};

static const enum ib_wc_opcode wc_opcode[RVT_OPERATION_MAX] = {
	[IB_WR_SEND] = IB_WC_SEND,
	[IB_WR_SEND_WITH_IMM] = IB_WC_SEND,
	[IB_WR_SEND_WITH_INV] = IB_WC_SEND,
	[IB_WR_RDMA_WRITE] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_WRITE_WITH_IMM] = IB_WC_RDMA_WRITE,
	[IB_WR_RDMA_READ] = IB_WC_RDMA_READ,
	[IB_WR_ATOMIC_CMP_AND_SWP] = IB_WC_COMP_SWAP,
	[IB_WR_ATOMIC_FETCH_AND_ADD] = IB_WC_FETCH_ADD,
	[IB_WR_LOCAL_INV] = IB_WC_LOCAL_INV,
	[IB_WR_REG_MR] = IB_WC_REG_MR,
};

/* --- ib_core --- */

static int modify_device(struct ib_device *ibdev, int mask,
			 struct ib_device_modify *attr)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, attr->node_desc,
		       IB_DEVICE_NODE_DESC_MAX);
	return 0;
}

/*
 * ib_core moves a device between network namespaces only if the driver has
 * this.  There is no hardware that user space has mapped, so nothing to do.
 */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

/* rdmavt insists on a list, which may be empty. */
static const struct attribute_group *port_groups[] = { NULL };

static const struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	/* rdmavt has no ABI of its own; rdma-core's hfi1 provider speaks it. */
	.driver_id = RDMA_DRIVER_HFI1,
	.port_groups = port_groups,
	.disassociate_ucontext = disassociate_ucontext,
	.modify_device = modify_device,
	.process_mad = softhca_process_mad,
	.set_vf_guid = softhca_set_vf_guid,
	.get_vf_guid = softhca_get_vf_guid,
	.get_vf_config = softhca_get_vf_config,
	.set_vf_link_state = softhca_set_vf_link_state,
};

static void set_attributes(struct softhca *hca)
{
	struct ib_device_attr *props = &hca->rdi.dparms.props;

	props->device_cap_flags = IB_DEVICE_SYS_IMAGE_GUID |
				  IB_DEVICE_RC_RNR_NAK_GEN;
	/* The netdev of a VF must not offer to manage VFs. */
	if (hca->pf)
		props->kernel_cap_flags = IBK_VIRTUAL_FUNCTION;
	props->vendor_id = SOFTHCA_VENDOR_ID;
	props->vendor_part_id = 1;
	props->sys_image_guid = hca->sys_guid;
	props->max_mr_size = ~0ull;
	props->max_mr = 8192;
	props->max_pd = 1024;
	props->max_ah = 65535;
	props->max_cq = 4096;
	props->max_cqe = 65535;
	props->max_qp = 4096;
	props->max_qp_wr = 16384;
	props->max_send_sge = 32;
	props->max_recv_sge = 32;
	props->max_srq = 64;
	props->max_srq_wr = 16384;
	props->max_srq_sge = 32;
	props->max_pkeys = SOFTHCA_PKEYS;
	props->max_mcast_grp = 1024;
	/* As mlx5 says of a ConnectX-5: every IPoIB child of a partition is in its broadcast group. */
	props->max_mcast_qp_attach = 240;
	props->max_total_mcast_qp_attach = 65536;
	props->max_qp_rd_atom = 16;
	props->max_qp_init_rd_atom = 16;
	props->max_res_rd_atom = 16 * props->max_qp;
	props->atomic_cap = IB_ATOMIC_GLOB;
}

static void set_parameters(struct rvt_driver_params *dparms)
{
	dparms->max_rdma_atomic = 16;
	dparms->lkey_table_size = 13;
	dparms->qp_table_size = 256;
	dparms->qpn_start = 2;
	dparms->qpn_inc = 1;
	dparms->qos_shift = 1;
	dparms->psn_mask = 0xffffff;
	dparms->psn_modify_mask = 0xffffff;
	dparms->psn_shift = 8;
	dparms->nports = 1;
	dparms->npkeys = SOFTHCA_PKEYS;
	/* Not NUMA_NO_NODE: rvt_create_cq() takes its cpumask_of_node(). */
	dparms->node = 0;
	dparms->core_cap_flags = RDMA_CORE_PORT_IBA_IB;
	dparms->max_mad_size = IB_MGMT_MAD_SIZE;
}

static void init_port(struct softhca *hca)
{
	struct rvt_ibport *port = &hca->port;

	hca->state = IB_PORT_DOWN;
	hca->phys = IB_PORT_PHYS_STATE_POLLING;
	hca->mtu = IB_MTU_4096;
	hca->pkeys[0] = 0xffff;
	port->gid_prefix = DEFAULT_GID_PREFIX;
	port->port_cap_flags = IB_PORT_SYS_IMAGE_GUID_SUP |
			       IB_PORT_CLIENT_REG_SUP | IB_PORT_CM_SUP |
			       IB_PORT_TRAP_SUP |
			       IB_PORT_EXTENDED_SPEEDS_SUP;
	port->subnet_timeout = 18;
	spin_lock_init(&port->lock);
	rvt_init_port(&hca->rdi, port, 0, hca->pkeys);
}

static void init_device(struct softhca *hca)
{
	struct rvt_dev_info *rdi = &hca->rdi;
	struct ib_device *ibdev = &rdi->ibdev;

	rdi->driver_f = driver_ops;
	rdi->post_parms = post_parms;
	rdi->wc_opcode = wc_opcode;
	set_attributes(hca);
	set_parameters(&rdi->dparms);
	ibdev->phys_port_cnt = 1;
	ibdev->node_guid = hca->node_guid;
	ibdev->dev.parent = &hca->pdev->dev;
	ibdev->num_comp_vectors = 1;
	ib_set_device_ops(ibdev, &device_ops);
}

/*
 * rdmavt registers a MAD agent, for traps that this driver does not send.  A
 * move between network namespaces takes ib_mad off the device and puts it
 * back; the agent does not survive that, and rdmavt would use it after free.
 */
static void drop_mad_agent(struct rvt_ibport *port)
{
	if (!port->send_agent)
		return;
	ib_unregister_mad_agent(port->send_agent);
	port->send_agent = NULL;
}

int softhca_register(struct softhca *hca)
{
	struct ib_device *ibdev = &hca->rdi.ibdev;
	int ret;

	init_device(hca);
	init_port(hca);
	/* rdmavt passes this on to ib_core, which puts the number in. */
	ret = dev_set_name(&ibdev->dev, "softhca_%%d");
	if (ret)
		return ret;
	ret = rvt_register_device(&hca->rdi);
	if (ret)
		return ret;
	drop_mad_agent(&hca->port);
	snprintf(ibdev->node_desc, sizeof(ibdev->node_desc), "%s %s",
		 utsname()->nodename, dev_name(&ibdev->dev));
	return 0;
}
