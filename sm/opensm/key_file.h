// Key files: each holds one secret number in C's hexadecimal form: 0x and up to 16 digits.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"

#include <cstdint>

namespace ibpod::sm::opensm {

// denied if others have access to the file (lib/base/private_file.h); invalid if it holds no key.
// Errors name the file and never quote it.
Result<uint64_t> read_key_file(const Path& path);

// The key and, if others can read the file, the error of read_key_file(): for callers that need the
// key anyway. denied if others can write the file.
struct OpenKey {
  uint64_t key = 0;
  Status file = ok();
};
Result<OpenKey> read_open_key_file(const Path& path);

}  // namespace ibpod::sm::opensm
