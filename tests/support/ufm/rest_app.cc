// The paths below /app: of UFM itself and of its subnet manager's settings.
#include "lib/json/value.h"
#include "tests/support/ufm/guid_mappings.h"
#include "tests/support/ufm/rest_answer.h"
#include "tests/support/ufm/rest_interface.h"

#include <climits>
#include <utility>

namespace ibpod::fake_ufm {

using json::Value;

HttpReply RestInterface::route_app(const Context& context) {
  const auto& segments = context.segments;
  const std::string what = segments.size() > 1 ? segments[1] : "";
  const std::string& method = context.request.method;
  if (what == "ufm_version" && method == "GET")
    return ask(context, Operation::version, show_version(context.settings));
  if (what == "tokens" && method == "POST") {
    Value token = Value::object();
    token.set("access_token", site_.accounts.make_token(context.user)).set("revoked", false);
    token.set("issued_at", 0).set("expires_in", 315360000).set("username", context.user);
    return ask(context, Operation::other, token.text());
  }
  if (what != "smconf") return refuse(context, 404, "Not Found");
  if (segments.size() > 2 && segments[2] == "physical_virtual_mapping") return mappings(context);
  if (method != "GET") return refuse(context, 405, "Method Not Allowed");
  const auto parameter = context.request.query.find("param_name");
  const auto shown = show_smconf(parameter == context.request.query.end() ? "" : parameter->second,
                                 context.settings);
  if (!shown) return refuse(context, 400, shown.error().text());
  return ask(context, Operation::settings, *shown);
}

HttpReply RestInterface::mappings(const Context& context) {
  const auto& segments = context.segments;
  const std::string& method = context.request.method;
  if (!context.settings.serves_guid_groups || segments.size() > 4)
    return refuse(context, 404, "Not Found");
  Call call{.caller = context.user, .path = method + " " + context.request.path};
  if (segments.size() == 4) {
    const auto id = Value::parse(segments[3]);
    const auto number = id ? id->integer(1, INT_MAX) : Result<int64_t>(id.error());
    if (!number) return refuse(context, 404, "Not Found");
    call.group_id = static_cast<int>(*number);
  }
  if (method == "GET") {
    call.operation = call.group_id == 0 ? Operation::list_groups : Operation::read_group;
  } else if (method == "POST" && call.group_id == 0) {
    call.operation = Operation::add_group;
    const auto group = read_group(context.request.body);
    if (!group) return refuse(context, 400, group.error().text());
    call.group = *group;
  } else if (method == "DELETE" && call.group_id != 0) {
    call.operation = Operation::remove_group;
  } else {
    return refuse(context, 405, "Method Not Allowed");
  }
  const Outcome outcome = site_.ufm.call(call);
  std::string body = "{}";
  if (call.operation == Operation::list_groups) body = show_groups(outcome.groups);
  if (call.operation == Operation::add_group) body = std::to_string(outcome.group_id);
  if (!outcome.groups.empty() && call.operation == Operation::read_group)
    body = show_group(outcome.groups.begin()->second);
  return make_reply(outcome, std::move(body));
}

}  // namespace ibpod::fake_ufm
