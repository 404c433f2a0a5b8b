// Fields of messages and their limits. Each reader returns invalid with the field, its value and
// the expected form.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/binding.h"
#include "lib/fabric/membership.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::fabricapi {

// The most that one message may list, in addition to gRPC's limit of its bytes.
inline constexpr int kMostMemberships = 64;                      // partitions of one binding
inline constexpr int kMostAttachments = 10'000;                  // of one node
inline constexpr int kMostPorts = 10'000;                        // of one node
inline constexpr int kMostTableEntries = ib::kMostTableEntries;  // of a P_Key table
// For all tables in one report of a node: 128 entries for each of 4,096 VFs.
inline constexpr int kMostReportedTableEntries = 512 << 10;
inline constexpr int kMostSubjects = 2;          // of an Explain
inline constexpr int kMostVfs = 4'096;           // of one PF
inline constexpr int kMostMembers = 10'000;      // ports outside Kubernetes, of one partition
inline constexpr int kMostNamespaces = 10'000;   // of one partition
inline constexpr int kMostNodePatterns = 1'000;  // of one partition
inline constexpr int kMostPlanned = 1'000;       // ports of one plan

// In bytes: a container's ID, and an interface's name (IFNAMSIZ without the terminator).
inline constexpr size_t kLongestContainer = 256;
inline constexpr size_t kLongestInterface = 15;

Error wrong(std::string_view field, std::string_view got, std::string_view expected);
Error wrong_number(std::string_view field, int64_t got, std::string_view expected);
Status check_count(std::string_view field, int count, int most);

// A pod's name in Kubernetes: at most 253 bytes of lowercase letters, digits, - and .
Result<std::string> read_name(std::string_view field, const std::string& text);
// A node's name in Kubernetes, with its cluster unless that is the default one
// (lib/fabric/cluster_names.h).
Result<std::string> read_node(std::string_view field, const std::string& text);
// A DNS label of at most 63 bytes, with its cluster in the same way.
Result<std::string> read_namespace(std::string_view field, const std::string& text);
// Text that is only compared and shown: 1 to `most` bytes of printable ASCII, without spaces.
Result<std::string> read_word(std::string_view field, const std::string& text, size_t most);
// A container's ID from the runtime, without '/', which separates the parts of an Attachment's
// text().
Result<std::string> read_container(std::string_view field, const std::string& text);
// The name of an interface, valid for Linux (dev_valid_name in net/core/dev.c) and as UTF-8.
Result<std::string> read_interface(std::string_view field, const std::string& text);
// "0000:3b:00.2"
Result<std::string> read_pci(std::string_view field, const std::string& text);
// As fabric::Partition::name, to find a partition.
Result<std::string> read_partition_name(std::string_view field, const std::string& text);
Result<ib::Guid> read_guid(std::string_view field, uint64_t value);

// A word of a closed set.
template <typename Enum>
Result<Enum> read_enum(std::string_view field, const std::string& text,
                       std::optional<Enum> (*parse)(std::string_view), std::string_view expected) {
  const std::optional<Enum> value = parse(text);
  if (!value) return wrong(field, text, expected);
  return *value;
}
Result<fabric::Membership> read_membership(std::string_view field, const std::string& text);
Result<fabric::BindingState> read_state(std::string_view field, const std::string& text);

// Text from a subnet made safe for every reader: each broken UTF-8 character and each control
// character becomes "?".
std::string cleaned(std::string_view text);

}  // namespace ibpod::fabricapi
