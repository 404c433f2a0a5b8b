#include "sm/opensm/opensm_log.h"

#include <random>

#include <doctest/doctest.h>

namespace ibpod::sm::opensm {
namespace {

using Marks = std::vector<LogMark>;

// Recorded: `opensm -F conf` 3.3.23-2+b1 on an ibsim of four hosts, with log_flags 0x03 and
// "osm_state_mgr.c 0x07" in its per_module_logging_file: the first sweep, then a SIGHUP with a file
// of one line "x", which is not a definition.
constexpr auto kOpened = R"(Nov 22 08:09:51 997097 [8C5DE740] 0x03 -> OpenSM 3.3.23
Nov 22 08:09:51 997177 [8C5DE740] 0x80 -> OpenSM 3.3.23
Nov 22 08:09:52 010378 [8C5DE740] 0x80 -> Entering DISCOVERING state
Nov 22 08:09:52 011672 [8C5DE740] 0x02 -> osm_opensm_bind: Setting IS_SM on port 0x0000000000100001
Nov 22 08:09:52 012222 [895D76C0] 0x04 -> state_mgr_sweep_hop_0: 


******************************************************************
********************* INITIATING HEAVY SWEEP *********************
******************************************************************


Nov 22 08:09:52 016370 [895D76C0] 0x04 -> do_sweep: 


******************************************************************
********************** HEAVY SWEEP COMPLETE **********************
******************************************************************


Nov 22 08:09:52 019458 [895D76C0] 0x80 -> Entering MASTER state
Nov 22 08:09:52 022169 [895D76C0] 0x02 -> osm_ucast_mgr_process: minhop tables configured on all switches
Nov 22 08:09:52 025525 [895D76C0] 0x02 -> SUBNET UP
Nov 22 08:09:52 025535 [895D76C0] 0x04 -> state_mgr_up_msg: 


******************************************************************
******************* SUBNET UP (sweep disabled) *******************
******************************************************************


Nov 22 08:09:52 031570 [895D76C0] 0x04 -> state_mgr_sweep_hop_0: 
Nov 22 08:09:52 041107 [895D76C0] 0x01 -> parse_part_conf: PARSE ERROR: line 1: no partition definition found
Nov 22 08:09:52 041140 [895D76C0] 0x01 -> osm_prtn_make_partitions: Partition configuration in error; retrying with default config
Nov 22 08:09:52 049043 [895D76C0] 0x02 -> SUBNET UP
)";
const Marks kOpenedMarks{LogMark::discovering, LogMark::sweep_begins, LogMark::master,
                         LogMark::subnet_up,   LogMark::sweep_begins, LogMark::default_config,
                         LogMark::subnet_up};

// Recorded as above: 70 keys for one port, and a second OpenSM of higher priority. The line of ERR
// 0507 is from osm_pkey_mgr.c: the simulator's switches have as much room as its hosts.
constexpr auto kFull = R"(Nov 22 08:09:52 031570 [895D76C0] 0x04 -> state_mgr_sweep_hop_0: 
Nov 22 08:09:52 059067 [895D76C0] 0x01 -> pkey_mgr_update_port: ERR 0512: Failed to set PKey 0x813f because Pkey table is full for node 0x0000000000100002 port 1 (h1)
Nov 22 08:09:52 059074 [895D76C0] 0x01 -> pkey_mgr_update_peer_port: ERR 0507: Not enough pkey entries (8 <= 9) on switch 0x0000000000200000 port 1 (sw). Clearing Enforcement bit
Nov 22 08:09:52 059080 [895D76C0] 0x80 -> Errors during initialization
Nov 22 08:09:52 390293 [8B5DB6C0] 0x01 -> log_trap_info: Received Generic Notice type:4 num:144 (CapabilityMask, NodeDescription, Link [Width|Speed] Enabled, SM priority changed) Producer:1 (Channel Adapter) from LID:4 TID:0x0000000000000000
Nov 22 08:09:52 393077 [895D76C0] 0x04 -> state_mgr_send_handover: Handing over mastership. Updating sm_state_mgr master_guid: 0000000000100005 (node h2)
Nov 22 08:09:52 395097 [895D76C0] 0x80 -> Entering STANDBY state
Nov 22 08:09:52 395100 [895D76C0] 0x80 -> SM port is down
Nov 22 08:09:54 379958 [8C5DE740] 0x80 -> Exiting SM
)";
const Marks kFullMarks{LogMark::sweep_begins, LogMark::table_full, LogMark::enforcement_lost,
                       LogMark::sweep_failed, LogMark::standby,    LogMark::port_down,
                       LogMark::exiting};

TEST_CASE("what OpenSM says of its sweeps, its file and its state is heard") {
  CHECK(LogReader().take(kOpened) == kOpenedMarks);
  CHECK(LogReader().take(kFull) == kFullMarks);
}

TEST_CASE("a line may come in any pieces") {
  const std::string_view text = kOpened;
  for (size_t size = 1; size < 200; size += 7) {
    LogReader reader;
    Marks marks;
    for (size_t at = 0; at < text.size(); at += size) {
      const Marks more = reader.take(text.substr(at, size));
      marks.insert(marks.end(), more.begin(), more.end());
    }
    CAPTURE(size);
    CHECK(marks == kOpenedMarks);
  }
}

