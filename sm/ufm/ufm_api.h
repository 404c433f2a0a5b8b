// UfmApi: the calls of UFM's REST interface that ibpod-sm makes. UfmClient makes them over HTTP;
// tests have a model of a UFM behind it. The paths and bodies are in docs/ufm.md.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::ufm {

// A port in a partition, as UFM shows it.
struct UfmMember {
  ib::Guid guid;
  // Empty if the answer does not have it: unknown, so never what was desired.
  std::optional<ib::Membership> membership = {};
  std::optional<bool> index0 = {};
  bool operator==(const UfmMember&) const = default;
};

struct UfmPartition {
  ib::PKey pkey;  // bit 15 clear. 0x0001 to 0x7fff
  std::string name = {};
  std::optional<bool> ip_over_ib = {};
  std::vector<UfmMember> members = {};  // by GUID, each once
  bool operator==(const UfmPartition&) const = default;
};

// The most GUIDs of one call: a URL with them stays below 8 KB, which web servers accept.
inline constexpr size_t kMostGuids = 400;

// Ports to be put into one partition with one membership. UFM takes only one for all GUIDs of a
// POST: it ignores a list of memberships, and makes every member full.
struct Addition {
  ib::PKey pkey;  // bit 15 clear
  ib::Membership membership = ib::Membership::limited;
  bool index0 = false;          // for all of `guids`
  bool ip_over_ib = false;      // of the partition
  std::vector<ib::Guid> guids;  // 1 to kMostGuids
  bool operator==(const Addition&) const = default;
};

// A site's settings in UFM's gv.cfg and opensm.conf, as far as they matter for partitions. Empty:
// this release of UFM does not show it.
struct SiteSettings {
  std::optional<ib::Membership> default_membership;  // of ports that no entry of 0x7fff names
  std::optional<bool> m_key_per_port;                // then no SMP of ours is answered
  bool operator==(const SiteSettings&) const = default;
};

// A virtual port, which UFM shows only while its own virtualization switch is on.
struct UfmVport {
  ib::Guid guid;
  ib::Guid port;  // the physical port that it is behind
  bool operator==(const UfmVport&) const = default;
};

// A group of UFM's mapping of physical to virtual GUIDs: UFM's OpenSM accepts these virtual GUIDs
// only behind these physical ports.
struct GuidGroup {
  uint64_t id = 0;                      // UFM's
  std::vector<ib::Guid> physical = {};  // sorted, each once, as the next one
  std::vector<ib::Guid> virtual_guids = {};
  // False: OpenSM gives these virtual ports no LIDs of their own. Empty: UFM does not show it.
  std::optional<bool> vport_lids = {};
  bool operator==(const GuidGroup&) const = default;
};
// Ports of VFs that one PF can have, with room to spare.
inline constexpr size_t kMostVfs = 1024;

// The peer that the last call has reached: why it was unavailable.
enum class Peer {
  none,     // no address has answered in time
  standby,  // only a UFM that is not the master of its pair has
  master,
};

// A call returns unavailable if UFM could not be reached, did not answer in time, is not the master
// of its pair, or answered 5xx or something that is not its own (HTML, cut JSON): it may have done
// what it was asked, or not. denied: UFM does not accept our credentials, or its user has no right
// to this call. invalid: UFM refuses the value, with its words. unsupported: this release of UFM
// does not serve the call (version(), settings(), ports(), vports() and those of groups of GUIDs
// only). An answer without error means that UFM has stored the change; whether it is in force, only
// a port's table shows.
// One thread at a time, but for cancel().
class UfmApi {
 public:
  UfmApi() = default;
  UfmApi(const UfmApi&) = delete;
  UfmApi& operator=(const UfmApi&) = delete;
  UfmApi(UfmApi&&) = delete;
  UfmApi& operator=(UfmApi&&) = delete;
  virtual ~UfmApi() = default;

  // All partitions with their members, by P_Key, each once.
  virtual Result<std::vector<UfmPartition>> partitions() = 0;
  // One of them. Empty if UFM says that it does not exist: releases say so by 404 or by {}.
  virtual Result<std::optional<UfmPartition>> partition(ib::PKey pkey) = 0;
  // Makes the partition if it does not exist. A GUID that is a member already gets the values of
  // this call.
  virtual Status add(const Addition& addition) = 0;
  // 1 to kMostGuids GUIDs. One that is no member changes nothing. UFM removes a partition with its
  // last member. ok if the partition does not exist.
  virtual Status remove(ib::PKey pkey, const std::vector<ib::Guid>& guids) = 0;

  // The groups of GUIDs, by ID. unsupported: this release of UFM has none.
  virtual Result<std::vector<GuidGroup>> guid_groups() = 0;
  // Makes a group of one physical port and 1 to kMostVfs virtual GUIDs, whose virtual ports may
  // have LIDs; returns its ID. After unavailable, UFM may have made it, also twice.
  virtual Result<uint64_t> add_guid_group(ib::Guid physical, const std::vector<ib::Guid>& vfs) = 0;
  // ok if there is no such group.
  virtual Status remove_guid_group(uint64_t id) = 0;

  virtual Peer peer() const { return Peer::none; }
  // Counts the times that a server was found to be the master: another one, or the same after it
  // has failed. It may lack what the one before had.
  virtual uint64_t master_generation() const { return 0; }
  // From any thread: ends the running call, and all later ones, with unavailable, within a second.
  // An implementation that cannot do that lets the call run until its timeout.
  virtual void cancel() {}

  // For preflight checks.
  // The errors of addresses that have denied us while another one is the master: after a failover
  // no UFM would accept us.
  virtual std::vector<std::string> denials() const { return {}; }
  virtual Result<std::string> version() = 0;
  virtual Result<SiteSettings> settings() = 0;
  virtual Result<std::vector<ib::Guid>> ports() = 0;
  virtual Result<std::vector<UfmVport>> vports() = 0;
};

}  // namespace ibpod::sm::ufm
