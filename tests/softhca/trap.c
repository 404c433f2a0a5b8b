// SPDX-License-Identifier: GPL-2.0
/*
 * Traps: notices to the master subnet manager, each sent again and again
 * until a TrapRepress for it arrives (IBA volume 1, 13.4.9).
 *
 * An agent has one trap of a kind under way.  What violates a key meanwhile
 * is counted and not told of.
 */
#include "softhca.h"

/* 4.096 us << SubnetTimeOut, which is 18 unless a subnet manager says else. */
#define TRAP_INTERVAL	HZ

/*
 * OpenSM ignores a trap that it received more than ten times in a row, so a
 * burst of changes makes one trap.
 */
#define TRAP_DELAY	(HZ / 10)

static u16 agent_lid(const struct softhca_agent *agent)
{
	return agent->hca ? agent->hca->lid : fabric.lid;
}

static u16 agent_sm_lid(const struct softhca_agent *agent)
{
	return agent->hca ? agent->hca->port.sm_lid : fabric.sm_lid;
}

static void fill_packet(const struct softhca_trap *trap,
			struct softhca_pkt *pkt)
{
	struct ib_smp *smp = (struct ib_smp *)pkt->data;

	pkt->src = trap->agent->hca;
	pkt->len = IB_MGMT_MAD_SIZE;
	pkt->slid = agent_lid(trap->agent);
	pkt->dlid = agent_sm_lid(trap->agent);
	smp->base_version = IB_MGMT_BASE_VERSION;
	smp->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	smp->class_version = 1;
	smp->method = IB_MGMT_METHOD_TRAP;
	smp->tid = trap->tid;
	smp->attr_id = IB_SMP_ATTR_NOTICE;
	memcpy(smp->data, &trap->notice, sizeof(trap->notice));
}

/* False: it was repressed, or there is nobody to tell. */
static bool prepare(struct softhca_trap *trap, struct softhca_pkt *pkt)
{
	unsigned long flags;
	bool send;

	spin_lock_irqsave(&fabric.trap_lock, flags);
	if (!agent_lid(trap->agent) || !agent_sm_lid(trap->agent))
		trap->state = TRAP_IDLE;
	send = trap->state != TRAP_IDLE;
	if (send) {
		fill_packet(trap, pkt);
		trap->state = TRAP_SENT;
		trap->last = jiffies;
		trap->sent++;
		queue_delayed_work(fabric.wq, &trap->work, TRAP_INTERVAL);
	}
	spin_unlock_irqrestore(&fabric.trap_lock, flags);
	return send;
}

static void send_trap(struct work_struct *work)
{
	struct softhca_trap *trap =
		container_of(to_delayed_work(work), struct softhca_trap, work);
	struct softhca *hca = trap->agent->hca;
	struct softhca_pkt *pkt;

	pkt = kzalloc(sizeof(*pkt) + IB_MGMT_MAD_SIZE, GFP_KERNEL);
	if (!pkt) {
		queue_delayed_work(fabric.wq, &trap->work, TRAP_INTERVAL);
		return;
	}
	mutex_lock(&fabric.mutex);
	if (!prepare(trap, pkt))
		;
	else if (hca)
		softhca_tx(hca, pkt);
	else
		softhca_switch_tx(pkt);
	mutex_unlock(&fabric.mutex);
	kfree(pkt);
}

/* Key violations are told of once an interval at most. */
static unsigned long delay_of(const struct softhca_trap *trap)
{
	unsigned long earliest = trap->last + TRAP_INTERVAL;

	if (trap == &fabric.agent.trap[TRAP_LINK] || !trap->sent ||
	    time_after(jiffies, earliest))
		return TRAP_DELAY;
	return max_t(unsigned long, earliest - jiffies, TRAP_DELAY);
}

/* The caller has filled in the details of the notice. */
void softhca_trap_raise(struct softhca_agent *agent,
			enum softhca_trap_kind kind,
			struct ib_mad_notice_attr *notice, u16 number)
{
	struct softhca_trap *trap = &agent->trap[kind];
	unsigned long flags;

	notice->generic_type = kind == TRAP_LINK ? IB_NOTICE_TYPE_URGENT :
						   IB_NOTICE_TYPE_SECURITY;
	notice->prod_type_lsb = agent->hca ? IB_NOTICE_PROD_CA :
					     IB_NOTICE_PROD_SWITCH;
	notice->trap_num = cpu_to_be16(number);
	notice->issuer_lid = cpu_to_be16(agent_lid(agent));

	spin_lock_irqsave(&fabric.trap_lock, flags);
	if (trap->state == TRAP_IDLE ||
	    (trap->state == TRAP_SENT && kind == TRAP_LINK)) {
		trap->notice = *notice;
		trap->tid = cpu_to_be64(++fabric.trap_tid);
		trap->state = TRAP_RAISED;
		mod_delayed_work(fabric.wq, &trap->work, delay_of(trap));
	}
	spin_unlock_irqrestore(&fabric.trap_lock, flags);
}

void softhca_trap_repress(struct softhca_agent *agent,
			  const struct ib_smp *smp)
{
	struct softhca_trap *trap;
	unsigned long flags;

	spin_lock_irqsave(&fabric.trap_lock, flags);
	for (trap = agent->trap; trap < agent->trap + TRAP_KINDS; trap++) {
		if (trap->state != TRAP_SENT || trap->tid != smp->tid)
			continue;
		trap->state = TRAP_IDLE;
		trap->repressed++;
		cancel_delayed_work(&trap->work);
	}
	spin_unlock_irqrestore(&fabric.trap_lock, flags);
}

void softhca_agent_init(struct softhca_agent *agent, struct softhca *hca)
{
	int i;

	agent->hca = hca;
	for (i = 0; i < TRAP_KINDS; i++) {
		agent->trap[i].agent = agent;
		INIT_DELAYED_WORK(&agent->trap[i].work, send_trap);
	}
}

/* When nothing can raise a trap any more. */
void softhca_agent_stop(struct softhca_agent *agent)
{
	int i;

	for (i = 0; i < TRAP_KINDS; i++)
		cancel_delayed_work_sync(&agent->trap[i].work);
}
