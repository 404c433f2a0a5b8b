// What was probably meant by a word that nobody knows: of a key, a command, a value of a closed
// set.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ibpod {

// The one of `known` that `name` is most likely a slip of; empty where none is near. Case does not
// count.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known);
// The same where hardly anything else can be meant: at most one letter in four differs, and two in
// all.
std::string_view sure_slip(std::string_view name, const std::vector<std::string_view>& known);
// "; did you mean "link_state"?", or nothing.
std::string is_meant(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace ibpod
