#include "tests/support/ufm/control.h"

#include "lib/json/read.h"
#include "tests/support/ufm/guid_mappings.h"
#include "tests/support/ufm/rest_answer.h"
#include "tests/support/ufm/settings_json.h"
#include "tests/support/ufm/state_json.h"

#include <cstdlib>
#include <functional>

namespace ibpod::fake_ufm {
namespace {

using json::Value;
// The answer of a command to its body.
using Command = std::function<Result<Value>(FakeUfm& ufm, const Value& body)>;

Result<Value> done() { return Value::object(); }

Result<Value> put_switches(FakeUfm& ufm, const Value& body) {
  Switches switches = ufm.ufm().switches();
  TRY(update(switches, body));
  ufm.ufm().set_switches(switches);
  return to_json(switches);
}

Result<Value> put_rest(FakeUfm& ufm, const Value& body) {
  RestSettings settings = ufm.rest().settings();
  TRY(update(settings, body));
  ufm.rest().set_settings(settings);
  if (ufm.writer() != nullptr) ufm.writer()->set_default_membership(settings.default_membership);
  return to_json(settings);
}

Result<Value> post_fault(FakeUfm& ufm, const Value& body) {
  const Fault fault = TRY(read_fault(body));
  ufm.ufm().inject(fault);
  return done();
}

Result<Value> post_call(FakeUfm& ufm, const Value& body) {
  const Call call = TRY(read_call(body));
  const Outcome outcome = ufm.ufm().call(call);
  return Value::object().set("status", outcome.status).set("text", outcome.text);
}

Result<Value> post_lose_writes(FakeUfm& ufm, const Value& body) {
  const Value count = TRY(body.at("count"));
  const int64_t most = TRY(count.integer(1, 1000));
  const size_t lost = ufm.ufm().lose_writes(static_cast<size_t>(most));
  return Value::object().set("lost", static_cast<int64_t>(lost));
}

Result<Value> put_effect(FakeUfm& ufm, const Value& body) {
  const Value value = TRY(body.at("delay"));
  const EffectDelay delay = TRY(read_effect(value));
  if (ufm.writer() == nullptr)
    return Error(Code::invalid, "the configuration names no partitions_file");
  ufm.writer()->set_delay(delay);
  return done();
}

Result<Value> put_ports(FakeUfm& ufm, const Value& body) {
  auto ports = TRY(json::read_list(body, read_port));
  ufm.inventory().set_ports(std::move(ports));
  return done();
}

Result<Value> put_vports(FakeUfm& ufm, const Value& body) {
  auto vports = TRY(json::read_list(body, read_vport));
  ufm.inventory().set_vports(std::move(vports));
  return done();
}

Result<bool> read_on(const Value& body) {
  const Value on = TRY(body.at("on"));
  return on.boolean();
}

Result<Value> put_virtualization(FakeUfm& ufm, const Value& body) {
  const bool on = TRY(read_on(body));
  int64_t interval = 0;
  if (const auto value = body.find("interval_ms")) interval = TRY(value->integer(0, 86'400'000));
  ufm.inventory().set_virtualization(on, Duration(interval));
  return done();
}

Result<Value> put_serving(FakeUfm& ufm, const Value& body) {
  const bool on = TRY(read_on(body));
  if (on)
    TRY(ufm.serve());
  else
    ufm.stop_serving();
  return done();
}

Result<Value> put_certificate(FakeUfm& ufm, const Value& body) {
  const TlsFiles files = TRY(read_tls_files(body));
  TRY(ufm.change_certificate(files));
  return done();
}

// By method and path behind /stand-in/.
const std::map<std::string, Command>& commands() {
  static const std::map<std::string, Command> kCommands = {
      {"GET switches", [](FakeUfm& ufm, const Value&) { return to_json(ufm.ufm().switches()); }},
      {"PUT switches", put_switches},
      {"GET rest", [](FakeUfm& ufm, const Value&) { return to_json(ufm.rest().settings()); }},
      {"PUT rest", put_rest},
      {"POST faults", post_fault},
      {"DELETE faults",
       [](FakeUfm& ufm, const Value&) { return ufm.ufm().clear_faults(), done(); }},
      {"POST calls", post_call},
      {"POST lose_writes", post_lose_writes},
      {"GET partitions",
       [](FakeUfm& ufm, const Value&) { return to_json(ufm.ufm().partitions()); }},
      {"GET groups",
       [](FakeUfm& ufm, const Value&) { return Value::parse(show_groups(ufm.ufm().groups())); }},
      {"DELETE log", [](FakeUfm& ufm, const Value&) { return ufm.ufm().clear_log(), done(); }},
      {"PUT effect", put_effect},
      {"PUT ports", put_ports},
      {"PUT vports", put_vports},
      {"PUT virtualization", put_virtualization},
      {"PUT serving", put_serving},
      {"PUT certificate", put_certificate},
      {"POST expire_tokens",
       [](FakeUfm& ufm, const Value&) { return ufm.accounts().expire_tokens(), done(); }},
  };
  return kCommands;
}

HttpReply show_log(FakeUfm& ufm, const HttpRequest& request) {
  const auto since = request.query.find("since");
  const std::vector<LogEntry> log = ufm.ufm().log();
  Value list = Value::array();
  size_t at = since == request.query.end()
                  ? 0
                  : static_cast<size_t>(std::strtoul(since->second.c_str(), nullptr, 10));
  for (; at < log.size(); ++at) list.push(to_json(log[at]));
  return {.body = list.text()};
}

}  // namespace

HttpReply control(FakeUfm& ufm, const HttpRequest& request) {
  const std::string prefix = "/stand-in/";
  if (!request.path.starts_with(prefix)) return plain_text(404, "expected " + prefix);
  const std::string command = request.method + " " + request.path.substr(prefix.size());
  if (command == "GET log") return show_log(ufm, request);
  const auto found = commands().find(command);
  if (found == commands().end()) return plain_text(404, command + ": no such command");
  const auto body = request.body.empty() ? done() : Value::parse(request.body);
  if (!body) return plain_text(400, body.error().text());
  const auto answer = found->second(ufm, *body);
  if (!answer) return plain_text(400, answer.error().text());
  return {.body = answer->text() + "\n"};
}

}  // namespace ibpod::fake_ufm
