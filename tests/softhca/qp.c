// SPDX-License-Identifier: GPL-2.0
/*
 * The send engine of a QP, and what rdmavt wants from a driver for each QP.
 */
#include <linux/slab.h>
#include "softhca.h"

/* Work requests in a row, before another QP has its turn. */
#define SEND_BUDGET	64

/* rdmavt's order of locks.  Always in process context here. */
static void lock_qp(struct rvt_qp *qp)
{
	spin_lock_irq(&qp->r_lock);
	spin_lock(&qp->s_lock);
}

static void unlock_qp(struct rvt_qp *qp)
{
	spin_unlock(&qp->s_lock);
	spin_unlock_irq(&qp->r_lock);
}

static int execute(struct rvt_qp *qp, struct rvt_swqe *wqe, u8 *rnr_timer,
		   u32 *delay_ms)
{
	struct softhca *hca = ib_to_softhca(qp->ibqp.device);
	struct softhca_qp *own = qp->priv;

	if (own->last_try)
		return SOFTHCA_LOST;
	if (qp->allowed_ops == IB_OPCODE_UD)
		return softhca_ud_send(hca, qp, wqe);
	return softhca_connected_send(hca, qp, wqe, rnr_timer, delay_ms);
}

/* The receiver was not ready.  False: that was the last try. */
static bool retry_when_ready(struct rvt_qp *qp, u8 rnr_timer)
{
	if (!qp->s_rnr_retry)
		return false;
	if (qp->s_rnr_retry_cnt < 7)	/* seven means for ever */
		qp->s_rnr_retry--;
	rvt_add_rnr_timer(qp, rnr_timer << IB_AETH_CREDIT_SHIFT);
	return true;
}

/* No answer came.  False: and the timeout of the last try has run out. */
static bool retry_after_timeout(struct rvt_qp *qp)
{
	struct softhca_qp *own = qp->priv;

	if (own->last_try)
		return false;
	own->last_try = !qp->s_retry;
	if (qp->s_retry)
		qp->s_retry--;
	rvt_mod_retry_timer(qp);
	return true;
}

/* rdmavt schedules the QP when this timer has run out. */
static bool wait_for_packets(struct rvt_qp *qp, u32 delay_ms)
{
	qp->s_flags |= RVT_S_TIMER;
	mod_timer(&qp->s_timer, jiffies + msecs_to_jiffies(delay_ms));
	return true;
}

/* Whether the request has to wait; if not, "status" is what became of it. */
static bool must_wait(struct rvt_qp *qp, int *status, u8 rnr_timer, u32 delay_ms)
{
	switch (*status) {
	case SOFTHCA_RNR:
		*status = IB_WC_RNR_RETRY_EXC_ERR;
		return retry_when_ready(qp, rnr_timer);
	case SOFTHCA_LOST:
		*status = IB_WC_RETRY_EXC_ERR;
		return retry_after_timeout(qp);
	case SOFTHCA_DELAYED:
		return wait_for_packets(qp, delay_ms);
	default:
		return false;
	}
}

static void finish(struct rvt_qp *qp, struct rvt_swqe *wqe, int status)
{
	struct softhca_qp *own = qp->priv;

	own->carried = 0;
	own->delayed = false;
	own->last_try = false;
	qp->s_retry = qp->s_retry_cnt;
	qp->s_rnr_retry = qp->s_rnr_retry_cnt;
	rvt_send_complete(qp, wqe, status);
	if (status != IB_WC_SUCCESS)
		rvt_error_qp(qp, IB_WC_WR_FLUSH_ERR);
}

/* Returns whether to go on with the next. */
static bool send_one(struct rvt_qp *qp)
{
	struct rvt_swqe *wqe;
	u8 rnr_timer = 0;
	u32 delay_ms = 0;
	int status;

	if (qp->s_last == READ_ONCE(qp->s_head) ||
	    (qp->s_flags & (RVT_S_WAIT_RNR | RVT_S_TIMER)))
		return false;
	smp_rmb();	/* pairs with rvt_post_one_wr(): s_head, then the WQE */
	wqe = rvt_get_swqe_ptr(qp, qp->s_last);
	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_NEXT_SEND_OK)) {
		if (!(ib_rvt_state_ops[qp->state] & RVT_FLUSH_SEND))
			return false;
		rvt_send_complete(qp, wqe, IB_WC_WR_FLUSH_ERR);
		return true;
	}

	/* The WQE stays: only this moves s_last, and a reset waits for it. */
	unlock_qp(qp);
	status = execute(qp, wqe, &rnr_timer, &delay_ms);
	lock_qp(qp);

	if (!(ib_rvt_state_ops[qp->state] & RVT_PROCESS_OR_FLUSH_SEND))
		return false;
	/* Set to ERR meanwhile, it waits for nothing any more. */
	if (status < 0 && (ib_rvt_state_ops[qp->state] & RVT_FLUSH_SEND))
		status = IB_WC_WR_FLUSH_ERR;
	else if (must_wait(qp, &status, rnr_timer, delay_ms))
		return false;
	finish(qp, wqe, status);
	return true;
}

static void send_work(struct work_struct *work)
{
	struct softhca_qp *own = container_of(work, struct softhca_qp, work);
	int budget = SEND_BUDGET;

	mutex_lock(&fabric.mutex);
	lock_qp(own->qp);
	while (budget && send_one(own->qp))
		budget--;
	unlock_qp(own->qp);
	mutex_unlock(&fabric.mutex);
	if (!budget)
		queue_work(fabric.wq, work);
}

bool softhca_qp_schedule(struct rvt_qp *qp)
{
	struct softhca_qp *own = qp->priv;

	return queue_work(fabric.wq, &own->work);
}

void softhca_qp_do_send(struct rvt_qp *qp)
{
	softhca_qp_schedule(qp);
}

void *softhca_qp_alloc(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	struct softhca_qp *own;
	int err = qp->ibqp.qp_type == IB_QPT_SMI ? softhca_open_qp0() : 0;

	if (err)
		return ERR_PTR(err);
	own = kzalloc(sizeof(*own), GFP_KERNEL);
	if (!own)
		return ERR_PTR(-ENOMEM);
	own->qp = qp;
	INIT_WORK(&own->work, send_work);
	return own;
}

int softhca_qp_init(struct rvt_dev_info *rdi, struct rvt_qp *qp,
		    struct ib_qp_init_attr *attr)
{
	struct softhca_qp *own = qp->priv;

	own->special = attr->qp_type == IB_QPT_SMI ||
		       attr->qp_type == IB_QPT_GSI;
	return 0;
}

/*
 * rdmavt marks QP0 and QP1 as taken when they are created and never as free
 * again, but a device that moves to another network namespace gets new ones.
 * "special" is only set once rdmavt has made that mark.
 */
static void release_special_qpn(struct rvt_dev_info *rdi, u32 qpn)
{
	struct rvt_qpn_table *table = &rdi->qp_dev->qpn_table;

	spin_lock(&table->lock);
	table->flags &= ~BIT(qpn);
	spin_unlock(&table->lock);
}

void softhca_qp_free(struct rvt_dev_info *rdi, struct rvt_qp *qp)
{
	struct softhca_qp *own = qp->priv;

	if (!own)
		return;
	cancel_work_sync(&own->work);
	if (own->special)
		release_special_qpn(rdi, qp->ibqp.qp_num);
	kfree(own);
}

void softhca_qp_stop(struct rvt_qp *qp)
{
	struct softhca_qp *own = qp->priv;

	cancel_work_sync(&own->work);
	own->carried = 0;
	own->delayed = false;
	own->last_try = false;
}
