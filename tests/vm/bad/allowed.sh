#!/bin/bash
# The one warning that is known and harmless does not count.
# verdict: ok
echo '<4>------------[ cut here ]------------' >/dev/kmsg
echo '<4>memcpy: detected field-spanning write (size 80) of single field "&wqe->wr" at drivers/infiniband/sw/rdmavt/qp.c:1 (size 40)' >/dev/kmsg
echo '<4>WARNING: CPU: 1 PID: 1 at drivers/infiniband/sw/rdmavt/qp.c:1 rvt_post_send+0x1/0x2' >/dev/kmsg
echo '<4>---[ end trace 0000000000000000 ]---' >/dev/kmsg
