// The main function that the plugins of attachments share.
#pragma once

#include "lib/attach/plugin.h"

#include <string>

namespace ibpod::attach {

// Serves the one call that the environment and standard input say, on this machine; returns the
// exit code. Without CNI_COMMAND a person has called it, who is told what it is: `about`, a line.
int run(PluginKind kind, const std::string& about, char** environment);

}  // namespace ibpod::attach
