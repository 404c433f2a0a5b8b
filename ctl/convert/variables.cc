#include "ctl/convert/variables.h"

#include "ctl/convert/base64.h"
#include "lib/json/parts.h"
#include "lib/json/value.h"

#include <algorithm>
#include <vector>

namespace ibpod::ctl::convert {
namespace {

using json::Value;

constexpr size_t kMostParts = 10'000;  // of a JSON document
constexpr std::string_view kExpected =
    "expected NAME=VALUE with a name in capital letters, or JSON from `kubectl get --output json`";

Error wrong(const std::string& text) { return {Code::invalid, text}; }

Status add(const std::string& name, const std::string& value, Variables& variables) {
  const auto [found, added] = variables.emplace(name, value);
  if (added || found->second == value) return ok();
  return wrong(name + ": two values that differ; pass only the one that is in use");
}

// --- manifests

// The library's text ends with characters of the document, which may be those of a password.
Result<Value> parse(std::string_view text) {
  TRY(json::check_parts(text, kMostParts));
  Result<Value> document = Value::parse(text);
  if (document) return document;
  std::string error = document.error().text();
  for (const char* quotes : {" - ", "; last read", " parsing '"})
    error.resize(std::min(error.size(), error.find(quotes)));
  return wrong(error);
}

Result<std::string> text_of(const Value& value) {
  if (value.is_null()) return std::string();
  if (!value.is_string()) return value.wrong("expected a string");
  return value.string();
}

// A section of a manifest: data, stringData.
Status read_section(const Value& manifest, std::string_view key, bool is_base64,
                    Variables& variables) {
  const std::optional<Value> section = manifest.find(key);
  if (!section) return ok();
  if (!section->is_object()) return section->wrong("expected an object");
  const auto members = TRY(section->members());
  for (const auto& [name, member] : members) {
    const std::string text = TRY(text_of(member));
    if (!is_base64) {
      variables[name] = text;
      continue;
    }
    const Result<std::string> decoded = decode_base64(text);
    if (!decoded) return member.wrong(decoded.error().text());
    variables[name] = *decoded;
  }
  return ok();
}

std::string kind_of(const Value& manifest) {
  const std::optional<Value> kind = manifest.find("kind");
  return kind && kind->is_string() ? kind->string().value() : "";
}

Status add_manifest(const Value& manifest, const Known& known, Variables& variables) {
  const std::string kind = kind_of(manifest);
  if (kind != "ConfigMap" && kind != "Secret")
    return manifest.wrong("kind: expected ConfigMap, Secret or a List of them, got \"" + kind +
                          "\"");
  Variables own;
  TRY(read_section(manifest, "data", kind == "Secret", own));
  if (kind == "Secret") TRY(read_section(manifest, "stringData", false, own));
  const auto is_known = [&](const auto& variable) { return known(variable.first); };
  if (std::none_of(own.begin(), own.end(), is_known))
    return manifest.wrong("this " + kind + " has no variable of ib-kubernetes");
  for (const auto& [name, value] : own) TRY(add(name, value, variables));
  return ok();
}

Status add_json(std::string_view content, const Known& known, Variables& variables) {
  const Value document = TRY(parse(content));
  if (kind_of(document) != "List") return add_manifest(document, known, variables);
  const Value items = TRY(document.at("items"));
  if (!items.is_array()) return items.wrong("expected a list");
  const std::vector<Value> manifests = TRY(items.elements());
  for (const Value& manifest : manifests) TRY(add_manifest(manifest, known, variables));
  return ok();
}

// --- lines of NAME=VALUE

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_name(std::string_view text) {
  return !text.empty() && is_capital(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_capital(c) || (c >= '0' && c <= '9') || c == '_'; });
}

bool is_quoted(std::string_view value) {
  return value.size() >= 2 && value.front() == value.back() &&
         (value.front() == '"' || value.front() == '\'');
}

Status add_line(std::string_view line, Variables& variables) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == line.npos || line.starts_with('#')) return ok();
  const size_t equals = line.find('=');
  if (equals == line.npos || !is_name(line.substr(0, equals))) return wrong(std::string(kExpected));
  const std::string name(line.substr(0, equals)), value(line.substr(equals + 1));
  if (is_quoted(value)) return wrong(name + ": quotes are a part of the value here: remove them");
  return add(name, value, variables);
}

Status add_lines(std::string_view content, Variables& variables) {
  for (size_t number = 1; !content.empty(); ++number) {
    const size_t end = std::min(content.find('\n'), content.size());
    TRY(add_line(content.substr(0, end), variables).during("line " + std::to_string(number)));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return ok();
}

}  // namespace

Status add_variables(std::string_view content, const Known& known, Variables& variables) {
  const size_t first = content.find_first_not_of(" \t\r\n");
  if (first == content.npos) return wrong("the input is empty");
  if (content[first] == '{') return add_json(content, known, variables);
  return add_lines(content, variables);
}

}  // namespace ibpod::ctl::convert
