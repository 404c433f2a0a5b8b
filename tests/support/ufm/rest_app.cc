// The paths below /app: of UFM itself and of its subnet manager's settings.
#include "lib/json/value.h"
#include "tests/support/ufm/rest_answer.h"
#include "tests/support/ufm/rest_interface.h"

namespace ibpod::fake_ufm {

HttpReply RestInterface::route_app(const Context& context) {
  const auto& segments = context.segments;
  const std::string what = segments.size() > 1 ? segments[1] : "";
  const std::string& method = context.request.method;
  if (what == "ufm_version" && method == "GET")
    return ask(context, Operation::version, show_version(context.settings));
  if (what == "tokens" && method == "POST") {
    json::Value token = json::Value::object();
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
  const std::string id = segments.size() > 3 ? segments[3] : "";
  if (method == "POST") {
    const auto added = mappings_.add(context.request.body);
    if (!added) return refuse(context, 400, added.error().text());
    return ask(context, Operation::other, std::to_string(*added));
  }
  if (method == "DELETE")
    return mappings_.remove(id) ? ask(context, Operation::other, "{}")
                                : refuse(context, 404, "Not Found");
  if (id.empty()) return ask(context, Operation::other, mappings_.show_all());
  const auto group = mappings_.show(id);
  return group ? ask(context, Operation::other, *group) : refuse(context, 404, "Not Found");
}

}  // namespace ibpod::fake_ufm
