// The options of a running OpenSM, from its command line, its opensm.conf, or its defaults.
#pragma once

#include "lib/base/result.h"
#include "lib/fabric/partitions_conf.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibpod::sm::opensm {

// The argument of the last such option; OpenSM accepts "-F file", "-Ffile" and "--config file".
std::optional<std::string> argument_of(const std::vector<std::string>& words,
                                       const std::string& flag, const std::string& word);

struct OpenSmOptionsFile {
  std::vector<std::string> words;  // of its command line, which has precedence over the file
  std::string conf;
  // `option`: its name in opensm.conf.
  std::string value(std::string_view option) const;
};

// ok if OpenSM reads partitions as `desired` says, lets switches enforce them, keeps the indexes of
// keys, and writes the log lines that LogReader needs without delay. `modules`: the text of its
// per_module_logging_file. invalid with the option to change.
Status check_options(const OpenSmOptionsFile& options, std::string_view modules,
                     const fabric::OpenSmOptions& desired);

}  // namespace ibpod::sm::opensm
