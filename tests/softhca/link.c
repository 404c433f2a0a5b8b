// SPDX-License-Identifier: GPL-2.0
/*
 * Links: one between every adapter port and its port of the switch.
 *
 * A link is up when nobody objects: neither end was disabled by a subnet
 * manager, and for a VF also its GUIDs and the policy that its PF has for it.
 * Whoever changes one of these calls softhca_link_update().
 */
#include "softhca.h"

/* For ib_core.  The caller holds fabric.lock, which orders it with "gone". */
void softhca_event(struct softhca *hca, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &hca->rdi.ibdev,
		.event = type,
		.element.port_num = 1,
	};

	lockdep_assert_held(&fabric.lock);
	if (!hca->gone)
		ib_dispatch_event(&event);
}

/*
 * Zero is what a VF has before anybody gave it a GUID, all ones is what an
 * administrator writes to take it away.  Neither is an address: a port with
 * one of them would be a duplicate of its siblings to the subnet manager.
 */
static bool guid_usable(__be64 guid)
{
	return guid && guid != cpu_to_be64(~0ull);
}

static bool pf_permits(const struct softhca *hca)
{
	const struct softhca *pf = hca->pf;

	if (!pf)
		return true;
	if (!guid_usable(hca->node_guid) || !guid_usable(hca->port_guid))
		return false;
	switch (pf->vf[hca->vfid].policy) {
	case IFLA_VF_LINK_STATE_ENABLE:
		return true;
	case IFLA_VF_LINK_STATE_AUTO:
		return pf->phys == IB_PORT_PHYS_STATE_LINK_UP;
	default:
		return false;
	}
}

static u8 phys_state(bool up, bool disabled)
{
	if (up)
		return IB_PORT_PHYS_STATE_LINK_UP;
	return disabled ? IB_PORT_PHYS_STATE_DISABLED :
			  IB_PORT_PHYS_STATE_POLLING;
}

/* Trap 128: the state of some port of the switch has changed. */
static void tell_change(void)
{
	struct ib_mad_notice_attr notice = {};

	/* Its details are the LID of the switch, and nothing else. */
	notice.details.raw_data.details[0] = fabric.lid >> 8;
	notice.details.raw_data.details[1] = fabric.lid & 0xff;
	fabric.port_change = true;
	fabric.changes++;
	softhca_trap_raise(&fabric.agent, TRAP_LINK, &notice, 128);
}

static void count_down(struct switch_port *port)
{
	port->counters[COUNT_LINK_DOWNED]++;
	if (port->hca)
		port->hca->counters[COUNT_LINK_DOWNED]++;
}

/* Bring one link to where it should be. */
static void link_update(struct switch_port *port, bool retrain)
{
	struct softhca *hca = port->hca;
	bool was_up = port->phys == IB_PORT_PHYS_STATE_LINK_UP;
	bool up = hca && !port->disabled && !hca->disabled &&
		  !hca->faults.down && pf_permits(hca);
	u8 state = up ? IB_PORT_INIT : IB_PORT_DOWN;
	bool lost;

	lockdep_assert_held(&fabric.lock);
	port->phys = phys_state(up, port->disabled);
	if (hca)
		hca->phys = phys_state(up, hca->disabled || !pf_permits(hca));
	if (up == was_up && !(up && retrain))
		return;

	if (was_up)
		count_down(port);
	lost = hca && hca->state == IB_PORT_ACTIVE;
	port->state = state;
	if (hca)
		hca->state = state;
	if (lost)
		softhca_event(hca, IB_EVENT_PORT_ERR);
	tell_change();
}

static void link_update_all(int n, bool retrain)
{
	struct softhca *hca = fabric.port[n].hca;
	struct softhca *vf;
	int i;

	if (!n)
		return;
	link_update(&fabric.port[n], retrain);
	if (!hca || hca->pf)
		return;
	/* A PF's link decides over those of its VFs with policy "auto". */
	for (i = 0; i < SOFTHCA_MAX_VFS; i++) {
		vf = hca->vf[i].hca;
		if (vf && vf->swport)
			link_update(&fabric.port[vf->swport], false);
	}
}

/* Something that decides over link "n" has changed. */
void softhca_link_update(int n)
{
	unsigned long flags;

	spin_lock_irqsave(&fabric.lock, flags);
	link_update_all(n, false);
	spin_unlock_irqrestore(&fabric.lock, flags);
}

/*
 * The part of a Set(PortInfo) that takes a link down or up, for either end of
 * it ("disabled").  The caller holds fabric.lock.
 */
void softhca_link_set(int n, u8 phys, u8 state, bool *disabled)
{
	if (phys == IB_PORT_PHYS_STATE_DISABLED)
		*disabled = true;
	else if (phys == IB_PORT_PHYS_STATE_POLLING)
		*disabled = false;
	else if (state != IB_PORT_DOWN)
		return;
	link_update_all(n, true);
}

/*
 * A subnet manager moves a port from Init to Armed to Active.  False: the
 * step is not allowed.  The caller holds fabric.lock.
 */
bool softhca_state_step(u8 *now, u8 wanted)
{
	if ((wanted == IB_PORT_ARMED && *now >= IB_PORT_INIT) ||
	    (wanted == IB_PORT_ACTIVE && *now >= IB_PORT_ARMED)) {
		*now = wanted;
		return true;
	}
	return wanted <= IB_PORT_DOWN;
}

/*
 * Where to plug a function in: where it was, else where nobody was, else
 * where nobody is.  A VF that is unbound and bound again is then the same
 * link to the subnet manager.  0: the switch is full.
 */
static int find_port(u32 bdf)
{
	int unused = 0, empty = 0;
	int n;

	for (n = SWITCH_PORTS; n > 0; n--) {
		if (fabric.port[n].hca)
			continue;
		if (fabric.port[n].bdf == bdf)
			return n;
		if (!fabric.port[n].bdf)
			unused = n;
		empty = n;
	}
	return unused ? unused : empty;
}

int softhca_attach(struct softhca *hca)
{
	u32 bdf = pci_domain_nr(hca->pdev->bus) << 16 | pci_dev_id(hca->pdev);
	int n;

	mutex_lock(&fabric.mutex);
	n = find_port(bdf);
	if (n) {
		spin_lock_irq(&fabric.lock);
		fabric.port[n].hca = hca;
		fabric.port[n].bdf = bdf;
		hca->swport = n;
		if (hca->pf)
			hca->pf->vf[hca->vfid].hca = hca;
		link_update_all(n, false);
		spin_unlock_irq(&fabric.lock);
	}
	mutex_unlock(&fabric.mutex);
	return n ? 0 : -ENOSPC;
}

void softhca_detach(struct softhca *hca)
{
	int n = hca->swport;

	if (!n)
		return;
	mutex_lock(&fabric.mutex);
	spin_lock_irq(&fabric.lock);
	fabric.port[n].hca = NULL;
	hca->swport = 0;
	if (hca->pf)
		hca->pf->vf[hca->vfid].hca = NULL;
	hca->state = IB_PORT_DOWN;
	hca->phys = IB_PORT_PHYS_STATE_POLLING;
	link_update_all(n, false);
	spin_unlock_irq(&fabric.lock);
	mutex_unlock(&fabric.mutex);
}
