// The file's structure: settings for every node, and sections of settings for some.
#pragma once

#include "agent/config/config.h"

#include <string>
#include <vector>

namespace ibpod::agent::config {

struct Section {
  std::string path;                   // "sections[0]"
  std::vector<std::string> nodes;     // patterns of names: * any letters, ? one, [ab] one of these
  int64_t priority = 0;               // the higher comes last, and so wins
  std::vector<json::Value> settings;  // values of known keys; their paths end in the key
  bool matches(const std::string& node) const;
};

struct ConfigFile {
  std::vector<json::Value> settings;  // for every node
  std::vector<Section> sections;      // in the file's order
};

// Goes on through what is wrong, and tells all of it.
ConfigFile read_file_structure(const json::Value& document, Findings& findings);

// The key that a value of `settings` is of.
std::string key_of(const json::Value& value);

}  // namespace ibpod::agent::config
