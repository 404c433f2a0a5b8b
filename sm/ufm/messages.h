// The JSON of UFM's REST interface. What is parsed came over the network: every error of a parse_…
// function is unavailable, and names the place and what would be right. UFM's words in it are
// bounded and printable.
#pragma once

#include "sm/ufm/ufm_api.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::ufm {

// An entry in a list of partitions.
struct ListedPartition {
  UfmPartition partition;
  // False: the list does not show members, so they are unknown.
  bool has_members = false;
  bool operator==(const ListedPartition&) const = default;
};

// By P_Key, each once. Releases answer with a list of P_Keys, a list of objects, or an object with
// one member for each P_Key.
Result<std::vector<ListedPartition>> parse_partitions(std::string_view text);
// The answer about one partition; empty if it is {}. An answer without members, or about another
// P_Key, is an error.
Result<std::optional<UfmPartition>> parse_partition(std::string_view text, ib::PKey pkey);

Result<std::string> parse_version(std::string_view text);
// The document has M_Keys in it: errors quote nothing else than these two settings.
Result<SiteSettings> parse_settings(std::string_view text);
// By GUID. A GUID that appears twice is an error.
Result<std::vector<ib::Guid>> parse_ports(std::string_view text);
// The same; without virtual ports that have no GUID yet.
Result<std::vector<UfmVport>> parse_vports(std::string_view text);

// By ID, each once: {"1": {"physical-port-guid": [...], "virtual-port-guid": [...]}}.
Result<std::vector<GuidGroup>> parse_guid_groups(std::string_view text);
// The ID of a new group: a number, or a word with one.
Result<uint64_t> parse_group_id(std::string_view text);

// Checks the body of an answer to a change that has a status of success: unavailable if it is HTML,
// so not UFM's. Nothing else in it counts: no source says that UFM names refused GUIDs under a
// status of success, and what has become of them is read afterwards.
Status check_change(std::string_view text);

std::string write_addition(const Addition& addition);
// An empty partition with the flags of this addition.
std::string write_creation(const Addition& addition);
// GUIDs with 0x, as UFM's manual has them here. Without tenant_vport_lids NVIDIA's OpenSM would
// give the virtual ports of the group no LIDs.
std::string write_guid_group(ib::Guid physical, const std::vector<ib::Guid>& vfs);
std::string write_removal(ib::PKey pkey, const std::vector<ib::Guid>& guids);
// 16 hex digits each, joined by commas, as in the path of a removal.
std::string join_guids(const std::vector<ib::Guid>& guids);

}  // namespace ibpod::sm::ufm
