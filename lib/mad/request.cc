#include "lib/mad/request.h"

namespace ibpod::mad {

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::unreachable:
      return "unreachable";
    case Reason::timeout:
      return "timeout";
    case Reason::deadline:
      return "deadline";
    case Reason::refused:
      return "refused";
    case Reason::not_permitted:
      return "not permitted";
    case Reason::malformed:
      return "malformed";
    case Reason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string Failure::text() const {
  std::string text(name(reason));
  if (reason == Reason::refused) text += ": " + status_text(status);
  return text;
}

}  // namespace ibpod::mad
