// The partitions that a file declares, and those that one has left.
#include "sm/controller/controller.h"

#include <algorithm>
#include <array>

namespace ibpod::sm {
namespace {

// Where they cannot be put on disk. Each time the store is read again.
constexpr Duration kBetweenTries{10'000};

// Whether a refusal begins with a key of an entry.
bool is_key(std::string_view word) {
  constexpr std::array<std::string_view, 12> kKeys{"name",  "pkey",   "membership", "allowed",
                                                   "nodes", "index0", "ipoib",      "mtu",
                                                   "rate",  "sl",     "proof",      "members"};
  return std::find(kKeys.begin(), kKeys.end(), word) != kKeys.end();
}

}  // namespace

void Steward::declared_unreadable(const std::string& why) { unreadable_ = why; }

void Steward::declare(const Declared& declared) {
  unreadable_.clear();
  declared_ = declared;
  declare_at_ = now_.steady;
  refused_.clear();  // whoever has written it hears of all that is wrong with it
}

// Whether there is anything to be put on disk by that. Behind what others have asked, so that it
// keeps nothing of theirs from the disk.
bool Steward::declare_again() {
  const bool due = declare_at_ && *declare_at_ <= now_.steady;
  const bool freed = !refused_.empty() && world_.ledger.freed() != freed_;
  if (!due && !freed) return false;
  const Status done = declared_ ? make_declared() : hand_over_declared();
  freed_ = world_.ledger.freed();
  declare_at_.reset();
  if (!done) declare_later();
  world_.report.trouble("declaring partitions", done ? "" : done.error().text());
  return done.ok();
}

// What has been declared may be lost with a transaction that has failed.
void Steward::declare_later() {
  if (declared_ || !settings_.declares) declare_at_ = now_.steady + kBetweenTries;
}

Status Steward::make_declared() {
  std::vector<fabric::Tenancy> tenancies = declared_->tenancies;
  std::set<std::string> names;
  for (const fabric::Tenancy& tenancy : tenancies) names.insert(tenancy.name);
  // What is written wrong now stays as it was declared before.
  for (const std::string& name : declared_->unread) {
    const auto present = world_.ledger.partition(name);
    if (present && present->declared && names.insert(name).second)
      tenancies.push_back(present->tenancy);
  }
  const auto possible = [this](const std::vector<fabric::Partition>& partitions) {
    return world_.engine.check(partitions);
  };
  const Administered before = administered();
  const std::vector<NotDeclared> refused = TRY(world_.ledger.declare(
      tenancies, now_, {.complete = declared_->complete, .possible = possible}));
  audit_declared(before);
  tell_refused(refused);
  return ok();
}

// What has not been said since the file was read.
void Steward::tell_refused(const std::vector<NotDeclared>& refused) {
  std::map<std::string, Error> before = std::exchange(refused_, {});
  for (const NotDeclared& one : refused) {
    refused_.emplace(one.name, one.error);
    const auto known = before.find(one.name);
    if (known == before.end() || known->second.code() != one.error.code())
      world_.report.error("declared partition " + one.name + ": " +
                          refusal_of(one.name, one.error));
  }
  for (const auto& [name, error] : before)
    if (!refused_.contains(name))
      world_.report.info("declared partition " + name + ": it is done now");
}

// By the keys of the file that people have written: "partitions[2].sl: ...". What is not in it any
// more has no place there.
std::string Steward::refusal_of(const std::string& name, const Error& error) const {
  const auto place = declared_->places.find(name);
  if (place == declared_->places.end())
    return "partition " + name + " is not in the file any more: " + error.text();
  const std::string text = error.text();
  const bool names_key = is_key(std::string_view(text).substr(0, text.find(':')));
  return place->second + (names_key ? "." : " (" + name + "): ") + text;
}

// What lists show of partitions that are declared otherwise than they are.
void Steward::show_declared(fabricapi::Listed<fabric::TenancyStatus>& listed) const {
  if (!declared_) return;
  for (fabric::TenancyStatus& one : listed.items) {
    const std::string refusal = refusal_of_declared(one.tenancy.name);
    if (one.declared && !refusal.empty())
      one.standing = {fabric::Reason::misconfigured, "what its file says is refused: " + refusal};
  }
  if (!listed.next.empty()) return;
  for (const std::string& name : refused_names()) {
    if (world_.ledger.partition(name)) continue;
    fabric::TenancyStatus missing;
    missing.tenancy.name = name;
    missing.declared = true;
    missing.state = fabric::TenancyState::error;
    missing.standing = {fabric::Reason::misconfigured,
                        "it is declared in a file, and refused: " + refusal_of_declared(name)};
    listed.items.push_back(std::move(missing));
  }
}

// Empty: it is as declared, or not declared.
std::string Steward::refusal_of_declared(const std::string& name) const {
  const auto refused = refused_.find(name);
  if (refused != refused_.end()) return refusal_of(name, refused->second);
  for (size_t i = 0; i < declared_->unread.size(); ++i)
    if (declared_->unread[i] == name) return declared_->unread_errors[i];
  return "";
}

std::set<std::string> Steward::refused_names() const {
  std::set<std::string> names(declared_->unread.begin(), declared_->unread.end());
  for (const auto& [name, error] : refused_) names.insert(name);
  return names;
}

Status Steward::hand_over_declared() {
  const std::vector<std::string> names = TRY(world_.ledger.hand_over_declared());
  for (const std::string& name : names)
    world_.report.info("partition " + name +
                       ": no file declares partitions any more; requests may change it now");
  return ok();
}

}  // namespace ibpod::sm
