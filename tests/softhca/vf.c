// SPDX-License-Identifier: GPL-2.0
/*
 * What a PF decides for its VFs: "ip link set <PF> vf <n> ...".
 *
 * The PF keeps these, bound VF or not, and also while sriov_numvfs is 0.
 */
#include "softhca.h"

/* A fresh VF has no address and a link that stays down. */
void softhca_vf_defaults(struct softhca *pf)
{
	int i;

	for (i = 0; i < SOFTHCA_MAX_VFS; i++)
		pf->vf[i].policy = IFLA_VF_LINK_STATE_DISABLE;
}

static struct softhca_vf *find_vf(struct ib_device *ibdev, int vf)
{
	struct softhca *pf = ib_to_softhca(ibdev);

	if (vf < 0 || vf >= SOFTHCA_MAX_VFS || vf >= pci_num_vf(pf->pdev))
		return NULL;
	return &pf->vf[vf];
}

/* A bound VF goes on with the GUIDs it has until it is bound again. */
int softhca_set_vf_guid(struct ib_device *ibdev, int vf, u32 port, u64 guid,
			int type)
{
	struct softhca_vf *cfg = find_vf(ibdev, vf);

	if (!cfg || !guid)
		return -EINVAL;
	switch (type) {
	case IFLA_VF_IB_NODE_GUID:
		cfg->node_guid = guid;
		return 0;
	case IFLA_VF_IB_PORT_GUID:
		cfg->port_guid = guid;
		return 0;
	default:
		return -EINVAL;
	}
}

int softhca_get_vf_guid(struct ib_device *ibdev, int vf, u32 port,
			struct ifla_vf_guid *node_guid,
			struct ifla_vf_guid *port_guid)
{
	struct softhca_vf *cfg = find_vf(ibdev, vf);

	if (!cfg)
		return -EINVAL;
	node_guid->vf = vf;
	node_guid->guid = cfg->node_guid;
	port_guid->vf = vf;
	port_guid->guid = cfg->port_guid;
	return 0;
}

int softhca_get_vf_config(struct ib_device *ibdev, int vf, u32 port,
			  struct ifla_vf_info *info)
{
	struct softhca_vf *cfg = find_vf(ibdev, vf);

	if (!cfg)
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	info->vf = vf;
	info->linkstate = cfg->policy;
	return 0;
}

int softhca_set_vf_link_state(struct ib_device *ibdev, int vf, u32 port,
			      int state)
{
	struct softhca_vf *cfg = find_vf(ibdev, vf);
	int n;

	if (!cfg)
		return -EINVAL;
	switch (state) {
	case IFLA_VF_LINK_STATE_AUTO:
	case IFLA_VF_LINK_STATE_ENABLE:
	case IFLA_VF_LINK_STATE_DISABLE:
		break;
	default:
		return -EINVAL;
	}
	spin_lock_irq(&fabric.lock);
	cfg->policy = state;
	n = cfg->hca ? cfg->hca->swport : 0;
	spin_unlock_irq(&fabric.lock);
	softhca_link_update(n);
	return 0;
}
