// P_Keys, GUIDs and times as texts of UFM's REST interface.
#pragma once

#include "lib/base/result.h"
#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "tests/support/ufm/rest_settings.h"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::fake_ufm {

// Hexadecimal, with 0x or without. A number of more than 16 bits is invalid.
Result<ib::PKey> read_pkey(std::string_view text);
// 16 hexadecimal digits, alone, behind 0x, or in four groups with colons.
Result<ib::Guid> read_guid(std::string_view text);
// Separated by commas.
Result<std::vector<ib::Guid>> read_guids(std::string_view list);
std::vector<std::string> split(std::string_view text, char separator);

std::string show(ib::PKey pkey, const RestSettings& settings);
std::string show(ib::Guid guid, const RestSettings& settings);
std::string show(std::chrono::system_clock::time_point time, const RestSettings& settings);

}  // namespace ibpod::fake_ufm
