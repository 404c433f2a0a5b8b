#include "sm/controller/declared_reconciler.h"

#include <algorithm>
#include <array>

namespace ibpod::sm::controller {
namespace {

// The pause after a failed write; each retry reads the store again.
constexpr Duration kBetweenTries{10'000};

// True if the word is a key of a declared partition.
bool is_key(std::string_view word) {
  constexpr std::array<std::string_view, 12> kKeys{"name",  "pkey",   "membership", "allowed",
                                                   "nodes", "index0", "ipoib",      "mtu",
                                                   "rate",  "sl",     "proof",      "members"};
  return std::find(kKeys.begin(), kKeys.end(), word) != kKeys.end();
}

}  // namespace

DeclaredReconciler::DeclaredReconciler(Deps deps, bool has_file, Time now)
    : deps_(deps), has_file_(has_file) {
  if (!has_file_) due_ = now;
}

void DeclaredReconciler::set(const partitions::DeclaredPartitions& declared, Time now) {
  unreadable_.clear();
  declared_ = declared;
  due_ = now;
  rejected_.clear();  // all errors of a new file are logged
}

void DeclaredReconciler::engine_changed(Time now) {
  if (!rejected_.empty()) due_ = now;
}

void DeclaredReconciler::commit_failed(Time now) {
  if (declared_ || !has_file_) due_ = now + kBetweenTries;
}

bool DeclaredReconciler::reconcile(state::Now now, const Audit& audit) {
  const bool is_due = due_ && *due_ <= now.steady;
  const bool freed =
      !rejected_.empty() && deps_.registry.partitions.declarations().may_declare_again();
  if (!is_due && !freed) return false;
  const Status done = declared_ ? apply(now, audit) : release();
  due_.reset();
  if (!done) commit_failed(now.steady);
  deps_.telemetry.report_condition("declared partitions", done ? "" : done.error().text());
  return done.ok();
}

DeclaredReconciler::PartitionsByName DeclaredReconciler::partitions_by_name() const {
  PartitionsByName all;
  fabricapi::PageRequest page;
  do {
    const auto listed = deps_.registry.partitions.view().list(page);
    if (!listed) return all;
    for (const fabric::PartitionStatus& one : listed->items)
      if (one.state != fabric::PartitionState::deleting)
        all.emplace(one.spec.name, std::pair(one.spec, one.declared));
    page.token = listed->next;
  } while (!page.token.empty());
  return all;
}

void DeclaredReconciler::audit_changes(const PartitionsByName& before, const Audit& audit) const {
  const PartitionsByName after = partitions_by_name();
  for (const auto& [name, one] : after) {
    const auto was = before.find(name);
    if (was == before.end())
      audit("create partition", name);
    else if (was->second != one)
      audit("update partition", name);
  }
  for (const auto& [name, one] : before)
    if (!after.contains(name)) audit("delete partition", name);
}

Status DeclaredReconciler::apply(state::Now now, const Audit& audit) {
  std::vector<fabric::Partition> partitions = declared_->partitions;
  std::set<std::string> names;
  for (const fabric::Partition& partition : partitions) names.insert(partition.name);
  // An entry with an error keeps its earlier declaration.
  for (const std::string& name : declared_->unread) {
    const auto present = deps_.registry.partitions.view().find(name);
    if (present && present->declared && names.insert(name).second)
      partitions.push_back(present->spec);
  }
  const auto possible = [this](const std::vector<fabric::PartitionDefinition>& definitions) {
    return deps_.subnet_manager.check(definitions);
  };
  const PartitionsByName before = partitions_by_name();
  const std::vector<partitions::DeclarationError> rejected =
      TRY(deps_.registry.partitions.declarations().declare(
          partitions, now, {.complete = declared_->complete, .check = possible}));
  audit_changes(before, audit);
  log_rejected(rejected);
  return ok();
}

// Logs each error once per reading of the file.
void DeclaredReconciler::log_rejected(const std::vector<partitions::DeclarationError>& rejected) {
  std::map<std::string, Error> before = std::exchange(rejected_, {});
  for (const partitions::DeclarationError& one : rejected) {
    rejected_.emplace(one.name, one.error);
    const auto known = before.find(one.name);
    if (known == before.end() || known->second.code() != one.error.code())
      deps_.telemetry.error("declared partition " + one.name + ": " +
                            rejection(one.name, one.error));
  }
  for (const auto& [name, error] : before)
    if (!rejected_.contains(name)) deps_.telemetry.info("declared partition " + name + ": applied");
}

// The error with its position in the file: "partitions[2].sl: ...". A partition that was removed
// from the file has no position.
std::string DeclaredReconciler::rejection(const std::string& name, const Error& error) const {
  const auto place = declared_->places.find(name);
  if (place == declared_->places.end())
    return "partition " + name +
           " was removed from the file, but cannot be deleted: " + error.text();
  const std::string text = error.text();
  const bool names_key = is_key(std::string_view(text).substr(0, text.find(':')));
  return place->second + (names_key ? "." : " (" + name + "): ") + text;
}

void DeclaredReconciler::show(fabricapi::ListPage<fabric::PartitionStatus>& listed) const {
  if (!declared_) return;
  for (fabric::PartitionStatus& one : listed.items) {
    const std::string rejection = rejection_of(one.spec.name);
    if (one.declared && !rejection.empty())
      one.condition = {fabric::Reason::misconfigured, "its declaration is rejected: " + rejection};
  }
  if (!listed.next.empty()) return;
  for (const std::string& name : rejected_names()) {
    if (deps_.registry.partitions.view().find(name)) continue;
    fabric::PartitionStatus missing;
    missing.spec.name = name;
    missing.declared = true;
    missing.state = fabric::PartitionState::error;
    missing.condition = {fabric::Reason::misconfigured,
                         "its declaration is rejected: " + rejection_of(name)};
    listed.items.push_back(std::move(missing));
  }
}

// Empty if the partition is as declared, or is not declared.
std::string DeclaredReconciler::rejection_of(const std::string& name) const {
  const auto rejected = rejected_.find(name);
  if (rejected != rejected_.end()) return rejection(name, rejected->second);
  for (size_t i = 0; i < declared_->unread.size(); ++i)
    if (declared_->unread[i] == name) return declared_->unread_errors[i];
  return "";
}

std::set<std::string> DeclaredReconciler::rejected_names() const {
  std::set<std::string> names(declared_->unread.begin(), declared_->unread.end());
  for (const auto& [name, error] : rejected_) names.insert(name);
  return names;
}

Status DeclaredReconciler::release() {
  const std::vector<std::string> names = TRY(deps_.registry.partitions.declarations().release());
  for (const std::string& name : names)
    deps_.telemetry.info("partition " + name +
                         ": no file declares partitions any more; requests can change it now");
  return ok();
}

diagnose::DeclaredFileFaults DeclaredReconciler::faults() const {
  diagnose::DeclaredFileFaults faults;
  faults.declared = declared_.has_value() || !unreadable_.empty();
  if (!unreadable_.empty()) faults.texts.push_back(unreadable_);
  if (declared_)
    for (const std::string& error : declared_->errors) faults.texts.push_back(error);
  for (const auto& [name, error] : rejected_) faults.texts.push_back(rejection(name, error));
  return faults;
}

}  // namespace ibpod::sm::controller
