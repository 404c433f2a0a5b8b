// The values in UFM's JSON: its releases spell P_Keys, GUIDs and flags differently. All errors are
// invalid, with the place.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "lib/json/value.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::sm::ufm {

// Hex in any case, with or without 0x and zeros in front: 0x0001 to 0x7fff.
Result<ib::PKey> parse_pkey(std::string_view text);
Result<ib::PKey> read_pkey(const json::Value& value);
// The same for a GUID that a port can have; also with colons.
Result<ib::Guid> read_guid(const json::Value& value);

// true and false, also as a word or as 1 and 0. Nothing for another word: unknown.
Result<std::optional<bool>> read_flag(const json::Value& value);
// full and limited. Nothing for another word.
Result<std::optional<ib::Membership>> read_membership(const json::Value& value);
// At most 64 bytes of printable ASCII.
Result<std::string> read_name(const json::Value& value);

// The forms in which ibpod-sm writes them: 0x5, and 16 hex digits.
std::string pkey_text(ib::PKey pkey);
std::string guid_text(ib::Guid guid);

}  // namespace ibpod::sm::ufm
