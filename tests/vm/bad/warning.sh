#!/bin/bash
# Makes the kernel warn.
# verdict: FAIL the kernel complained
echo '<4>------------[ cut here ]------------' >/dev/kmsg
echo '<4>WARNING: CPU: 1 PID: 1 at some/file.c:1 some_function+0x1/0x2' >/dev/kmsg
echo '<4>---[ end trace 0000000000000000 ]---' >/dev/kmsg
