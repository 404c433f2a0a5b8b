# Draws where the time of a call went: its steps, as steps.awk has them, and lines "AT - EVENT" of somebody else.
# Variable: whole, how long the call took.
BEGIN {
  width = 44
  least = whole / 100 # what took less is told together
  printf "%8s %8s\n", "at ms", "took ms"
}

$2 == "" {
  event_at[++events] = $1
  event[events] = $3
}

function column(at) { return int(at * width / whole) }

function bar(at, us, length_, text) {
  length_ = column(at + us) - column(at)
  text = sprintf("%" (column(at) + 1) "s", "#")
  while (--length_ > 0) text = text "#"
  return text
}

function row(at, us, text) { printf "%8.1f %8.1f  %-52.52s |%s\n", at / 1000, us / 1000, text, bar(at, us) }
function sum(us, text) { printf "%8s %8.1f  %s\n", "", us / 1000, text }

END {
  if (!steps || !events) exit 1 # one of the two logs has nothing of it
  row(0, start[1], "the plugin starts")
  left = whole - start[1]
  for (i = 1; i <= steps; i++) {
    left -= took[i]
    if (took[i] >= least) {
      row(start[i], took[i], what[i])
    } else {
      few += took[i]
      small++
    }
  }
  sum(few, "shorter steps: " small)
  sum(left, "between the steps, and until the caller has the answer")
  sum(whole, "the whole ADD")
  print "meanwhile in ibpod-sm:"
  for (i = 1; i <= events; i++) printf "%8.1f %8s  %-52.52s |%s\n", event_at[i] / 1000, "", event[i], bar(event_at[i], 0)
}
