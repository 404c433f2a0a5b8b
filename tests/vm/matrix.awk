# Prints the results that tests/vm/run has recorded, a file for each kernel, as a table. Fails unless there are as many
# as $wanted, all whole and without a failure.
FNR == 1 {
  n++
  release[n] = FILENAME
  sub(/.*\//, "", release[n])
}
$1 == "began" {began[n] = $2 " " $3; next}
$1 == "kernel" {release[n] = $2; next}
$2 == "passed," {whole[n] = 1; next}
{
  cases[$2]
  # Each boot unloads the module: one that fails counts.
  if (verdict[$2, n] != "FAIL") verdict[$2, n] = $1
}

function row(name, values, i, line) {
  line = sprintf("%-22s", name)
  for (i = 1; i <= n; i++) line = line sprintf("  %-" length(release[i]) "s", values[i])
  sub(/ +$/, "", line)
  return line
}

END {
  print row("", release)
  fflush()
  for (name in cases) {
    for (i = 1; i <= n; i++) {
      seen[i] = (name, i) in verdict ? verdict[name, i] : "-"
      count[seen[i], i]++
    }
    print row(name, seen) | "sort"
  }
  close("sort")
  bad = n < wanted
  split("ok FAIL skip", words)
  for (w = 1; w <= 3; w++) {
    for (i = 1; i <= n; i++) seen[i] = count[words[w], i] + 0
    print row("total " words[w], seen)
  }
  for (i = 1; i <= n; i++) {
    if (!whole[i]) began[i] = began[i] ", broke off"
    if (!whole[i] || count["FAIL", i]) bad = 1
  }
  print row("began", began)
  exit bad
}
