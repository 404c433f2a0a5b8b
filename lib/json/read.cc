#include "lib/json/read.h"

namespace ibpod::json {

Result<Path> read_path(const Value& value) {
  const std::string text = TRY(value.string());
  const Path path = text;
  const bool plain = path.lexically_normal().native() == text && text.find('\0') == text.npos;
  if (path.is_absolute() && plain)
    return path.has_filename() ? path : path.parent_path();  // "/a/" is "/a"
  return value.wrong(R"(expected an absolute path without "." and "..", got )" + value.text());
}

}  // namespace ibpod::json
