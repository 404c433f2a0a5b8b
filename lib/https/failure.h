// The failure that the status of an HTTP answer means.
#pragma once

#include "lib/base/result.h"
#include "lib/https/exchange.h"

#include <optional>
#include <string_view>

namespace ibpod::https {

// True for a page of a web server.
bool is_html(std::string_view text);

// True for the answers to a path that is not served, or about something that does not exist.
bool is_not_found(const Answer& answer);

// Nothing for a success (200, 201, 202, 204). denied for 401 and 403; unavailable for a redirect,
// 408, 429 and 5xx; invalid for the rest. The text has the status and at most 200 bytes of the
// body.
std::optional<Error> failure_of(const Answer& answer);

}  // namespace ibpod::https
