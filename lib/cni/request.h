// Request: one call of a runtime, from the environment and standard input, checked.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/cni/version.h"
#include "lib/json/value.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::cni {

enum class Verb { add, del, check, gc, status, version };
std::string_view name(Verb verb);  // "ADD" …

using Environment = std::map<std::string, std::string>;

// Which pod, from CNI_ARGS (K8S_POD_…); empty where the runtime did not say.
struct Pod {
  std::string name, name_space, uid;
  bool operator==(const Pod&) const = default;
};

// The environment of a call. Every field has passed the specification's checks.
struct Call {
  Verb verb = Verb::version;
  std::string container_id;  // [a-zA-Z0-9][a-zA-Z0-9_.-]*, at most 255; safe in a file name
  Path netns;                // absolute; empty for DEL of a namespace that is gone
  // 1 to 15 bytes, without '/', ':', '%' (the kernel takes it for a pattern), white space and
  // control characters, not "." or "..".
  std::string ifname;
  std::vector<Path> path;  // CNI_PATH
  std::string args;        // CNI_ARGS as it came
  Pod pod;  // for DEL empty where CNI_ARGS is malformed: a clean-up is not refused for it
  Environment environment;  // the whole, for IPAM plugins: they must get what we got (section 4)
};
// invalid, naming the variable, the value and what would be right, or all variables that are
// missing. VERSION needs CNI_COMMAND only, DEL may have an empty CNI_NETNS. GC and STATUS concern
// no attachment: whatever names one is ignored. CNI_PATH may be missing; then no IPAM plugin is
// found.
Result<Call> parse_call(const Environment& environment);

// The folders of a CNI_PATH, without the empty ones.
std::vector<Path> split_path(const std::string& list);

// Which attachment: one interface of one container.
struct Attachment {
  std::string container_id;
  std::string ifname;
  auto operator<=>(const Attachment&) const = default;
};

// The configuration's keys that the specification owns; a plugin's own are read from `document`.
struct Network {
  json::Value document;  // the whole configuration
  std::string text;      // the bytes it was read from
  Version version;
  std::string name;  // required for all verbs but VERSION; at most 255, safe as a file name
  std::string type;
  std::string ipam_type;  // "" where there is no ipam, or an empty one
  json::Value dns;        // null where there is none
  std::optional<json::Value> prev_result;
  // GC: cni.dev/valid-attachments, or its old misspelling; none where neither is there.
  std::vector<Attachment> valid_attachments;
  // The faults that parse_network_for_del() ignores.
  std::vector<std::string> warnings;
};

// The keys that parse_network() reads: plugins do not count them as unknown.
// clang-format off
inline constexpr std::array<std::string_view, 11> kNetworkKeys{
    "cniVersion", "name", "type", "capabilities", "ipam", "dns", "args", "prevResult", "runtimeConfig",
    "cni.dev/valid-attachments", "cni.dev/attachments"};
// clang-format on

// The limit of a network's name and of a container's ID, in bytes: that of a file name, since both
// become part of one.
inline constexpr size_t kLongestName = 255;

// A limit of standard input: in bytes, and in values, which is what parsing it takes time for
// (json/parts.h). A record keeps a network as long as its pod lives.
struct Size {
  size_t bytes, values;
};
inline constexpr Size kLargestNetwork{64 << 10, 2048};
// GC names all attachments that are valid. DEL takes a network that another ibpod may have let in.
inline constexpr Size kLargestForGc{1 << 20, 16'384}, kLargestForDel{16 << 20, 16'384};
// The limit of standard input for every call: no more is read.
inline constexpr size_t kLargestInput = kLargestForDel.bytes;

// invalid with the path of what is wrong, and the number it is to be reported as: 6 where it is no
// JSON or no object, 1 for a version that we do not speak, 7 for all else. A key that differs from
// a known one only by case is taken for it (lib/json/fields.h); unknown keys are the plugin's.
Result<json::Value> parse_document(std::string_view text);
Result<Version> parse_version_of(const json::Value& document);
Result<Network> parse_network(json::Value document, std::string text);
// For DEL, which has to work whatever has become of the configuration since: only the version, in
// which it is answered, and the name are required. Any other key that is wrong becomes a warning,
// and is as good as missing.
Result<Network> parse_network_for_del(json::Value document, std::string text);

}  // namespace ibpod::cni
