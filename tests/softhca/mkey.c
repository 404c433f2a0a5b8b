// SPDX-License-Identifier: GPL-2.0
/*
 * The M_Key of an agent: who may manage it (IBA volume 1, 14.2.4).  The lease
 * is kept and never runs out.
 */
#include "softhca.h"

static bool key_fits(const struct softhca_agent *agent,
		     const struct ib_smp *smp)
{
	return !agent->mkey || agent->mkey == smp->mkey;
}

static void fill_direct(struct ib_mad_notice_attr *notice,
			const struct ib_smp *smp)
{
	u8 room = sizeof(notice->details.ntc_256.dr_rtn_path);
	u8 hops = min(smp->hop_cnt, room);

	notice->details.ntc_256.dr_slid = smp->dr_slid;
	notice->details.ntc_256.dr_trunc_hop = IB_NOTICE_TRAP_DR_NOTICE | hops;
	if (hops < smp->hop_cnt)
		notice->details.ntc_256.dr_trunc_hop |= IB_NOTICE_TRAP_DR_TRUNC;
	memcpy(notice->details.ntc_256.dr_rtn_path, smp->return_path, hops);
}

static void violation(struct softhca_agent *agent, const struct ib_smp *smp,
		      u16 slid)
{
	struct ib_mad_notice_attr notice = {
		.details.ntc_256 = {
			.lid = cpu_to_be16(slid),
			.method = smp->method,
			.attr_id = smp->attr_id,
			.attr_mod = smp->attr_mod,
			.mkey = smp->mkey,
		},
	};

	if (smp->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		fill_direct(&notice, smp);
	count_violation(&agent->mkey_violations);
	softhca_trap_raise(agent, TRAP_MKEY, &notice, 256);
}

/* False: the request, which came from "slid", is to be discarded. */
bool softhca_mkey_permits(struct softhca_agent *agent, struct ib_smp *smp,
			  u16 slid)
{
	if (key_fits(agent, smp))
		return true;
	if (smp->method == IB_MGMT_METHOD_GET && agent->mkey_protect < 2)
		return true;
	violation(agent, smp, slid);
	return false;
}

/*
 * What PortInfo shows of it: at level 1 a Get shows the key to those who know
 * it.  Who has just set another one may see it.
 */
void softhca_mkey_get(const struct softhca_agent *agent, struct ib_smp *smp)
{
	struct ib_port_info *pi = (void *)smp->data;

	if (agent->mkey_protect != 1 || smp->method != IB_MGMT_METHOD_GET ||
	    key_fits(agent, smp))
		pi->mkey = agent->mkey;
	pi->mkey_lease_period = cpu_to_be16(agent->mkey_lease);
	pi->mkeyprot_resv_lmc = agent->mkey_protect << 6;
	pi->mkey_violations = cpu_to_be16(agent->mkey_violations);
}

void softhca_mkey_set(struct softhca_agent *agent,
		      const struct ib_port_info *pi)
{
	agent->mkey = pi->mkey;
	agent->mkey_lease = be16_to_cpu(pi->mkey_lease_period);
	agent->mkey_protect = pi->mkeyprot_resv_lmc >> 6;
	if (!pi->mkey_violations)
		agent->mkey_violations = 0;
}
