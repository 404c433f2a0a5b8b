// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs: what goes wrong at a port, and what its agent has told.
 *
 *   softhca/<PCI address>/down		the cable is out
 *                        /lose_packets	per cent of the packets but MADs
 *                        /lose_mads	per cent of the MADs
 *                        /delay_ms	of what the port sends
 *                        /freeze_sma	its agent answers nothing
 *                        /hide_pkeys	1: it does not answer who reads its
 *					P_Keys, 2: it refuses; they can be set
 *                        /traps	"128 sent 3 repressed 1 idle" ...
 *                        /switch_port
 *   softhca/switch/traps
 *   softhca/no_qp0		nobody gets a QP 0: a port has no MAD agent then
 *          /qp0_ms		how long whoever asks for one stays in the kernel, unless it is set to 0
 *
 * The first folder has the module's name.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/random.h>
#include "softhca.h"

static struct dentry *root;

/* Of all ports: one that is only just being made has no folder yet. */
static u32 qp0_ms;
static bool no_qp0;

/* ib_mad wants one of each port that it is shown.  0, or why there is none. */
int softhca_open_qp0(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(READ_ONCE(qp0_ms));

	while (READ_ONCE(qp0_ms) && time_before(jiffies, end))
		msleep(10);
	return READ_ONCE(no_qp0) ? -ENOMEM : 0;
}

/* Whether a packet gets lost on the link of that adapter. */
bool softhca_lost(const struct softhca *hca, u32 qpn)
{
	u32 percent = qpn > 1 ? READ_ONCE(hca->faults.lose_packets) :
				READ_ONCE(hca->faults.lose_mads);

	return percent && get_random_u32() % 100 < percent;
}

static int down_get(void *data, u64 *value)
{
	struct softhca *hca = data;

	*value = hca->faults.down;
	return 0;
}

static int down_set(void *data, u64 value)
{
	struct softhca *hca = data;

	spin_lock_irq(&fabric.lock);
	hca->faults.down = value;
	spin_unlock_irq(&fabric.lock);
	softhca_link_update(hca->swport);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(down_ops, down_get, down_set, "%llu\n");

static int traps_show(struct seq_file *file, void *unused)
{
	static const char * const state[] = { "idle", "raised", "unanswered" };
	const struct softhca_agent *agent = file->private;
	const struct softhca_trap *trap;

	for (trap = agent->trap; trap < agent->trap + TRAP_KINDS; trap++)
		if (trap->sent)
			seq_printf(file, "%u sent %u repressed %u %s\n",
				   be16_to_cpu(trap->notice.trap_num),
				   trap->sent, trap->repressed,
				   state[trap->state]);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(traps);

void softhca_faults_add(struct softhca *hca)
{
	struct softhca_faults *faults = &hca->faults;
	struct dentry *dir;

	dir = debugfs_create_dir(pci_name(hca->pdev), root);
	faults->dir = dir;
	debugfs_create_file("down", 0600, dir, hca, &down_ops);
	debugfs_create_u32("lose_packets", 0600, dir, &faults->lose_packets);
	debugfs_create_u32("lose_mads", 0600, dir, &faults->lose_mads);
	debugfs_create_u32("delay_ms", 0600, dir, &faults->delay_ms);
	debugfs_create_bool("freeze_sma", 0600, dir, &faults->freeze_sma);
	debugfs_create_u32("hide_pkeys", 0600, dir, &faults->hide_pkeys);
	debugfs_create_file("traps", 0400, dir, &hca->agent, &traps_fops);
	debugfs_create_u32("switch_port", 0400, dir, &hca->swport);
}

void softhca_faults_remove(struct softhca *hca)
{
	debugfs_remove(hca->faults.dir);
}

void softhca_faults_init(void)
{
	struct dentry *dir;

	root = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_bool("no_qp0", 0600, root, &no_qp0);
	debugfs_create_u32("qp0_ms", 0600, root, &qp0_ms);
	dir = debugfs_create_dir("switch", root);
	debugfs_create_file("traps", 0400, dir, &fabric.agent, &traps_fops);
}

void softhca_faults_exit(void)
{
	debugfs_remove(root);
}
