#include "sm/ufm/document.h"

#include "lib/json/parts.h"

namespace ibpod::sm::ufm {
namespace {

// A fabric of 40,000 ports in 30 partitions each.
constexpr size_t kMostValues = 4'000'000;

}  // namespace

bool is_html(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != text.npos && text[first] == '<';
}

Result<json::Value> parse_document(std::string_view text) {
  if (is_html(text)) return Error(Code::invalid, "expected JSON, got HTML");
  TRY(json::check_parts(text, kMostValues));
  return json::Value::parse(text);
}

}  // namespace ibpod::sm::ufm
