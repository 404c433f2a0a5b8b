#include "agent/config/config_file.h"

#include "agent/config/config_keys.h"
#include "lib/base/join.h"
#include "lib/base/nearest.h"

#include <algorithm>

#include <fnmatch.h>

namespace ibpod::agent::config {
namespace {

constexpr int64_t kHighest = 1000;

std::vector<std::string_view> names_of_settings() {
  std::vector<std::string_view> names;
  for (const Key& key : config_keys()) names.push_back(key.name);
  return names;
}

void unknown(const json::Value& value, const std::string& key,
             const std::vector<std::string_view>& known, Findings& findings) {
  const std::string meant = is_meant(key, known);
  findings.error(
      value
          .wrong("unknown key" + (meant.empty() ? ", expected one of " + join(known, ", ") : meant))
          .text());
}

// A setting, read once to see what is wrong with it.
void take_setting(const json::Value& value, const Key& key, std::vector<json::Value>& settings,
                  Findings& findings) {
  if (value.is_null()) return;
  Config scratch;
  const Status read = key.read(value, scratch);
  if (!read) findings.error(read.error().text());
  if (read) settings.push_back(value);
}

std::vector<json::Value> read_settings(const json::Value& object, Findings& findings) {
  std::vector<json::Value> settings;
  const auto members = object.members();
  if (!members) findings.error(members.error().text());
  if (!members) return settings;
  for (const auto& [name, value] : *members) {
    const Key* const key = find_key(name);
    if (key == nullptr) unknown(value, name, names_of_settings(), findings);
    if (key != nullptr) take_setting(value, *key, settings, findings);
  }
  return settings;
}

bool is_pattern(const std::string& text) {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-.*?[]!";
  return !text.empty() && text.find_first_not_of(kLetters) == text.npos;
}

Result<std::vector<std::string>> read_patterns(const json::Value& list) {
  const std::vector<json::Value> elements = TRY(list.elements());
  std::vector<std::string> patterns;
  for (const json::Value& element : elements) {
    const std::string pattern = TRY(element.string());
    if (!is_pattern(pattern)) {
      return element.wrong(
          "expected a pattern for node names (lowercase letters, digits, -, ., *, ? and "
          "[ ]), got " +
          element.text());
    }
    patterns.push_back(pattern);
  }
  if (patterns.empty())
    return list.wrong("expected at least one pattern such as \"gpu-*\", got []");
  return patterns;
}

Status read_nodes(const json::Value& section, Section& read) {
  const json::Value nodes = TRY(section.at("nodes"));
  read.nodes = TRY(read_patterns(nodes));
  return ok();
}

Status read_priority(const json::Value& section, Section& read) {
  const std::optional<json::Value> priority = section.find("priority");
  if (!priority) return ok();
  read.priority = TRY(priority->integer(0, kHighest));
  return ok();
}

void collect(const Status& status, Findings& findings) {
  if (!status) findings.error(status.error().text());
}

Section read_section(const json::Value& object, Findings& findings) {
  static const std::vector<std::string_view> kKnown = {"nodes", "priority", "settings"};
  Section section;
  section.path = object.path();
  const auto members = object.members();
  if (!members) findings.error(members.error().text());
  if (!members) return section;
  for (const auto& [name, value] : *members) {
    if (std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end()) continue;
    if (find_key(name) != nullptr)
      findings.error(value.wrong("not allowed here: put it under \"settings\"").text());
    else
      unknown(value, name, kKnown, findings);
  }
  collect(read_nodes(object, section), findings);
  collect(read_priority(object, section), findings);
  const auto settings = object.at("settings");
  if (!settings) findings.error(settings.error().text());
  if (settings) section.settings = read_settings(*settings, findings);
  return section;
}

std::vector<Section> read_sections(const json::Value& list, Findings& findings) {
  std::vector<Section> sections;
  const auto elements = list.elements();
  if (!elements) findings.error(elements.error().text());
  if (!elements) return sections;
  for (const json::Value& element : *elements) sections.push_back(read_section(element, findings));
  return sections;
}

}  // namespace

bool Section::matches(const std::string& node) const {
  return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& pattern) {
    return ::fnmatch(pattern.c_str(), node.c_str(), 0) == 0;
  });
}

std::string key_of(const json::Value& value) {
  const size_t dot = value.path().rfind('.');
  return dot == std::string::npos ? value.path() : value.path().substr(dot + 1);
}

ConfigFile read_file_structure(const json::Value& document, Findings& findings) {
  ConfigFile file;
  const auto members = document.members();
  if (!members) findings.error(members.error().text());
  if (!members) return file;
  std::vector<std::string_view> known = names_of_settings();
  known.emplace_back("sections");
  for (const auto& [name, value] : *members) {
    const Key* const key = find_key(name);
    if (name == "sections" && !value.is_null())
      file.sections = read_sections(value, findings);
    else if (key != nullptr)
      take_setting(value, *key, file.settings, findings);
    else if (name != "$schema" && name != "sections")
      unknown(value, name, known, findings);
  }
  return file;
}

}  // namespace ibpod::agent::config
