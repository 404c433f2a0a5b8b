# Draws the medians of an ADD's parts, and of the Bind that is made meanwhile. Variables: measured, the file that path.sh's figures are in; drawn, the picture.
set terminal svg size 820,320 font "sans,12" background "white"
set output drawn
set datafile separator "\t"
set style fill solid 0.9 noborder
set title "Where the time of an ADD goes (medians, test VM)"
set xlabel "milliseconds"
set key outside right noenhanced
set yrange [-0.6:2.6]
set ytics ("without the service" 0, "with the service" 1, "its Bind, meanwhile" 2)
set grid xtics
order = "plugin kernel record agent partition IPAM"
median(mode, part) = system(sprintf("awk -F '\\t' '$2 == \"%s\" && $3 == \"%s\" {m = $5 / 1000} END {print m + 0}' %s", mode, part, measured)) + 0
# How far the bar has come before that part.
before(mode, i) = i <= 1 ? 0 : before(mode, i - 1) + median(mode, word(order, i - 1))
do for [m = 1:2] {
  mode = word("without with", m)
  do for [i = 1:6] {
    set object 10 * m + i rectangle from before(mode, i), m - 1.3 to before(mode, i + 1), m - 0.7 \
      fillcolor linetype i fillstyle solid 0.9 noborder
  }
}
own = median("with", "Bind: ibpod-sm")
rest = median("with", "Bind: OpenSM and port")
set object 31 rectangle from 0, 1.7 to own, 2.3 fillcolor linetype 7 fillstyle solid 0.9 noborder
set object 32 rectangle from own, 1.7 to own + rest, 2.3 fillcolor linetype 8 fillstyle solid 0.9 noborder
whole = median("with", "whole") > median("without", "whole") ? median("with", "whole") : median("without", "whole")
set xrange [0:whole * 1.05]
plot for [i = 1:6] NaN with boxes linetype i title word(order, i), \
  NaN with boxes linetype 7 title "ibpod-sm", NaN with boxes linetype 8 title "OpenSM and port"
