// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams that a port with a delay has sent: kept here until they are due.
 * The list is ordered by that, and is under fabric.mutex.
 */
#include <linux/list.h>
#include <linux/slab.h>
#include "softhca.h"

struct delayed_pkt {
	struct list_head list;
	unsigned long due;	/* jiffies */
	int in;			/* the port of the switch where it comes in */
	struct softhca_pkt *pkt;
};

static void deliver_due(struct work_struct *work);

static LIST_HEAD(delayed);
static DECLARE_DELAYED_WORK(delivery, deliver_due);

static void free_delayed(struct delayed_pkt *d)
{
	kfree(d->pkt);
	kfree(d);
}

static struct delayed_pkt *first(void)
{
	return list_first_entry_or_null(&delayed, struct delayed_pkt, list);
}

static void schedule_delivery(void)
{
	struct delayed_pkt *d = first();
	unsigned long now = jiffies;

	if (d)
		mod_delayed_work(fabric.wq, &delivery,
				 time_after(d->due, now) ? d->due - now : 0);
}

static void deliver_due(struct work_struct *work)
{
	struct delayed_pkt *d;

	mutex_lock(&fabric.mutex);
	while ((d = first()) && !time_after(d->due, jiffies)) {
		list_del(&d->list);
		softhca_switch_rx(d->in, d->pkt);
		free_delayed(d);
	}
	schedule_delivery();
	mutex_unlock(&fabric.mutex);
}

static void insert(struct delayed_pkt *new)
{
	struct delayed_pkt *d;

	list_for_each_entry_reverse(d, &delayed, list)
		if (!time_after(d->due, new->due))
			break;
	list_add(&new->list, &d->list);
}

/* True: the packet has a delay, and will come to the switch later. */
bool softhca_delay(struct softhca *hca, const struct softhca_pkt *pkt)
{
	u32 ms = READ_ONCE(hca->faults.delay_ms);
	struct delayed_pkt *d;

	if (!ms)
		return false;
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (d)
		d->pkt = kmemdup(pkt, sizeof(*pkt) + pkt->len, GFP_KERNEL);
	if (!d || !d->pkt) {
		kfree(d);
		softhca_drop(DROP_FAULT);
		return true;
	}
	/* The adapter may have gone by then; a switch has no use for it. */
	d->pkt->src = NULL;
	d->due = jiffies + msecs_to_jiffies(ms);
	d->in = hca->swport;
	insert(d);
	schedule_delivery();
	return true;
}

void softhca_delay_exit(void)
{
	struct delayed_pkt *d, *next;

	cancel_delayed_work_sync(&delivery);
	list_for_each_entry_safe(d, next, &delayed, list) {
		list_del(&d->list);
		free_delayed(d);
	}
}
