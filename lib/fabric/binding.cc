#include "lib/fabric/binding.h"

#include <array>

namespace ibpod::fabric {
namespace {

// In the order of the enumeration.
constexpr std::array<std::string_view, 2> kKinds{"vf", "child"};
constexpr std::array<std::string_view, 6> kStates{"requested", "written",  "verified",
                                                  "releasing", "released", "unknown"};
constexpr std::array<std::string_view, 16> kReasons{
    "none",        "waiting",   "unreachable",  "timeout", "refused",       "misconfigured",
    "capacity",    "port down", "port unknown", "vport",   "not permitted", "foreign key",
    "missing key", "duplicate", "no master",    "lease"};
constexpr std::array<std::string_view, 3> kEnforcements{"unknown", "hca", "leaf"};

template <typename Enum, size_t Size>
std::optional<Enum> find(const std::array<std::string_view, Size>& names, std::string_view text) {
  for (size_t i = 0; i < Size; ++i)
    if (names[i] == text) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string text(const Attachment& attachment) {
  return attachment.node + "/" + attachment.container + "/" + attachment.interface;
}

std::string_view name(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }
std::optional<Kind> parse_kind(std::string_view text) { return find<Kind>(kKinds, text); }

std::string_view name(BindingState state) { return kStates[static_cast<size_t>(state)]; }
std::optional<BindingState> parse_state(std::string_view text) {
  return find<BindingState>(kStates, text);
}

std::string_view name(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }
std::optional<Reason> parse_reason(std::string_view text) { return find<Reason>(kReasons, text); }

Words<Proof> words_of(Proof) {
  return {{"node", Proof::node}, {"port", Proof::port}, {"none", Proof::none}};
}
std::string_view name(Proof proof) { return word_of(words_of(proof), proof); }
std::optional<Proof> parse_proof(std::string_view text) {
  return find_word(words_of(Proof()), text);
}

bool satisfies(Proof seen, Proof wanted) {
  return wanted == Proof::none || seen == Proof::port || seen == wanted;
}

std::string_view name(Enforcement enforcement) {
  return kEnforcements[static_cast<size_t>(enforcement)];
}
std::optional<Enforcement> parse_enforcement(std::string_view text) {
  return find<Enforcement>(kEnforcements, text);
}

}  // namespace ibpod::fabric
