// partitions.conf: the file from which OpenSM takes the partitions of its subnet, at its start and
// at every heavy sweep (option partition_config_file).
//
// OpenSM fails open: at any error it throws the whole file away and makes every port a full member
// of the default partition; and much that looks like an error it reads as something else. So the
// reader takes only what OpenSM reads without doubt, as OpenSM 3.3.23 reads it (osm_prtn_config.c,
// osm_prtn.c), and nothing is written unless the reader gets out of it what was meant.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fabric {

// Options of opensm.conf on which the meaning of the file depends; all are off by default.
struct OpenSmOptions {
  bool allow_both_pkeys = false;  // without it OpenSM makes `both` full
  bool qos = false;               // without it OpenSM makes every partition's sl 0
};

// How large the file may become: a change that makes it larger is refused. A file that an older
// ibpod-sm has let become larger is written up to kMostReadable, so that members can still leave
// it.
inline constexpr size_t kMostBytes = 16 << 20;
inline constexpr size_t kMostReadable = 64 << 20;
// The most bytes of a member that is named by its GUID ("\t0x0123456789abcdef=limited,\n"), and of
// a partition besides its members, without multicast groups.
inline constexpr size_t kMostMemberBytes = 29;
inline constexpr size_t kMostHeadBytes = 768;

// The partitions that OpenSM builds from the bytes of a file, in the file's order, definitions of
// one P_Key as one. invalid with line and column, what was found and what would be right, where
//   * OpenSM refuses the file, and thereby opens the fabric, or crashes on it;
//   * OpenSM reads something else than stands there, or what it reads depends on what it read
//   before;
//   * people may read it in two ways: a P_Key under two names or with different flags (but for
//     indx0, with which the first definitions may be, and the last ones not), an entry that a later
//     one overrides, two keys for one port's index 0;
//   * the end may be missing: the last ';'.
// The rule of the default partition has to be there, as Default=0x7fff.
Result<std::vector<PartitionDefinition>> read_partitions_conf(std::string_view text,
                                                              const OpenSmOptions& options);
// The same of part of a file, where the default partition need not be.
Result<std::vector<PartitionDefinition>> read_partitions(std::string_view text,
                                                         const OpenSmOptions& options);

// The whole file: `partitions`, in which the default partition has to be, and comes first; below
// them the administrator's own section, byte for byte. The text is judged before it is returned.
Result<std::string> render(const std::vector<PartitionDefinition>& definitions,
                           std::string_view manual, const OpenSmOptions& options);

// ok() only if reading `text` gives exactly `definitions` and after them those of the
// administrator's section, which is in it byte for byte, and if no P_Key is named by both: OpenSM
// would merge them.
Status verify_text(std::string_view text, const std::vector<PartitionDefinition>& definitions,
                   std::string_view manual, const OpenSmOptions& options);

// The administrator's section of a file that render() made; nothing if there is none, as in a file
// that another program wrote.
std::optional<std::string_view> manual_section(std::string_view text);

}  // namespace ibpod::fabric
