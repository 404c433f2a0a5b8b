# Whose the time of an ADD was, by its steps as steps.awk has them. Variables: mode; whole, how long the call took, in
# microseconds. Prints "MODE PART MICROSECONDS".
function part_of(step) {
  if (step ~ /^IPAM/) return "IPAM"
  if (step == "wait for the binding") return "partition"
  if (step ~ /^(ask the (node's )?agent|begin the binding)/) return "agent"
  if (step == "write the record") return "record"
  return "kernel"
}

END {
  split("kernel record agent partition IPAM", parts, " ")
  for (i in parts) sum[parts[i]] = 0
  left = whole
  for (i = 1; i <= steps; i++) {
    sum[part_of(what[i])] += took[i]
    left -= took[i]
  }
  sum["plugin"] = left
  sum["whole"] = whole
  OFS = "\t"
  for (part in sum) print mode, part, sum[part]
}
