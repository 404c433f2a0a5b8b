#include "lib/cni/ipam_answer.h"

#include "lib/json/fields.h"

namespace ibpod::cni {

Result<std::vector<Version>> parse_versions(const std::string& output) {
  const json::Value document = TRY(json::Value::parse(output));
  json::Fields fields = TRY(json::Fields::of(document));
  const std::optional<std::string> spoken = TRY(fields.string("cniVersion"));
  const std::optional<json::Value> supported = TRY(fields.find("supportedVersions"));
  // 0.2.0 brought VERSION, but not yet the list.
  if (!supported && spoken == "0.2.0") return std::vector<Version>{{0, 1, 0}, {0, 2, 0}};
  if (!supported) return document.wrong("the key \"supportedVersions\" is missing");
  const std::vector<json::Value> elements = TRY(supported->elements());
  std::vector<Version> versions;
  for (const json::Value& element : elements) {
    const std::string text = TRY(element.string());
    const Result<Version> version = Version::parse(text);
    if (version) versions.push_back(*version);  // what is no version cannot be the one we look for
  }
  return versions;
}

Result<AddResult> parse_answer(const std::string& output, Version configured) {
  json::Value document = TRY(json::Value::parse(output));
  if (document.is_null()) return AddResult{};
  json::Fields fields = TRY(json::Fields::of(document));
  const std::optional<json::Value> version = TRY(fields.find("cniVersion"));
  const bool named = version && !(version->is_string() && version->string().value().empty());
  if (!named) document.set("cniVersion", configured.text());
  return parse_result(document);
}

}  // namespace ibpod::cni
