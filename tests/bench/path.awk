# The tables of the whole path, from what path.sh has measured.
BEGIN {
  FS = "\t"
  parts = split("plugin|kernel|record|agent|partition|IPAM|whole|DEL|Bind: ibpod-sm|Bind: OpenSM and port|Bind: whole", part, "|")
  means["plugin"] = "process, own code, logs"
  means["kernel"] = "moves, names, GUIDs"
  means["record"] = "its record; in the test VM the disk is in memory"
  means["agent"] = "questions to it"
  means["partition"] = "what is left to wait until it is verified"
  means["IPAM"] = "the IPAM plugin"
  means["whole"] = "the whole ADD"
  means["DEL"] = "the whole DEL"
  means["Bind: ibpod-sm"] = "its own turns, with its store"
  means["Bind: OpenSM and port"] = "sweep, and reading the table"
  means["Bind: whole"] = "from Bind to verified; it goes on beside the kernel's part"
}

$1 == "part" { told[$2, $3] = sprintf("%.1f/%.1f/%.1f", $4 / 1000, $5 / 1000, $6 / 1000) }
$1 == "rate" { rate[$2] = $3 }
$1 == "peak" { peaks[++n] = sprintf("| %s | %s |", $2, $3) }

function cell(mode, name) { return (mode, name) in told ? told[mode, name] : "-" }

END {
  print "Milliseconds, min/median/max."
  print "| part | without the service | with it | what it is |\n|---|---|---|---|"
  for (i = 1; i <= parts; i++) printf "| %s | %s | %s | %s |\n", part[i], cell("without", part[i]), cell("with", part[i]), means[part[i]]
  printf "| pods a second | %s | %s | ADD and DEL, four at a time |\n\n", rate["without"], rate["with"]
  print "| program | peak memory, MiB |\n|---|---|"
  for (i = 1; i <= n; i++) print peaks[i]
}
