// For any text: it is accepted or refused with a reason, and an accepted value is written so that
// it reads the same again, in both forms.
#include "lib/json/fields.h"
#include "lib/json/value.h"
#include "tests/support/fuzz.h"

namespace ibpod::json {
namespace {

using fuzz::require;

// Every value knows where it stands, and there is an end to how deep that is.
void visit(const Value& value, int depth) {
  constexpr int kDeepest = 64;
  require(depth <= kDeepest);
  require(value.wrong("x").text().ends_with(": x"));
  const auto elements = value.elements();
  require(elements.ok() == value.is_array());
  if (elements)
    for (const Value& element : *elements) visit(element, depth + 1);
  const auto members = value.members();
  require(members.ok() == value.is_object() && Fields::of(value).ok() == value.is_object());
  if (members)
    for (const auto& [name, member] : *members) visit(member, depth + 1);
}

void check(std::string_view text, Comments comments) {
  const auto value = Value::parse(text, comments);
  if (!value) return fuzz::check_refusal(value.error(), text.size());
  visit(*value, 0);
  require(Value::parse(value->text()).value().text() == value->text());
  require(Value::parse(value->pretty()).value().text() == value->text());
}

}  // namespace
}  // namespace ibpod::json

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod::json;
  check(ibpod::fuzz::text_of(data, size), Comments::refused);
  check(ibpod::fuzz::text_of(data, size), Comments::allowed);
  return 0;
}
