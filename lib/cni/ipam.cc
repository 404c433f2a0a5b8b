#include "lib/cni/ipam.h"

#include "lib/base/join.h"
#include "lib/cni/delegate_error.h"
#include "lib/cni/errors.h"
#include "lib/json/fields.h"

#include <algorithm>

#include <unistd.h>

namespace ibpod::cni {
namespace {

bool is_program(const Path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::string list(const std::vector<Path>& folders) {
  return folders.empty() ? "nowhere, as CNI_PATH is empty" : join(folders, ", ", &Path::native);
}

Error ipam_failed(Code code, const std::string& type, const std::string& text) {
  Error error(code, "ipam " + type + ": " + text);
  return code == Code::unavailable ? error : std::move(error).reported_as(kIpamFailed);
}

}  // namespace

Result<Ipam> Ipam::find(Invocation invocation) {
  const std::string& type = invocation.type;
  if (type.empty() || type == "." || type == ".." || type.find('/') != type.npos) {
    return Error(Code::invalid, "ipam.type: \"" + type + "\" is not a program name");
  }
  for (const Path& folder : invocation.path) {
    Path program = folder / type;
    if (is_program(program)) return Ipam(std::move(invocation), std::move(program));
  }
  return ipam_failed(Code::not_found, type, "no such program; looked in: " + list(invocation.path));
}

Result<Finished> Ipam::run_verb(Verb verb, std::string_view input, Deadline deadline) const {
  Command command{program_, invocation_.environment, std::string(input)};
  command.environment["CNI_COMMAND"] = std::string(name(verb));
  Result<Finished> finished = run(command, deadline);
  if (finished) return finished;
  const Error& error = finished.error();
  const bool later = error.code() == Code::unavailable || error.code() == Code::busy;
  return ipam_failed(later ? Code::unavailable : Code::internal, invocation_.type, error.text());
}

Error Ipam::failure(const Finished& finished) const {
  const std::optional<DelegateError> delegate_error = parse_delegate_error(finished.output);
  const int64_t number = delegate_error ? delegate_error->code : 0;
  const bool later = number == kTryAgainLater || number == kNotAvailable;
  const Code code = later ? Code::unavailable : delegate_error ? Code::denied : Code::internal;
  return ipam_failed(code, invocation_.type, describe(finished, delegate_error))
      .with_details(tail(finished.errors));
}

Result<std::string> Ipam::call(Verb verb, Deadline deadline) const {
  Finished finished = TRY(run_verb(verb, invocation_.configuration, deadline));
  if (finished.exit_code != 0) return failure(finished);
  return std::move(finished.output);
}

Result<std::vector<Version>> Ipam::versions(Deadline deadline) const {
  if (!versions_) versions_ = TRY(ask_versions(deadline));
  return *versions_;
}

Result<std::vector<Version>> Ipam::ask_versions(Deadline deadline) const {
  const std::string input = "{\"cniVersion\":\"" + kNewest.text() + "\"}";
  const Finished finished = TRY(run_verb(Verb::version, input, deadline));
  if (finished.exit_code == 0) {
    Result<std::vector<Version>> versions = parse_versions(finished.output);
    if (versions) return versions;
    return ipam_failed(Code::internal, invocation_.type, "VERSION: " + versions.error().text())
        .with_details(tail(finished.output));
  }
  const std::optional<DelegateError> delegate_error = parse_delegate_error(finished.output);
  if (delegate_error && delegate_error->text == "unknown CNI_COMMAND: VERSION") {
    return std::vector<Version>{kUnnamed};
  }
  return failure(finished);
}

Result<bool> Ipam::speaks(Version version, Deadline deadline) const {
  const std::vector<Version> spoken = TRY(versions(deadline));
  return std::find(spoken.begin(), spoken.end(), version) != spoken.end();
}

Status Ipam::check_version(Deadline deadline) const {
  const bool known = TRY(speaks(invocation_.version, deadline));
  if (known) return ok();
  const std::vector<Version> spoken = TRY(versions(deadline));
  return Error(Code::unsupported, "ipam " + invocation_.type + ": it supports " + text(spoken) +
                                      ", but not the configuration's cniVersion " +
                                      invocation_.version.text())
      .reported_as(kIncompatibleVersion);
}

Result<AddResult> Ipam::add(Deadline deadline) const {
  const std::string output = TRY(call(Verb::add, deadline));
  Result<AddResult> result = parse_answer(output, invocation_.version);
  if (result) return result;
  return ipam_failed(Code::internal, invocation_.type, "its result: " + result.error().text())
      .with_details(tail(output));
}

Status Ipam::del(Deadline deadline) const {
  TRY(call(Verb::del, deadline));
  return ok();
}

Status Ipam::check(Deadline deadline) const {
  TRY(call(Verb::check, deadline));
  return ok();
}

Status Ipam::gc(Deadline deadline) const {
  TRY(call(Verb::gc, deadline));
  return ok();
}

Status Ipam::status(Deadline deadline) const {
  const Finished finished =
      TRY(run_verb(Verb::status, invocation_.configuration, deadline).reported_as(kNotAvailable));
  if (finished.exit_code == 0) return ok();
  const std::optional<DelegateError> delegate_error = parse_delegate_error(finished.output);
  const bool limited = delegate_error && delegate_error->code == kLimitedConnectivity;
  return failure(finished).reported_as(limited ? kLimitedConnectivity : kNotAvailable);
}

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
