#include "sm/ufm/document.h"

#include "lib/https/failure.h"
#include "lib/json/parts.h"

namespace ibpod::sm::ufm {
namespace {

// A fabric of 40,000 ports in 30 partitions each.
constexpr size_t kMostValues = 4'000'000;

}  // namespace

Result<json::Value> parse_document(std::string_view text) {
  if (https::is_html(text)) return Error(Code::invalid, "expected JSON, got HTML");
  TRY(json::check_parts(text, kMostValues));
  return json::Value::parse(text);
}

}  // namespace ibpod::sm::ufm
