// The failure that the status of an HTTP answer means.
#pragma once

#include "lib/base/result.h"
#include "sm/ufm/http_exchange.h"

#include <optional>

namespace ibpod::sm::ufm {

// True for the answers to a path that UFM does not serve, or about something that does not exist.
bool is_not_found(const HttpAnswer& answer);

// Nothing for a success (200, 201, 202, 204). denied for 401 and 403; unavailable for a redirect,
// 408, 429 and 5xx; invalid for the rest. The text has the status and at most 200 bytes of the
// body.
std::optional<Error> failure_of(const HttpAnswer& answer);

}  // namespace ibpod::sm::ufm
