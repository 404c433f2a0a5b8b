#!/bin/bash
# The story that ./demo tells, which stops where something that it says is not true.
# deadline: 300
. "$ROOT/tests/vm/lib.sh"
. "$ROOT/tests/vm/stage.sh"

at_end stage_as_before 2
. "$ROOT/tests/vm/demo.sh"

for pod in blue-0 blue-1 blue-2; do call_plugin DEL "$pod"; done
