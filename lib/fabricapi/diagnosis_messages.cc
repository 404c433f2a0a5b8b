#include "lib/fabricapi/diagnosis_messages.h"

#include "lib/fabricapi/binding_messages.h"
#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/partition_messages.h"

#include <cmath>

namespace ibpod::fabricapi {
namespace {

using Texts = google::protobuf::RepeatedPtrField<std::string>;

void write_texts(const std::vector<std::string>& texts, Texts& messages) {
  for (const std::string& text : texts) *messages.Add() = cleaned(text);
}

void clean(Texts& texts) {
  for (std::string& text : texts) text = cleaned(text);
}

std::vector<std::string> read_texts(const Texts& messages) {
  return {messages.begin(), messages.end()};
}

// "namespace/pod", with a cluster in front unless it is the default one, or a GUID, in the form
// that this project writes.
Result<std::string> read_subject(const std::string& text) {
  const Result<ib::Guid> guid = ib::Guid::parse(text);
  if (guid) return guid->text();
  const size_t slash = text.rfind('/');
  if (slash == std::string::npos) return wrong("subjects", text, "namespace/pod or a GUID");
  const std::string name_space = TRY(read_namespace("subjects", text.substr(0, slash)));
  const std::string pod = TRY(read_name("subjects", text.substr(slash + 1)));
  return name_space + "/" + pod;
}

void write_subject(const Explanation::Subject& subject,
                   v1::ExplainFabricResponse::Subject& message) {
  message.set_name(subject.name);
  message.set_guid(subject.guid.value());
  if (subject.binding) *message.mutable_binding() = to_message(*subject.binding);
  message.set_description(cleaned(subject.description));
  message.set_table(subject.table);
  message.set_leaf_table(subject.leaf_table);
  message.set_wanted(subject.wanted);
  message.set_seen(subject.seen.time_since_epoch().count());
  write_texts(subject.findings, *message.mutable_findings());
}

Result<Explanation::Subject> read_answer(const v1::ExplainFabricResponse::Subject& message) {
  Explanation::Subject subject;
  subject.name = message.name();
  subject.guid = ib::Guid(message.guid());
  if (message.has_binding())
    subject.binding = TRY(from_message(message.binding()).during("subjects.binding"));
  subject.description = message.description();
  subject.table = message.table();
  subject.leaf_table = message.leaf_table();
  subject.wanted = message.wanted();
  subject.seen = fabric::WallTime(std::chrono::milliseconds(message.seen()));
  subject.findings = read_texts(message.findings());
  return subject;
}

}  // namespace

v1::PlanRequest to_message(const PlanRequest& request) {
  v1::PlanRequest message;
  if (request.partition) *message.mutable_partition() = to_message(*request.partition);
  message.set_without(request.without);
  message.set_update(request.update);
  return message;
}

Result<PlanRequest> from_message(const v1::PlanRequest& message) {
  PlanRequest request;
  if (message.has_partition() && !message.without().empty())
    return wrong("without", message.without(), "no name together with a partition");
  if (message.update() && !message.has_partition())
    return wrong("update", "true", "a partition together with it");
  request.update = message.update();
  if (message.has_partition())
    request.partition = TRY(read_partition(message.partition()).during("partition"));
  if (!message.without().empty())
    request.without = TRY(read_partition_name("without", message.without()));
  return request;
}

v1::PlanResponse to_message(v1::PlanResponse plan) {
  for (v1::PlanResponse::Port& port : *plan.mutable_ports())
    port.set_description(cleaned(port.description()));
  clean(*plan.mutable_notes());
  return plan;
}

Status check_answer(const v1::PlanResponse& plan) {
  if (std::isfinite(plan.seconds())) return ok();
  return wrong("seconds", std::to_string(plan.seconds()), "a number");
}

v1::ExplainFabricRequest to_message(const ExplainRequest& request) {
  v1::ExplainFabricRequest message;
  for (const std::string& subject : request.subjects) message.add_subjects(subject);
  return message;
}

Result<ExplainRequest> from_message(const v1::ExplainFabricRequest& message) {
  const int count = message.subjects().size();
  if (count < 1 || count > 2) return wrong_number("subjects", count, "one or two subjects");
  ExplainRequest request;
  for (const std::string& one : message.subjects()) {
    std::string subject = TRY(read_subject(one));
    request.subjects.push_back(std::move(subject));
  }
  return request;
}

v1::ExplainFabricResponse to_message(const Explanation& explanation) {
  v1::ExplainFabricResponse message;
  for (const Explanation::Subject& subject : explanation.subjects)
    write_subject(subject, *message.add_subjects());
  write_texts(explanation.reach, *message.mutable_reach());
  return message;
}

Result<Explanation> from_message(const v1::ExplainFabricResponse& message) {
  Explanation explanation;
  for (const v1::ExplainFabricResponse::Subject& one : message.subjects()) {
    Explanation::Subject subject = TRY(read_answer(one));
    explanation.subjects.push_back(std::move(subject));
  }
  explanation.reach = read_texts(message.reach());
  return explanation;
}

v1::FabricHealthResponse to_message(v1::FabricHealthResponse health) {
  for (v1::FabricHealthResponse::Finding& finding : *health.mutable_findings()) {
    finding.set_subject(cleaned(finding.subject()));
    finding.set_text(cleaned(finding.text()));
    finding.set_remedy(cleaned(finding.remedy()));
  }
  health.set_engine(cleaned(health.engine()));
  return health;
}

}  // namespace ibpod::fabricapi
