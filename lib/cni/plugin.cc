#include "lib/cni/plugin.h"

#include "lib/json/parts.h"

#include <exception>

namespace ibpod::cni {
namespace {

constexpr Version kFirstWithCheck{0, 4, 0};
constexpr Version kFirstWithGc{1, 1, 0};  // and STATUS

Answer refuse(Failure failure, const std::string& version) {
  std::string output = failure.to_json(version).ascii() + "\n";
  return Answer{1, std::move(output), std::move(failure)};
}

Size largest_for(Verb verb) {
  if (verb == Verb::del) return kLargestForDel;
  return verb == Verb::gc ? kLargestForGc : kLargestNetwork;
}

Status check_size(Verb verb, std::string_view input) {
  const Size most = largest_for(verb);
  if (input.size() > most.bytes)
    return Error(Code::invalid, "standard input: larger than the limit of " +
                                    std::to_string(most.bytes) + " bytes");
  return json::check_parts(input, most.values).during("standard input");
}

Result<json::Value> read_document(Verb verb, std::string_view input) {
  TRY(check_size(verb, input).reported_as(kUndecodable));
  return parse_document(input);
}

// The configuration's version as far as it can be told, for answers that come before all else is
// known. Of what is refused for its size it is not looked for.
std::string version_to_echo(const Environment& environment, std::string_view input) {
  const Result<Call> call = parse_call(environment);
  const Result<json::Value> document = read_document(call ? call->verb : Verb::version, input);
  const Result<Version> version =
      document ? parse_version_of(*document) : Result<Version>(document.error());
  return version ? version->text() : kNewest.text();
}

// The versions that ibpod supports. Unlike an error, the answer echoes a cniVersion that is not
// supported, too: this is how a runtime finds out.
std::string versions(std::string_view input) {
  std::string echo = kNewest.text();
  const Result<json::Value> document = read_document(Verb::version, input);
  const std::optional<json::Value> given = document ? document->find("cniVersion") : std::nullopt;
  const Result<Version> version =
      Version::parse(given && given->is_string() ? given->string().value() : "");
  if (version) echo = version->text();
  json::Value supported = json::Value::array();
  for (const Version each : supported_versions()) supported.push(each.text());
  json::Value answer = json::Value::object();
  answer.set("cniVersion", echo).set("supportedVersions", std::move(supported));
  return answer.text() + "\n";
}

Version first_with(Verb verb) {
  if (verb == Verb::check) return kFirstWithCheck;
  return verb == Verb::gc || verb == Verb::status ? kFirstWithGc : kUnnamed;
}

Status check_verb(Verb verb, Version version) {
  const Version first = first_with(verb);
  if (version >= first) return ok();
  return Error(Code::unsupported, std::string(name(verb)) + " requires cniVersion " + first.text() +
                                      " or later, but the configuration's cniVersion is " +
                                      version.text())
      .reported_as(kIncompatibleVersion);
}

Status configure(Plugin& plugin, const Call& call, const Network& network) {
  Status configured = plugin.configure(call, network);
  const bool field_unsupported = !configured && configured.error().reported() == 0 &&
                                 configured.error().code() == Code::unsupported;
  return field_unsupported ? std::move(configured).reported_as(kUnsupportedField) : configured;
}

Status status(Plugin& plugin) {
  Status status = plugin.status();
  const bool limited = !status && status.error().reported() == kLimitedConnectivity;
  return limited ? status : std::move(status).reported_as(kNotAvailable);
}

Status carry_out(Plugin& plugin, Verb verb) {
  switch (verb) {
    case Verb::del:
      return plugin.del();
    case Verb::check:
      return plugin.check();
    case Verb::gc:
      return plugin.gc();
    case Verb::status:
      return status(plugin);
    case Verb::add:
    case Verb::version:
      break;  // these two print something: perform() has them
  }
  std::abort();
}

// Returns the text for stdout if the call succeeds.
Result<std::string> perform(Plugin& plugin, const Environment& environment,
                            std::string_view input) {
  const Call call = TRY(parse_call(environment).reported_as(kInvalidEnvironment));
  if (call.verb == Verb::version) return versions(input);
  const json::Value document = TRY(read_document(call.verb, input));
  plugin.prepare(call, document);
  const Version version = TRY(parse_version_of(document));
  TRY(check_verb(call.verb, version));
  const auto parse = call.verb == Verb::del ? parse_network_for_del : parse_network;
  const Network network = TRY(parse(document, std::string(input)));
  TRY(configure(plugin, call, network));
  if (call.verb == Verb::add) {
    const AddResult result = TRY(plugin.add());
    return to_json(result, version).text() + "\n";
  }
  TRY(carry_out(plugin, call.verb));
  return std::string();
}

}  // namespace

Answer serve(Plugin& plugin, const Environment& environment, std::string_view input) {
  std::string what = "unknown exception";
  try {
    Result<std::string> output = perform(plugin, environment, input);
    if (output) return Answer{0, std::move(*output), std::nullopt};
    return refuse(failure_of(output.error()), version_to_echo(environment, input));
  } catch (const std::exception& escaped) {
    what = escaped.what();
  } catch (...) {  // named below
  }
  return refuse(Failure{kInternal, "internal error: " + what, ""},
                version_to_echo(environment, input));
}

}  // namespace ibpod::cni
