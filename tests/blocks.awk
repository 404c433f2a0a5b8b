# Makes a shell script of the fenced blocks "sh PLACE" of a document:  awk -v place=vm -f tests/blocks.awk docs/x.md
# Every line keeps its number, so that an error names the document's. For a block that is run elsewhere the script says
#   elsewhere PLACE HEADING
# which is whoever runs it to define. Of a part of the document: -v from=HEADING -v until=HEADING, the second one not included.
BEGIN {inside = from == ""}

function quoted(text) {
  gsub(/'/, "'\\''", text)
  return "'" text "'"
}

match($0, /^ *```/) {
  indent = RLENGTH - 3
  within = !within
  ours = inside && within && $0 ~ "```sh " place "$"
  print inside && within && !ours && $1 == "```sh" ? "elsewhere " quoted($2) " " quoted(heading) : ""
  next
}
ours {print substr($0, indent + 1); next}
!within && /^#+ / {
  heading = $0
  sub(/^#+ /, "", heading)
  inside = heading != until && (inside || heading == from)
}
{print ""}
