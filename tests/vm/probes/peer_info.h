// How the probers of one machine find each other: each keeps a file, named like its pod, that says
// how it is reached.
#pragma once

#include "lib/base/result.h"
#include "tests/vm/probes/probe.h"

#include <filesystem>
#include <vector>

namespace ibpod::probes {

using Index = unsigned;  // in a port's P_Key table
using QpNumber = uint32_t;

struct PeerInfo {
  std::string pod;
  uint32_t session = 0;
  Tenants tenants;
  uint16_t lid = 0;
  std::string address;                  // of IPoIB; "-": none
  std::map<Index, QpNumber> datagrams;  // its UD queue pairs, by the index of their P_Key
  // Its end of a reliable connection, of which both ends have a P_Key's index.
  struct Connection {
    std::string peer;
    uint32_t peer_session = 0;
    Index mine = 0, theirs = 0;
    QpNumber number = 0;
    // Both ends start over together: they speak within the same life only. A queue pair whose other
    // end does not receive yet, or no longer, breaks.
    unsigned life = 0;
    bool receives = false;  // from the other end, in this life
    bool has_sent = false;  // in this life or an earlier one
    bool operator==(const Connection&) const = default;
  };
  std::vector<Connection> connections;
  bool operator==(const PeerInfo&) const = default;
};

std::string text_of(const PeerInfo& info);
Result<PeerInfo> parse_peer_info(std::string_view text);

Status write_peer_info(const std::filesystem::path& folder, const PeerInfo& info);
Status remove_peer_info(const std::filesystem::path& folder, const std::string& pod);
using Peers = std::map<std::string, PeerInfo>;  // by pod
// All but that pod's. A folder's listing can leave out one that is being replaced: those of `known`
// are looked for by their names, too. A damaged one is none.
Peers read_peers(const std::filesystem::path& folder, const std::string& but,
                 const Peers& known = {});

}  // namespace ibpod::probes
