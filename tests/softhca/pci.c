// SPDX-License-Identifier: GPL-2.0
/*
 * PCI: which functions become adapters, and the module itself.
 */
#include <linux/module.h>
#include "softhca.h"

#define GUID_BASE	0x0002c90300000000ull

static struct pci_driver softhca_driver;

static unsigned long drops[DROP_REASONS];
module_param_array(drops, ulong, NULL, 0444);
MODULE_PARM_DESC(drops,
		 "dropped packets, by reason: link,route,pkey,qkey,qp,buffer,smp,fault");

void softhca_drop(enum softhca_drop why)
{
	drops[why]++;
}

/* The GUID that a PF has by itself: made from where it is. */
static __be64 static_guid(struct pci_dev *pdev)
{
	return cpu_to_be64(GUID_BASE | pci_domain_nr(pdev->bus) << 16 |
			   pci_dev_id(pdev));
}

static void set_identity_pf(struct softhca *hca)
{
	hca->node_guid = static_guid(hca->pdev);
	hca->port_guid = hca->node_guid;
	hca->sys_guid = hca->node_guid;
	softhca_vf_defaults(hca);
}

/* A VF has no GUIDs but those that the PF has for it, none at first. */
static int set_identity_vf(struct softhca *hca)
{
	struct softhca *pf = pci_get_drvdata(pci_physfn(hca->pdev));
	int vfid = pci_iov_vf_id(hca->pdev);

	if (vfid < 0 || vfid >= SOFTHCA_MAX_VFS)
		return -ENODEV;
	hca->pf = pf;
	hca->vfid = vfid;
	hca->node_guid = cpu_to_be64(pf->vf[vfid].node_guid);
	hca->port_guid = cpu_to_be64(pf->vf[vfid].port_guid);
	hca->sys_guid = pf->sys_guid;
	return 0;
}

/* The other driver's, where this one is loaded twice, goes with its PF. */
static bool has_our_pf(struct pci_dev *vf)
{
	return pci_dev_driver(pci_physfn(vf)) == &softhca_driver &&
	       pci_get_drvdata(pci_physfn(vf));
}

static int set_identity(struct softhca *hca)
{
	if (hca->pdev->is_virtfn)
		return set_identity_vf(hca);
	set_identity_pf(hca);
	return 0;
}

static int softhca_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct softhca *hca;
	int ret;

	if (pdev->is_virtfn && !has_our_pf(pdev))
		return -ENODEV;
	ret = pci_enable_device(pdev);
	if (ret)
		return ret;
	hca = (struct softhca *)rvt_alloc_device(sizeof(*hca), 1);
	if (!hca) {
		ret = -ENOMEM;
		goto disable;
	}
	hca->pdev = pdev;
	softhca_agent_init(&hca->agent, hca);
	ret = set_identity(hca);
	if (ret)
		goto dealloc;
	ret = softhca_register(hca);
	if (ret)
		goto dealloc;
	pci_set_drvdata(pdev, hca);
	if (softhca_attach(hca))
		pci_warn(pdev, "no free switch port\n");
	softhca_faults_add(hca);
	pci_info(pdev, "%s, switch port %u\n", dev_name(&hca->rdi.ibdev.dev),
		 hca->swport);
	return 0;

dealloc:
	rvt_dealloc_device(&hca->rdi);
disable:
	pci_disable_device(pdev);
	return ret;
}

static void softhca_remove(struct pci_dev *pdev)
{
	struct softhca *hca = pci_get_drvdata(pdev);

	if (!pdev->is_virtfn)
		pci_disable_sriov(pdev);
	spin_lock_irq(&fabric.lock);
	hca->gone = true;
	spin_unlock_irq(&fabric.lock);
	/*
	 * Leave ib_core while the link is still up: ib_sa waits, for seconds,
	 * for the answers to its queries.  When rdmavt does the same again,
	 * it has no effect.
	 */
	ib_unregister_device(&hca->rdi.ibdev);
	softhca_faults_remove(hca);
	softhca_detach(hca);
	softhca_agent_stop(&hca->agent);
	rvt_unregister_device(&hca->rdi);
	rvt_dealloc_device(&hca->rdi);
	pci_disable_device(pdev);
}

/*
 * QEMU's NVMe controller: the one with an SR-IOV capability.  There is no
 * MODULE_DEVICE_TABLE(), lest this driver is loaded wherever such a disk is.
 */
static const struct pci_device_id softhca_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT, 0x0010) },
	{ }
};

static struct pci_driver softhca_driver = {
	.name = KBUILD_MODNAME,
	.id_table = softhca_ids,
	.probe = softhca_probe,
	.remove = softhca_remove,
	.sriov_configure = pci_sriov_configure_simple,
};

static int __init softhca_init(void)
{
	int ret;

	softhca_switch_init();
	/* Before the processes that poll for what this does, as hardware is. */
	fabric.wq = alloc_ordered_workqueue(KBUILD_MODNAME,
					    WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (!fabric.wq)
		return -ENOMEM;
	softhca_faults_init();
	ret = pci_register_driver(&softhca_driver);
	if (ret) {
		softhca_faults_exit();
		destroy_workqueue(fabric.wq);
	}
	return ret;
}

static void __exit softhca_exit(void)
{
	pci_unregister_driver(&softhca_driver);
	softhca_faults_exit();
	/* In this order: what is delivered late may raise a trap. */
	softhca_delay_exit();
	softhca_agent_stop(&fabric.agent);
	destroy_workqueue(fabric.wq);
}

module_init(softhca_init);
module_exit(softhca_exit);
MODULE_DESCRIPTION("InfiniBand adapters and a switch in software, for tests");
MODULE_LICENSE("GPL");
