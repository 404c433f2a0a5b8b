# The steps of a call, of lines "START TOOK STEP" in the order in which they ended; tabs between them, microseconds since the
# call. Lines "AT - EVENT" of somebody else are skipped. For what is told of them: start[], took[] and what[], 1 to steps.
BEGIN { FS = "\t" }

$2 == "" { next }

# Steps inside these, as waits are, ended before them.
$3 ~ /^(ask the node's agent for its health|(wait for|end) the binding)$/ {
  while (steps > 0 && start[steps] > $1 - 1000) steps--
}

{
  start[++steps] = $1
  took[steps] = $2
  what[steps] = $3
}
