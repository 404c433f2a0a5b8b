// UFM's answers as JSON documents, for the parsers of messages.h.
#pragma once

#include "lib/base/printable.h"
#include "lib/json/value.h"

#include <string_view>
#include <utility>

namespace ibpod::sm::ufm {

// invalid for HTML, and for a text that is no JSON or has more than four million values.
Result<json::Value> parse_document(std::string_view text);

// An answer that cannot be understood is not UFM's, or not from a release that ibpod knows: its
// error becomes unavailable, with a bounded text.
template <typename T>
Result<T> as_unavailable(Result<T> parsed) {
  constexpr size_t kMostText = 300;
  if (parsed) return parsed;
  return Error(Code::unavailable, printable(parsed.error().text(), kMostText));
}

}  // namespace ibpod::sm::ufm
