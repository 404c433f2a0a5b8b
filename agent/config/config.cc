#include "agent/config/config.h"

#include "agent/config/config_file.h"
#include "agent/config/config_keys.h"

#include <algorithm>

namespace ibpod::agent::config {
namespace {

void add_once(std::vector<std::string>& texts, std::string text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
}

void apply(const std::vector<json::Value>& settings, Config& config, Findings& findings) {
  for (const json::Value& value : settings) {
    const Key* const key = find_key(key_of(value));
    const Status read = key->read(value, config);
    if (!read) findings.error(read.error().text());
    config.explicit_keys[std::string(key->name)] = value.text();
  }
}

// Without priorities that say which, two sections that both apply must not disagree.
void refuse_ties(const std::vector<const Section*>& sections, Findings& findings) {
  std::map<std::pair<int64_t, std::string>, const json::Value*> seen;
  for (const Section* section : sections) {
    for (const json::Value& value : section->settings) {
      const auto [first, fresh] = seen.try_emplace({section->priority, key_of(value)}, &value);
      if (fresh || first->second->text() == value.text()) continue;
      findings.error(value
                         .wrong("got " + value.text() + ", but " + first->second->path() + " is " +
                                first->second->text() +
                                " for the same node, and both sections have priority " +
                                std::to_string(section->priority) +
                                ": give one of them another priority")
                         .text());
    }
  }
}

// The settings for every node, and these sections', the highest priority last.
Config merge(const ConfigFile& file, std::vector<const Section*> sections, Findings& findings) {
  refuse_ties(sections, findings);
  std::stable_sort(sections.begin(), sections.end(),
                   [](const Section* a, const Section* b) { return a->priority < b->priority; });
  Config config;
  apply(file.settings, config, findings);
  for (const Section* section : sections) apply(section->settings, config, findings);
  return config;
}

void check_whole(const Config& config, Findings& findings) {
  const Path& metrics = config.metrics_address.socket;
  if (!metrics.empty() && metrics == config.agent_socket) {
    findings.error("metricsAddress: " + metrics.string() +
                   " is the path of agentSocket: use another path");
  }
  if (config.kubelet && config.agent_socket == config.pod_resources()) {
    findings.error("agentSocket: " + config.agent_socket.string() +
                   " is the kubelet's pod-resources socket: use another path");
  }
  if (!config.metrics_address.local()) {
    findings.warning("metricsAddress: " + config.metrics_address.text() +
                     " is open to every host that can reach this node, and the metrics contain the "
                     "names of pods");
  }
  if (!config.cdi && config.explicit_keys.contains("cdiDir"))
    findings.warning("cdiDir: it is ignored, because cdi is false");
  if (!config.kubelet && config.explicit_keys.contains("resourceList"))
    findings.warning("resourceList: it is ignored, because kubelet is false");
}

std::vector<const Section*> sections_for(const ConfigFile& file, const std::string& node) {
  std::vector<const Section*> matching;
  for (const Section& section : file.sections) {
    if (!node.empty() && section.matches(node)) matching.push_back(&section);
  }
  return matching;
}

}  // namespace

void Findings::error(std::string text) { add_once(errors, std::move(text)); }
void Findings::warning(std::string text) { add_once(warnings, std::move(text)); }

ParsedConfig read_config(std::string_view text, const std::string& node, const ConfigCheck& check) {
  ParsedConfig result;
  Findings& findings = result.findings;
  const auto document = json::Value::parse(text, json::Comments::allowed);
  if (!document) findings.error(document.error().text());
  if (!document) return result;
  const ConfigFile file = read_file_structure(*document, findings);
  const auto checked = [&](std::vector<const Section*> sections) {
    Config config = merge(file, std::move(sections), findings);
    check_whole(config, findings);
    if (check) check(config, findings);
    return config;
  };
  Config config = checked(sections_for(file, node));
  // One file serves all nodes: what is wrong for others is not found out there.
  for (const Section& section : file.sections) checked({&section});
  if (findings.errors.empty()) result.config = std::move(config);
  return result;
}

Findings check_config(const Path& file, const std::string& node, const ConfigCheck& check) {
  const Result<std::string> text = read_file(file);
  Findings unreadable;
  if (!text) unreadable.error(text.error().text());
  return text ? read_config(*text, node, check).findings : unreadable;
}

}  // namespace ibpod::agent::config
