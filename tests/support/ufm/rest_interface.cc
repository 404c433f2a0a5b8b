#include "tests/support/ufm/rest_interface.h"

#include "lib/json/value.h"
#include "tests/support/ufm/rest_answer.h"
#include "tests/support/ufm/rest_body.h"
#include "tests/support/ufm/rest_text.h"

#include <algorithm>

namespace ibpod::fake_ufm {
namespace {

std::string argument(const HttpRequest& request, const char* key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? "" : found->second;
}

// Behind the first slash. Empty: the path is not of this interface.
std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments = split(path, '/');
  segments.erase(segments.begin());
  return segments;
}

bool is_base(const std::string& segment) {
  return segment == "ufmRest" || segment == "ufmRestV2" || segment == "ufmRestV3";
}

std::string request_line(const HttpRequest& request) { return request.method + " " + request.path; }

}  // namespace

RestSettings RestInterface::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void RestInterface::set_settings(const RestSettings& settings) {
  const std::lock_guard lock(mutex_);
  settings_ = settings;
}

HttpReply RestInterface::refuse(const Context& context, int status, const std::string& text) {
  site_.ufm.log_refusal({.caller = context.user,
                         .operation = Operation::other,
                         .path = request_line(context.request)},
                        status);
  return plain_text(status, text);
}

HttpReply RestInterface::handle(const HttpRequest& request) {
  Context context{request, {}, segments_of(request.path), settings()};
  auto& segments = context.segments;
  if (segments.empty() || !is_base(segments.front())) return refuse(context, 404, "Not Found");
  const std::string base = "/" + segments.front();
  segments.erase(segments.begin());
  const auto user = site_.accounts.authenticate(base, request);
  if (!user) return refuse(context, 401, user.error().text());
  context.user = *user;
  if (!segments.empty() && segments.back().empty()) {
    if (!context.settings.accepts_trailing_slash) return refuse(context, 404, "Not Found");
    segments.pop_back();
  }
  const bool asks_for_token = segments == std::vector<std::string>{"app", "tokens"};
  if (request.method != "GET" && !asks_for_token && !site_.accounts.may_write(*user))
    return refuse(context, 403, "User " + *user + " is not allowed to do this");
  return route(context);
}

HttpReply RestInterface::route(const Context& context) {
  const auto& segments = context.segments;
  const std::string first = segments.empty() ? "" : segments[0];
  if (first == "app") return route_app(context);
  if (first == "jobs") return jobs(context);
  if (first == "resources" && segments.size() > 1) return route_resources(context);
  if (segments == std::vector<std::string>{"actions", "remove_guids_from_pkey"} &&
      context.settings.serves_removal_action && context.request.method == "POST")
    return write(context, Operation::remove_guids_action);
  return refuse(context, 404, "Not Found");
}

HttpReply RestInterface::ask(const Context& context, Operation operation, std::string body) {
  const Outcome outcome = site_.ufm.call(
      {.caller = context.user, .operation = operation, .path = request_line(context.request)});
  return make_reply(outcome, std::move(body));
}

HttpReply RestInterface::route_resources(const Context& context) {
  const HttpRequest& request = context.request;
  const std::string& what = context.segments[1];
  if (what == "pkeys") return route_pkeys(context);
  if (request.method != "GET" || context.segments.size() > 2)
    return refuse(context, 404, "Not Found");
  const std::string system = argument(request, "system");
  if (what == "ports")
    return ask(context, Operation::ports,
               show_ports(site_.inventory.ports(), system, argument(request, "sys_type"),
                          context.settings));
  if (what == "vports")
    return ask(
        context, Operation::vports,
        show_vports(site_.inventory.vports(Inventory::Time::clock::now()), site_.inventory.ports(),
                    system, argument(request, "port"), context.settings));
  return refuse(context, 404, "Not Found");
}

HttpReply RestInterface::route_pkeys(const Context& context) {
  const auto& segments = context.segments;
  const std::string& method = context.request.method;
  if (segments.size() > 3 || (segments.size() == 3 && method == "DELETE"))
    return route_one_pkey(context);
  const std::string what = segments.size() == 3 ? segments[2] : "";
  if (method == "GET" && what.empty()) return list(context);
  if (method == "GET" && what == "last_updated") return last_updated(context);
  if (method == "GET") return route_one_pkey(context);
  if (method == "POST" && what.empty()) return write(context, Operation::post);
  if (method == "POST" && what == "add") return write(context, Operation::add_empty);
  if (method == "POST" && what == "hosts") {
    const auto body = read_hosts_body(context.request.body);
    if (!body) return refuse(context, 400, body.error().text());
    return write_hosts(context, body->call, body->hosts);
  }
  if (method == "PUT" && what.empty()) return write(context, Operation::put);
  if (method == "PUT" && what == "qos_conf") return write(context, Operation::set_qos);
  return refuse(context, 405, "Method Not Allowed");
}