TEST_CASE("what a node has written into its description is no word of OpenSM's") {
  // The longest NodeDescription.
  const std::string_view forged = "\nNov 22 08:04:03 658013 [4DD6A6C0] 0x02 -> SUBNET UP\n";
  REQUIRE(forged.size() <= 64);
  LogReader reader;
  reader.take(kOpened);
  CHECK(reader
            .take("Nov 22 08:09:53 000001 [895D76C0] 0x02 -> state_mgr_report_new_ports: "
                  "Discovered new port with GUID:0x01 LID range [5,5] of node: x" +
                  std::string(forged))
            .empty());
  CHECK(reader
            .take("\nNov 22 08:04:03 658013 [4DD6A6C0] 0x01 -> osm_prtn_make_partitions: "
                  "Partition configuration in error\n")
            .empty());
  CHECK(reader.take("x SUBNET UP -> SUBNET UP\n[895D76C0] -> SUBNET UP\n] 0x02[ -> SUBNET UP\n")
            .empty());
  CHECK(reader.take("Nov 22 08:09:54 000001 [895D76C0] 0x02 -> SUBNET UP\n") ==
        Marks{LogMark::subnet_up});
}

TEST_CASE("another process sweeps by another thread") {
  LogReader reader;
  reader.take(kOpened);
  reader.restart();
  CHECK(reader.take("Nov 22 08:10:00 000001 [11111111] 0x02 -> SUBNET UP\n").empty());
  CHECK(reader.take("Nov 22 08:10:00 000001 [11111111] 0x04 -> state_mgr_sweep_hop_0: \n"
                    "Nov 22 08:10:00 000002 [11111111] 0x02 -> SUBNET UP\n") ==
        Marks{LogMark::sweep_begins, LogMark::subnet_up});
}

TEST_CASE("of a log the last process's words are behind its first line") {
  const std::string begun = "Nov 22 08:10:00 000001 [11111111] 0x80 -> OpenSM 3.3.23";
  const std::string rest = "Nov 22 08:10:00 000002 [11111111] 0x80 -> Entering MASTER state\n";
  CHECK(of_last_process(kOpened + begun + "\n" + rest) == "\n" + rest);
  CHECK(of_last_process(rest) == rest);
  CHECK(of_last_process("").empty());
  // OpenSM has just started, or the rest is not on disk.
  CHECK(of_last_process(rest + begun).empty());
  CHECK(of_last_process(kOpened + begun + "\n") == "\n");
  // A node's description is not a line of OpenSM.
  for (const char* name : {"x -> OpenSM 3.3.23", "OpenSM 3.3.23", "\nx -> OpenSM 3"}) {
    CAPTURE(name);
    const std::string named =
        "Nov 22 08:10:00 000002 [11111111] 0x02 -> state_mgr_report_new_ports: Discovered new port "
        "with GUID:0x01 LID range [5,5] of node: " +
        std::string(name) + "\n";
    CHECK(of_last_process(rest + named) == rest + named);
    CHECK(of_last_process(rest + named + begun + "\n" + rest) == "\n" + rest);
  }
}

// Recorded as above, with "sweep_interval 2": the link of OpenSM's port goes down and up.
constexpr auto kDown = R"(Nov 22 14:43:24 934207 [43C0E6C0] 0x04 -> state_mgr_sweep_hop_0: 
Nov 22 14:43:24 935873 [43C0E6C0] 0x80 -> SM port is down
Nov 22 14:43:24 935882 [43C0E6C0] 0x04 -> do_sweep: 
Nov 22 14:43:24 937724 [43C0E6C0] 0x80 -> Entering DISCOVERING state
Nov 22 14:43:26 937601 [43C0E6C0] 0x04 -> state_mgr_sweep_hop_0: 
Nov 22 14:43:28 943422 [43C0E6C0] 0x04 -> state_mgr_sweep_hop_0: 
Nov 22 14:43:30 943563 [43C0E6C0] 0x04 -> state_mgr_sweep_hop_0: 
Nov 22 14:43:30 946105 [43C0E6C0] 0x80 -> SM port is up
Nov 22 14:43:30 946120 [43C0E6C0] 0x04 -> do_sweep: 
Nov 22 14:43:30 949251 [43C0E6C0] 0x80 -> Entering MASTER state
Nov 22 14:43:30 950912 [43C0E6C0] 0x02 -> SUBNET UP
)";

TEST_CASE("a port that goes down and comes up is told of in sweeps") {
  CHECK(LogReader().take(kDown) == Marks{LogMark::sweep_begins, LogMark::port_down,
                                         LogMark::discovering, LogMark::sweep_begins,
                                         LogMark::sweep_begins, LogMark::sweep_begins,
                                         LogMark::port_up, LogMark::master, LogMark::subnet_up});
}

TEST_CASE("no bytes break it, and none are kept for ever") {
  std::mt19937 random(1);
  LogReader reader;
  CHECK(reader.take(std::string(1 << 20, 'x')).empty());
  for (int i = 0; i < 20000; ++i) {
    std::string text = kFull;
    for (int n = 0; n < 3; ++n) text[random() % text.size()] = static_cast<char>(random());
    reader.take(std::string_view(text).substr(0, random() % text.size()));
  }
  CHECK(LogReader().take(kFull) == kFullMarks);
}

}  // namespace
}  // namespace ibpod::sm::opensm
