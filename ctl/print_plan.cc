#include "ctl/print_plan.h"

#include "ctl/print_bindings.h"
#include "ctl/table.h"
#include "ctl/words.h"
#include "lib/base/printable.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ibpod::ctl {
namespace {

using fabricapi::Explanation;
using Plan = v1::PlanResponse;
using json::Value;

std::string ports(uint64_t number) {
  return std::to_string(number) + (number == 1 ? " port" : " ports");
}

std::string one_decimal(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", number);
  return text.data();
}

// null: it is not known. NaN is not greater than 0.
Value milliseconds(double seconds) {
  constexpr double kMost = 1e9;
  if (!(seconds > 0)) return {};
  return static_cast<int64_t>(std::min(seconds, kMost) * 1000);
}

std::string summary(const Plan& plan) {
  if (plan.changed() == 0)
    return plan.unseen() == 0 ? "nothing would change\n"
                              : "nothing would change, as far as P_Key tables are known\n";
  std::string text = ports(plan.changed()) + " would change, with " +
                     std::to_string(plan.packets()) +
                     (plan.packets() == 1 ? " packet" : " packets") + " or more";
  if (plan.seconds() > 0) text += ", in about " + one_decimal(plan.seconds()) + " s";
  return text + "\n";
}

std::string verdict(const fabric::Binding& binding) {
  std::string text(name(binding.state));
  if (binding.proof != fabric::Proof::none)
    text += ", seen by the " + std::string(name(binding.proof));
  text += ", enforcement: " + std::string(name(binding.enforcement));
  const std::string why = text_of(binding.condition);
  return why.empty() ? text : text + "; " + why;
}

std::string text_of_subject(const Explanation::Subject& subject) {
  std::vector<Row> rows{{"GUID", text_of(subject.guid)},
                        {"node in the subnet", subject.description}};
  if (subject.binding) {
    const fabric::Pod& pod = subject.binding->pod;
    rows.push_back({"pod", pod_text(pod.name_space, pod.name)});
    rows.push_back({"binding", verdict(*subject.binding)});
  }
  rows.push_back({"wanted", subject.wanted});
  rows.push_back({"P_Key table", or_unknown(subject.table)});
  rows.push_back({"switch port's", or_unknown(subject.leaf_table)});
  rows.push_back({"read", subject.table.empty() ? "not known" : text_of(subject.seen)});
  std::string text = table({"PORT", subject.name}, rows);
  for (const std::string& finding : subject.findings) text += "  * " + printable(finding) + "\n";
  if (subject.findings.empty()) text += "  ok: as configured\n";
  return text + "\n";
}

Value json_of_subject(const Explanation::Subject& subject) {
  Value value = Value::object();
  value.set("name", subject.name).set("guid", subject.guid.text());
  if (subject.binding) value.set("binding", as_json(*subject.binding));
  value.set("description", subject.description).set("wanted", subject.wanted);
  value.set("table", known(subject.table)).set("leafTable", known(subject.leaf_table));
  return value.set("seen", known(text_of(subject.seen))).set("findings", strings(subject.findings));
}

}  // namespace

std::string as_text(const Plan& plan) {
  std::string text = summary(plan);
  if (plan.unseen() > 0) text += "the P_Key table of " + ports(plan.unseen()) + " is not known\n";
  for (const std::string& note : plan.notes()) text += "note: " + printable(note) + "\n";
  if (plan.ports().empty()) return text;
  std::vector<Row> rows;
  for (const Plan::Port& port : plan.ports()) {
    rows.push_back({ib::Guid(port.guid()).text(), port.description(), or_unknown(port.before()),
                    port.after()});
  }
  text += "\n" + table({"PORT", "NODE", "P_KEY TABLE NOW", "THEN"}, rows);
  const auto listed = static_cast<uint64_t>(plan.ports_size());
  if (plan.changed() > listed) text += "and " + ports(plan.changed() - listed) + " more\n";
  return text;
}

Value as_json(const Plan& plan) {
  Value list = Value::array();
  for (const Plan::Port& port : plan.ports()) {
    list.push(Value::object()
                  .set("guid", ib::Guid(port.guid()).text())
                  .set("description", port.description())
                  .set("before", known(port.before()))
                  .set("after", port.after()));
  }
  return Value::object()
      .set("changed", count(plan.changed()))
      .set("unseen", count(plan.unseen()))
      .set("packets", count(plan.packets()))
      .set("milliseconds", milliseconds(plan.seconds()))
      .set("notes", strings({plan.notes().begin(), plan.notes().end()}))
      .set("ports", list);
}

std::string as_text(const Explanation& explanation) {
  std::string text;
  for (const Explanation::Subject& subject : explanation.subjects) text += text_of_subject(subject);
  for (const std::string& sentence : explanation.reach) text += printable(sentence) + "\n";
  if (explanation.reach.empty() && !text.empty()) text.pop_back();
  return text;
}

Value as_json(const Explanation& explanation) {
  Value subjects = Value::array();
  for (const Explanation::Subject& subject : explanation.subjects)
    subjects.push(json_of_subject(subject));
  return Value::object().set("subjects", subjects).set("reach", strings(explanation.reach));
}

}  // namespace ibpod::ctl
