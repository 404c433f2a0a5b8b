// Writing files with secrets, which must not replace others.
#pragma once

#include "ctl/convert/sm_config.h"
#include "lib/base/files.h"
#include "lib/base/result.h"

#include <vector>

namespace ibpod::ctl::convert {

// Creates the files with mode 0600 in `folder`, which is created with mode 0700 if it does not
// exist, and so are those above it. exists if there is an entry with the name of one of them,
// denied if other users can replace entries of the folder; after an error nothing is left of what
// was created. Errors have no content of the files.
Status write_secrets(const Path& folder, const std::vector<SecretFile>& files);

}  // namespace ibpod::ctl::convert
