# Deals the runs "KERNEL MACHINE NAME DEADLINE [first]" of the last file to boots, by the seconds that they took in the files before,
# "KERNEL MACHINE NAME SECONDS" each; a later file's count. Prints "BOOT KERNEL MACHINE NAME DEADLINE": boots that take longer come
# first, so that short ones fill what those leave, and all end together. $slots of them run side by side.

# Seconds of cases in a boot, at the least: the boot itself takes 20.
BEGIN {least_load = 100}

FILENAME != ARGV[ARGC - 1] {seconds[$1, $2, $3] = $4; next}

{
  machine = $1 " " $2
  run[++runs] = $1 " " $2 " " $3 " " $4
  first_in_boot[run[runs]] = $5 == "first"
  # Where nothing is known: cases end long before their deadlines.
  weight[runs] = ($1, $2, $3) in seconds ? seconds[$1, $2, $3] : $4 / 8
  total[machine] += weight[runs]
  all += weight[runs]
}

END {
  size = all / (3 * slots)
  if (size < least_load) size = least_load
  for (machine in total) {
    first[machine] = boots + 1
    boots += slots > 1 && total[machine] > size ? int(total[machine] / size + 0.5) : 1
    last[machine] = boots
  }
  for (; runs > 0; runs--) {
    longest = 0
    for (i in run) if (!longest || weight[i] > weight[longest] || weight[i] == weight[longest] && i < longest) longest = i
    split(run[longest], field, " ")
    deal(run[longest], weight[longest], field[1] " " field[2])
    delete run[longest]
  }
  for (b in load) order[++ordered] = b
  for (i = 1; i <= ordered; i++) {
    for (j = i + 1; j <= ordered; j++) if (load[order[j]] > load[order[i]]) {swap = order[i]; order[i] = order[j]; order[j] = swap}
    printf "%s", lines[order[i]]
  }
}

# To the boot of its machine that has least to do.
function deal(line, seconds, machine, b, least) {
  for (b = first[machine]; b <= last[machine]; b++) if (!least || load[b] < load[least]) least = b
  load[least] += seconds
  lines[least] = first_in_boot[line] ? least " " line "\n" lines[least] : lines[least] least " " line "\n"
}
