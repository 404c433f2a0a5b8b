// Declared partitions, and those that a former file has declared.
#include "sm/controller/controller.h"

#include <algorithm>
#include <array>

namespace ibpod::sm::controller {
namespace {

// The pause after a failed write; each try reads the store again.
constexpr Duration kBetweenTries{10'000};

// True if the word is a key of a declared partition.
bool is_key(std::string_view word) {
  constexpr std::array<std::string_view, 12> kKeys{"name",  "pkey",   "membership", "allowed",
                                                   "nodes", "index0", "ipoib",      "mtu",
                                                   "rate",  "sl",     "proof",      "members"};
  return std::find(kKeys.begin(), kKeys.end(), word) != kKeys.end();
}

}  // namespace

void Controller::declared_unreadable(const std::string& why) { unreadable_ = why; }

void Controller::declare(const declared::DeclaredPartitions& declared) {
  unreadable_.clear();
  declared_ = declared;
  declare_at_ = now_.steady;
  refused_.clear();  // all errors of a new file are logged
}

// Returns true if there may be something to commit. It runs after the commit of requests, so that a
// failure does not affect those.
bool Controller::declare_again() {
  const bool due = declare_at_ && *declare_at_ <= now_.steady;
  const bool freed = !refused_.empty() && deps_.registry.conflicts_freed() != conflicts_freed_;
  if (!due && !freed) return false;
  const Status done = declared_ ? make_declared() : release_declared();
  conflicts_freed_ = deps_.registry.conflicts_freed();
  declare_at_.reset();
  if (!done) declare_later();
  deps_.telemetry.report_condition("declared partitions", done ? "" : done.error().text());
  return done.ok();
}

// A failed transaction may have lost the declaration: apply it again later.
void Controller::declare_later() {
  if (declared_ || !settings_.has_declared_file) declare_at_ = now_.steady + kBetweenTries;
}

Status Controller::make_declared() {
  std::vector<fabric::Partition> partitions = declared_->partitions;
  std::set<std::string> names;
  for (const fabric::Partition& partition : partitions) names.insert(partition.name);
  // An entry with an error keeps its earlier declaration.
  for (const std::string& name : declared_->unread) {
    const auto present = deps_.registry.partition(name);
    if (present && present->declared && names.insert(name).second)
      partitions.push_back(present->spec);
  }
  const auto possible = [this](const std::vector<fabric::PartitionDefinition>& definitions) {
    return deps_.subnet_manager.check(definitions);
  };
  const PartitionsByName before = partitions_by_name();
  const std::vector<registry::DeclarationError> refused = TRY(deps_.registry.declare(
      partitions, now_, {.complete = declared_->complete, .check = possible}));
  audit_declared(before);
  log_refused(refused);
  return ok();
}

// Logs each error once since the file was read.
void Controller::log_refused(const std::vector<registry::DeclarationError>& refused) {
  std::map<std::string, Error> before = std::exchange(refused_, {});
  for (const registry::DeclarationError& one : refused) {
    refused_.emplace(one.name, one.error);
    const auto known = before.find(one.name);
    if (known == before.end() || known->second.code() != one.error.code())
      deps_.telemetry.error("declared partition " + one.name + ": " +
                            refusal_of(one.name, one.error));
  }
  for (const auto& [name, error] : before)
    if (!refused_.contains(name)) deps_.telemetry.info("declared partition " + name + ": applied");
}

// The error with its position in the file: "partitions[2].sl: ...". A partition that was removed
// from the file has none.
std::string Controller::refusal_of(const std::string& name, const Error& error) const {
  const auto place = declared_->places.find(name);
  if (place == declared_->places.end())
    return "partition " + name +
           " was removed from the file, but cannot be deleted: " + error.text();
  const std::string text = error.text();
  const bool names_key = is_key(std::string_view(text).substr(0, text.find(':')));
  return place->second + (names_key ? "." : " (" + name + "): ") + text;
}

// Sets the condition of partitions whose declaration was rejected, and adds those that do not
// exist.
void Controller::show_declared(fabricapi::ListPage<fabric::PartitionStatus>& listed) const {
  if (!declared_) return;
  for (fabric::PartitionStatus& one : listed.items) {
    const std::string refusal = refusal_of_declared(one.spec.name);
    if (one.declared && !refusal.empty())
      one.condition = {fabric::Reason::misconfigured, "its declaration is rejected: " + refusal};
  }
  if (!listed.next.empty()) return;
  for (const std::string& name : refused_names()) {
    if (deps_.registry.partition(name)) continue;
    fabric::PartitionStatus missing;
    missing.spec.name = name;
    missing.declared = true;
    missing.state = fabric::PartitionState::error;
    missing.condition = {fabric::Reason::misconfigured,
                         "its declaration is rejected: " + refusal_of_declared(name)};
    listed.items.push_back(std::move(missing));
  }
}

// Empty: the partition is as declared, or not declared.
std::string Controller::refusal_of_declared(const std::string& name) const {
  const auto refused = refused_.find(name);
  if (refused != refused_.end()) return refusal_of(name, refused->second);
  for (size_t i = 0; i < declared_->unread.size(); ++i)
    if (declared_->unread[i] == name) return declared_->unread_errors[i];
  return "";
}

std::set<std::string> Controller::refused_names() const {
  std::set<std::string> names(declared_->unread.begin(), declared_->unread.end());
  for (const auto& [name, error] : refused_) names.insert(name);
  return names;
}

Status Controller::release_declared() {
  const std::vector<std::string> names = TRY(deps_.registry.release_declared());
  for (const std::string& name : names)
    deps_.telemetry.info("partition " + name +
                         ": no file declares partitions any more; requests can change it now");
  return ok();
}

}  // namespace ibpod::sm::controller