// GET and DELETE .../pkeys/{pkey}, DELETE .../pkeys/{pkey}/guids/{list} and /hosts/{list}
HttpReply RestInterface::route_one_pkey(const Context& context) {
  const auto& segments = context.segments;
  const auto pkey = read_pkey(segments[2]);
  if (!pkey) return refuse(context, 400, pkey.error().text());
  if (context.request.method == "GET" && segments.size() == 3) return read(context, *pkey);
  if (context.request.method != "DELETE") return refuse(context, 405, "Method Not Allowed");
  if (segments.size() == 3)
    return write(context, Call{.operation = Operation::delete_partition, .pkey = *pkey});
  Call call{.operation = Operation::remove_guids, .pkey = *pkey};
  if (segments.size() != 5) return refuse(context, 404, "Not Found");
  if (segments[3] == "hosts") return write_hosts(context, call, split(segments[4], ','));
  if (segments[3] != "guids" || !context.settings.serves_guid_removal)
    return refuse(context, 404, "Not Found");
  const auto guids = read_guids(segments[4]);
  if (!guids) return refuse(context, 400, guids.error().text());
  call.guids = *guids;
  return write(context, call);
}

HttpReply RestInterface::list(const Context& context) {
  Shown shown{argument(context.request, "guids_data") == "true",
              argument(context.request, "qos_conf") == "true"};
  if (shown.guids && shown.qos) {
    const BothArguments both = context.settings.both_arguments;
    if (both == BothArguments::refused) return refuse(context, 500, "Internal Server Error");
    shown.guids = both == BothArguments::complete;
  }
  const Outcome outcome = site_.ufm.call({.caller = context.user,
                                          .operation = Operation::list,
                                          .path = request_line(context.request)});
  return make_reply(outcome, show_partitions(outcome.partitions, shown, context.settings));
}

HttpReply RestInterface::read(const Context& context, ib::PKey pkey) {
  const Shown shown{argument(context.request, "guids_data") == "true",
                    argument(context.request, "qos_conf") == "true"};
  const Outcome outcome = site_.ufm.call({.caller = context.user,
                                          .operation = Operation::read,
                                          .pkey = pkey,
                                          .path = request_line(context.request)});
  return make_reply(outcome, show_partition(outcome.partitions, shown, context.settings));
}

HttpReply RestInterface::write(const Context& context, Operation operation) {
  const auto call = read_body(operation, context.request.body);
  if (!call) return refuse(context, 400, call.error().text());
  return write(context, *call);
}

HttpReply RestInterface::write(const Context& context, Call call) {
  call.caller = context.user;
  call.path = request_line(context.request);
  site_.ufm.set_known(site_.inventory.known());
  return make_reply(site_.ufm.call(call), "{}");
}

// The ports of those hosts, as a job.
HttpReply RestInterface::write_hosts(const Context& context, Call call,
                                     const std::vector<std::string>& hosts) {
  for (const Port& port : site_.inventory.ports())
    if (std::find(hosts.begin(), hosts.end(), port.system) != hosts.end())
      call.guids.push_back(port.guid);
  HttpReply reply = write(context, call);
  const std::string failure = reply.status == 200 ? "" : reply.body;
  const std::string id = jobs_.add(std::string(name(call.operation)), context.user, failure,
                                   std::chrono::system_clock::now());
  reply.status = 202;
  reply.type = "application/json";
  reply.body = json::Value::object().set("job_id", id).text();
  return reply;
}

HttpReply RestInterface::last_updated(const Context& context) {
  json::Value shown = json::Value::object();
  const auto time = site_.ufm.last_updated();
  shown.set("last_updated", time ? json::Value(show(*time, context.settings)) : json::Value());
  return ask(context, Operation::other, shown.text());
}

HttpReply RestInterface::jobs(const Context& context) {
  const auto now = std::chrono::system_clock::now();
  if (context.segments.size() == 1)
    return ask(context, Operation::other, jobs_.show_all(now, context.settings));
  const std::string& id = context.segments[1];
  if (context.request.method == "DELETE")
    return jobs_.remove(id) ? ask(context, Operation::other, "{}")
                            : refuse(context, 404, "Not Found");
  const auto shown = jobs_.show(id, now, context.settings);
  return shown ? ask(context, Operation::other, *shown) : refuse(context, 404, "Not Found");
}

}  // namespace ibpod::fake_ufm
