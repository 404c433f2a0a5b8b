// The standard streams of a plugin's process, whatever state it was started in.
#pragma once

#include "lib/base/result.h"

#include <string_view>

namespace ibpod::cni {

// To be called before anything is opened. A stream that is missing gets a place holder that can
// neither be read nor written: else a record or a socket would have its number, and the answer or
// the log would be written into that. A reader of ours that is gone becomes an error of the write,
// and no signal that ends us half way.
Status secure_streams();

// Writes an answer to standard output, all of it.
Status print(std::string_view answer);

}  // namespace ibpod::cni
