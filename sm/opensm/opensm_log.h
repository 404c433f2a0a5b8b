// Parses OpenSM's log for sweeps, its partitions file and its state. Values without I/O; log_tail.h
// follows the file.
//
// A log is untrusted: OpenSM writes node descriptions from the subnet into it unchanged, and they
// may hold a newline and a forged line. So lines about sweeps count only from the thread that
// sweeps, whose number no node on the subnet knows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::opensm {

enum class LogMark {
  sweep_begins,      // a heavy sweep begins; it reads partitions.conf later
  subnet_up,         // it ends
  sweep_failed,      // it ends, and some port did not answer
  default_config,    // partitions.conf is discarded, and the fabric is open
  table_full,        // ERR 0512: a port's table has no room for a key
  enforcement_lost,  // ERR 0507: a switch port's table has no room, and its enforcement is off
  master,
  standby,
  not_active,
  discovering,
  port_down,  // the subnet manager's port
  port_up,    // reported during a sweep, which goes on
  exiting,
};

// The part of a log that the running process has written: after the last line in which an OpenSM
// reports its start; the whole log if there is none.
std::string_view of_last_process(std::string_view log);

class LogReader {
 public:
  // The marks in the next bytes of the log, in order. A line may be split between two calls; the
  // end of a very long line is ignored.
  std::vector<LogMark> take(std::string_view bytes);
  // Call it if another process writes from here on, or if earlier bytes are missing: the next
  // thread that reports a sweep is then the one that sweeps.
  void restart();

 private:
  void take_line(std::string_view line, std::vector<LogMark>& marks);
  std::string line_;     // incomplete
  std::string sweeper_;  // the thread that sweeps; empty: not known yet
};

}  // namespace ibpod::sm::opensm
