// The main function that the plugins of attachments share.
#pragma once

#include "lib/attach/plugin.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace ibpod::attach {

using MakePlugin = std::function<std::unique_ptr<Plugin>(PluginDeps world, log::Log& log)>;

// Serves the one call that the environment and standard input say, on this machine; returns the
// exit code. Without CNI_COMMAND a person has called it, who is told what it is: `about`, a line.
int run(const std::string& about, const MakePlugin& make, char** environment);

// `Type` is constructed from the program's dependencies and a Log.
template <typename Type>
int run(const std::string& about, char** environment) {
  const auto make = [](PluginDeps deps, log::Log& log) {
    return std::make_unique<Type>(std::move(deps), log);
  };
  return run(about, make, environment);
}

}  // namespace ibpod::attach
