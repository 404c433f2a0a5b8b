// A bearer token in a file that its owner replaces, such as the kubelet.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <string>

namespace ibpod {

// The content without the line feed at its end. unavailable, with the file's name and never its
// content, if the file is missing or cannot be read; if it is empty; if it has other characters
// than a token (RFC 6750, 2.1); or if it has more than 7 KiB, as servers take 8 KiB of metadata or
// headers.
Result<std::string> read_token_file(const Path& file);

}  // namespace ibpod
