// The section "ufm" of the configuration, and what the engine ufm means for other sections.
#pragma once

#include "sm/config/config.h"
#include "sm/config/keys.h"

namespace ibpod::sm::config {

void read_ufm(Keys& section, UfmSettings& settings, Errors& errors);

// invalid if the section and the engine do not belong together.
Status check_ufm(const Config& config);

// Adds an error for each key of other sections that UFM cannot be given. `document`: the file.
void refuse_without_effect(const json::Value& document, Errors& errors);
state::Policy::Unsupported unsupported_by_ufm();

// A text that passes https::check_address().
Result<std::string> read_ufm_address(const json::Value& value);

}  // namespace ibpod::sm::config
