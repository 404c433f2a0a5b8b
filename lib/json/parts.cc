#include "lib/json/parts.h"

#include <string>

namespace ibpod::json {

Status check_parts(std::string_view text, size_t most) {
  size_t parts = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (in_string && letter == '\\') ++at;  // what is escaped ends no string
    if (letter == '"') in_string = !in_string;
    if (in_string || (letter != ',' && letter != '{' && letter != '[')) continue;
    if (++parts > most)
      return Error(Code::invalid,
                   "JSON: more than " + std::to_string(most) + " objects, lists and members");
  }
  return ok();
}

}  // namespace ibpod::json
