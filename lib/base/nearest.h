// Suggests the known word that an unknown word (a key, a command, a value) was probably meant to
// be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

// The word of `known` that `name` is most likely a misspelling of; empty if none is near. Case does
// not count.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known);
// Like nearest(), but stricter: at most one letter in four differs, and at most two in all.
std::string_view sure_slip(std::string_view name, const std::vector<std::string_view>& known);
// "; did you mean "link_state"?", or empty.
std::string is_meant(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace ibpod
