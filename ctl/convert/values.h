// Readers of single variables. Each returns invalid with the variable's name, its value, and what
// would be right. Not for secrets, whose values no error has.
#pragma once

#include "ctl/convert/variables.h"
#include "lib/base/result.h"
#include "lib/ib/guid.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::ctl::convert {

// Empty if it is missing.
std::string text_of(const Variables& variables, std::string_view name);
// "NAME: TEXT"
Error wrong(std::string_view name, const std::string& text);
Error unexpected(const Variables& variables, std::string_view name, const std::string& expected);

// Not empty.
Result<std::string> required(const Variables& variables, std::string_view name);
// Nothing if it is missing. 0 to `most`.
Result<std::optional<unsigned>> read_number(const Variables& variables, std::string_view name,
                                            unsigned most);
// As Go's ParseMAC reads it: pairs with colons or dashes, or groups of four with dots.
Result<ib::Guid> read_guid(const Variables& variables, std::string_view name,
                           std::string_view otherwise);
// A host name, an IPv4 address, or an IPv6 address with or without brackets, in the form of a URL.
Result<std::string> read_host(const Variables& variables, std::string_view name);

// True if it has an ASCII control character.
bool has_control(std::string_view value);

}  // namespace ibpod::ctl::convert
