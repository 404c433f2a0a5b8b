#include "lib/cni/request.h"

#include "lib/base/join.h"
#include "lib/base/utf8.h"
#include "lib/cni/errors.h"
#include "lib/cni/result.h"
#include "lib/json/fields.h"

#include <algorithm>

namespace ibpod::cni {
namespace {

constexpr size_t kLongestInterface = 15;
constexpr size_t kLongestPath = 4095;

constexpr std::array<Verb, 6> kVerbs{Verb::add, Verb::del,    Verb::check,
                                     Verb::gc,  Verb::status, Verb::version};

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The specification's form of container IDs and network names. It leaves no way out of a folder.
bool is_name(std::string_view text) {
  const auto fits = [](char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= kLongestName && is_alphanumeric(text.front()) &&
         std::all_of(text.begin(), text.end(), fits);
}

bool is_interface_name(std::string_view text) {
  const auto fits = [](char c) {
    const bool control_or_space = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    return !control_or_space && c != '/' && c != ':' && c != '%';
  };
  // Results and records are JSON, which holds nothing but UTF-8.
  return !text.empty() && text.size() <= kLongestInterface && text != "." && text != ".." &&
         is_utf8(text) && std::all_of(text.begin(), text.end(), fits);
}

bool is_plain_absolute(const std::string& text) {
  if (text.size() > kLongestPath || text.find('\0') != text.npos) return false;
  const Path path(text);
  return path.is_absolute() && std::find(path.begin(), path.end(), "..") == path.end();
}

// A value as an error shows it: whole unless it is absurdly long.
std::string shown(std::string_view value) {
  constexpr size_t kShown = 300;
  return "\"" + std::string(value.substr(0, kShown)) + (value.size() > kShown ? "...\"" : "\"");
}

Error wrong(std::string_view variable, std::string_view value, std::string_view expected) {
  return Error(Code::invalid, std::string(variable) + " is " + shown(value) + ": expected " +
                                  std::string(expected));
}

std::string value_of(const Environment& environment, const std::string& variable) {
  const auto found = environment.find(variable);
  return found == environment.end() ? "" : found->second;
}

Result<Verb> parse_verb(const Environment& environment) {
  const std::string text = value_of(environment, "CNI_COMMAND");
  for (const Verb verb : kVerbs) {
    if (name(verb) == text) return verb;
  }
  if (text.empty()) return Error(Code::invalid, "CNI_COMMAND is missing");
  return wrong("CNI_COMMAND", text, "ADD, DEL, CHECK, GC, STATUS or VERSION");
}

// One message names all, so that they can be set at once.
Status require_attachment(const Environment& environment, Verb verb) {
  std::string missing;
  for (const std::string variable : {"CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"}) {
    if (verb == Verb::del && variable == "CNI_NETNS") continue;
    if (value_of(environment, variable).empty()) add_item(missing, ", ", variable);
  }
  if (missing.empty()) return ok();
  return Error(Code::invalid,
               std::string(name(verb)) + " needs variables that are missing: " + missing);
}

Status check_attachment(const Call& call) {
  if (!is_name(call.container_id)) {
    return wrong("CNI_CONTAINERID", call.container_id,
                 "a letter or digit, then letters, digits, '_', '.' and '-', at most 255 in all");
  }
  if (!is_interface_name(call.ifname)) {
    return wrong(
        "CNI_IFNAME", call.ifname,
        "1 to 15 bytes of UTF-8 without '/', ':', '%' and white space, not \".\" or \"..\"");
  }
  if (!call.netns.empty() && !is_plain_absolute(call.netns.string())) {
    return wrong("CNI_NETNS", call.netns.string(), "an absolute path without \"..\"");
  }
  return ok();
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end = text.find(separator); end != text.npos; end = text.find(separator, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

Result<Pod> parse_pod(const std::string& args) {
  Pod pod;
  if (args.empty()) return pod;
  for (const std::string& pair : split(args, ';')) {
    const std::vector<std::string> sides = split(pair, '=');
    if (sides.size() != 2) {
      return wrong("CNI_ARGS", args,
                   "KEY=VALUE pairs separated by ';'; " + shown(pair) + " is not one");
    }
    if (sides[0] == "K8S_POD_NAME") pod.name = sides[1];
    if (sides[0] == "K8S_POD_NAMESPACE") pod.name_space = sides[1];
    if (sides[0] == "K8S_POD_UID") pod.uid = sides[1];
  }
  return pod;
}

Result<std::string> parse_name(json::Fields& fields, const json::Value& document) {
  const std::optional<std::string> name = TRY(fields.string("name"));
  if (!name || name->empty()) return document.wrong("the key \"name\" is missing");
  if (is_name(*name)) return *name;
  return Error(Code::invalid,
               "name: " + shown(*name) +
                   " is not a network name: expected a letter or digit, then letters, "
                   "digits, '_', '.' and '-', at most 255 in all");
}

// The keys below name no attachment: each is read by itself, so that DEL can go on without it.

Status read_type(json::Fields& fields, Network& network) {
  const std::optional<std::string> type = TRY(fields.string("type"));
  network.type = type.value_or("");
  return ok();
}

// An empty object, or one with an empty type, says that there is no IPAM: so do the Go plugins.
Status read_ipam(json::Fields& fields, Network& network) {
  const std::optional<json::Value> ipam = TRY(fields.find("ipam"));
  if (!ipam) return ok();
  json::Fields inside = TRY(json::Fields::of(*ipam));
  const std::optional<std::string> type = TRY(inside.string("type"));
  network.ipam_type = type.value_or("");
  if (!network.ipam_type.empty() || inside.unknown().empty()) return ok();
  return ipam->wrong("the key \"type\" is missing, which names the IPAM plugin");
}

Status read_dns(json::Fields& fields, Network& network) {
  const std::optional<json::Value> dns = TRY(fields.find("dns"));
  if (!dns) return ok();
  TRY(check_dns(*dns));
  network.dns = *dns;
  return ok();
}

Result<std::optional<json::Value>> find_object(json::Fields& fields, std::string_view key) {
  std::optional<json::Value> value = TRY(fields.find(key));
  if (value) TRY(value->members());
  return value;
}

Status read_prev_result(json::Fields& fields, Network& network) {
  network.prev_result = TRY(find_object(fields, "prevResult"));
  return ok();
}

Status check_capabilities(json::Fields& fields, Network&) {
  const std::optional<json::Value> capabilities = TRY(find_object(fields, "capabilities"));
  if (!capabilities) return ok();
  const auto members = TRY(capabilities->members());
  for (const auto& [capability, wanted] : members) TRY(wanted.boolean());
  return ok();
}

// Only the types of these two are checked: their contents are the plugin's.
Status check_runtime_config(json::Fields& fields, Network&) {
  TRY(find_object(fields, "runtimeConfig"));
  return ok();
}

Status check_args(json::Fields& fields, Network&) {
  const std::optional<json::Value> args = TRY(find_object(fields, "args"));
  if (!args) return ok();
  json::Fields inside = TRY(json::Fields::of(*args));
  TRY(find_object(inside, "cni"));
  return ok();
}

Result<std::string> required_string(json::Fields& fields, const json::Value& object,
                                    const std::string& key) {
  std::optional<std::string> text = TRY(fields.string(key));
  if (!text) return object.wrong("the key \"" + key + "\" is missing");
  return std::move(*text);
}

Result<Attachment> parse_attachment(const json::Value& value) {
  json::Fields fields = TRY(json::Fields::of(value));
  Attachment attachment;
  attachment.container_id = TRY(required_string(fields, value, "containerID"));
  attachment.ifname = TRY(required_string(fields, value, "ifname"));
  return attachment;
}

Status read_valid_attachments(json::Fields& fields, Network& network) {
  std::optional<json::Value> list = TRY(fields.find("cni.dev/valid-attachments"));
  const std::optional<json::Value> misspelt = TRY(fields.find("cni.dev/attachments"));
  if (!list) list = misspelt;
  if (!list) return ok();
  const std::vector<json::Value> elements = TRY(list->elements());
  std::vector<Attachment> attachments;
  for (const json::Value& element : elements) {
    Attachment attachment = TRY(parse_attachment(element));
    attachments.push_back(std::move(attachment));
  }
  network.valid_attachments = std::move(attachments);
  return ok();
}

constexpr std::array kReaders{read_type,
                              read_ipam,
                              read_dns,
                              read_prev_result,
                              read_valid_attachments,
                              check_capabilities,
                              check_runtime_config,
                              check_args};

Result<Network> read_network(const json::Value& document, bool for_del) {
  Network network;
  json::Fields fields = TRY(json::Fields::of(document));
  network.version = TRY(parse_version_of(document));
  network.name = TRY(parse_name(fields, document));
  for (const auto read : kReaders) {
    const Status status = read(fields, network);
    if (!status && !for_del) return status.error();
    if (!status) network.warnings.push_back(status.error().text() + "; DEL continues without it");
  }
  return network;
}

Result<Network> parse(json::Value document, std::string text, bool for_del) {
  Result<Network> network = read_network(document, for_del);
  if (!network && network.error().reported() != 0) return network;
  if (!network) return std::move(network).reported_as(kInvalidConfiguration);
  network->document = std::move(document);
  network->text = std::move(text);
  return network;
}

Result<Version> version_named(const std::string& text) {
  const Result<Version> version = Version::parse(text);
  if (version && is_supported(*version)) return *version;
  return Error(Code::unsupported, "cniVersion is " + shown(text) + ": this plugin supports " +
                                      cni::text(supported_versions()))
      .reported_as(kIncompatibleVersion);
}

}  // namespace

std::string_view name(Verb verb) {
  switch (verb) {
    case Verb::add:
      return "ADD";
    case Verb::del:
      return "DEL";
    case Verb::check:
      return "CHECK";
    case Verb::gc:
      return "GC";
    case Verb::status:
      return "STATUS";
    case Verb::version:
      return "VERSION";
  }
  std::abort();
}

std::vector<Path> split_path(const std::string& list) {
  std::vector<Path> folders;
  for (const std::string& part : split(list, ':')) {
    if (!part.empty()) folders.emplace_back(part);
  }
  return folders;
}

Result<Call> parse_call(const Environment& environment) {
  Call call;
  call.verb = TRY(parse_verb(environment));
  call.environment = environment;
  call.path = split_path(value_of(environment, "CNI_PATH"));
  call.args = value_of(environment, "CNI_ARGS");
  if (call.verb != Verb::add && call.verb != Verb::del && call.verb != Verb::check) return call;
  TRY(require_attachment(environment, call.verb));
  call.container_id = value_of(environment, "CNI_CONTAINERID");
  call.netns = value_of(environment, "CNI_NETNS");
  call.ifname = value_of(environment, "CNI_IFNAME");
  TRY(check_attachment(call));
  Result<Pod> pod = parse_pod(call.args);
  if (!pod && call.verb != Verb::del) return pod.error();
  if (pod) call.pod = std::move(*pod);
  return call;
}

Result<json::Value> parse_document(std::string_view text) {
  json::Value document = TRY(json::Value::parse(text).reported_as(kUndecodable));
  TRY(document.members().reported_as(kUndecodable));
  return document;
}

Result<Version> parse_version_of(const json::Value& document) {
  json::Fields fields = TRY(json::Fields::of(document).reported_as(kInvalidConfiguration));
  const std::optional<std::string> text =
      TRY(fields.string("cniVersion").reported_as(kInvalidConfiguration));
  if (!text || text->empty()) return kUnnamed;
  return version_named(*text);
}

Result<Network> parse_network(json::Value document, std::string text) {
  return parse(std::move(document), std::move(text), false);
}

Result<Network> parse_network_for_del(json::Value document, std::string text) {
  return parse(std::move(document), std::move(text), true);
}

}  // namespace ibpod::cni
