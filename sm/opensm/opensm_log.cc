#include "sm/opensm/opensm_log.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ibpod::sm::opensm {
namespace {

// OpenSM's own buffer for one entry is 4,096 bytes (osm_log.c).
constexpr size_t kMostLine = 4096;

struct Line {
  std::string_view thread;
  std::string_view text;
};

// "Nov 22 08:09:52 031570 [895D76C0] 0x04 -> TEXT"
std::optional<Line> split(std::string_view line) {
  constexpr size_t kMostBefore = 64;
  const size_t arrow = line.substr(0, kMostBefore).find(" -> ");
  if (arrow == std::string_view::npos) return std::nullopt;
  const std::string_view before = line.substr(0, arrow);
  const size_t open = before.find('[');
  const size_t close = before.find("] 0x");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return std::nullopt;
  return Line{before.substr(open + 1, close - open - 1), line.substr(arrow + 4)};
}

struct Saying {
  std::string_view start;  // where the text begins
  LogMark mark;
};

// Messages of the thread that sweeps (osm_state_mgr.c, osm_prtn.c, osm_pkey_mgr.c). The first one
// has level VERBOSE.
constexpr std::array kOfSweeps{
    Saying{"state_mgr_sweep_hop_0:", LogMark::sweep_begins},
    Saying{"SUBNET UP", LogMark::subnet_up},
    Saying{"Errors during initialization", LogMark::sweep_failed},
    Saying{"SM port is down", LogMark::port_down},
    Saying{"SM port is up", LogMark::port_up},
    Saying{"osm_prtn_make_partitions: Partition configuration in error", LogMark::default_config},
    Saying{"pkey_mgr_update_port: ERR 0512", LogMark::table_full},
    Saying{"pkey_mgr_update_peer_port: ERR 0507", LogMark::enforcement_lost},
};
// Messages of any thread (osm_sm_state_mgr.c, osm_sm.c).
constexpr std::array kOfStates{
    Saying{"Entering MASTER state", LogMark::master},
    Saying{"Entering STANDBY state", LogMark::standby},
    Saying{"Entering NOTACTIVE state", LogMark::not_active},
    Saying{"Entering DISCOVERING state", LogMark::discovering},
    Saying{"Exiting SM", LogMark::exiting},
};

template <typename Sayings>
std::optional<LogMark> find_in(const Sayings& sayings, std::string_view text) {
  const auto found = std::find_if(sayings.begin(), sayings.end(), [&](const Saying& saying) {
    return text.starts_with(saying.start);
  });
  if (found == sayings.end()) return std::nullopt;
  return found->mark;
}

// Exactly "OpenSM 3.3.23": lines may also have names of nodes.
bool begins_process(std::string_view line) {
  constexpr std::string_view kProgram = "OpenSM ";
  const std::optional<Line> said = split(line);
  if (!said || !said->text.starts_with(kProgram)) return false;
  const std::string_view version = said->text.substr(kProgram.size());
  return version.substr(0, 1).find_first_of("0123456789") == 0 &&
         version.find_first_of(" \t\"'(") == std::string_view::npos;
}

}  // namespace

std::string_view of_last_process(std::string_view log) {
  size_t begin = 0;
  for (size_t at = 0; at < log.size();) {
    const size_t end = std::min(log.find('\n', at), log.size());
    if (begins_process(log.substr(at, end - at))) begin = end;
    at = end + 1;
  }
  return log.substr(begin);
}

void LogReader::take_line(std::string_view line, std::vector<LogMark>& marks) {
  const std::optional<Line> said = split(line);
  if (!said) return;
  if (const auto state = find_in(kOfStates, said->text)) marks.push_back(*state);
  const auto mark = find_in(kOfSweeps, said->text);
  if (!mark) return;
  if (sweeper_.empty() && *mark == LogMark::sweep_begins) sweeper_ = said->thread;
  if (said->thread == sweeper_) marks.push_back(*mark);
}

std::vector<LogMark> LogReader::take(std::string_view bytes) {
  std::vector<LogMark> marks;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    line_.append(piece.substr(0, kMostLine - std::min(kMostLine, line_.size())));
    if (end == std::string_view::npos) return marks;
    take_line(line_, marks);
    line_.clear();
    bytes.remove_prefix(end + 1);
  }
  return marks;
}

void LogReader::restart() {
  line_.clear();
  sweeper_.clear();
}

}  // namespace ibpod::sm::opensm
