// The partitions that a file declares, and those that one has left.
#include "sm/steward/steward.h"

namespace ibpod::sm {
namespace {

// Where they cannot be put on disk. Each time the store is read again.
constexpr Duration kBetweenTries{10'000};

}  // namespace

void Steward::declare(const Declared& declared) {
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
  std::map<std::string, Code> before = std::exchange(refused_, {});
  for (const NotDeclared& one : refused) {
    refused_.emplace(one.name, one.error.code());
    const auto known = before.find(one.name);
    if (known == before.end() || known->second != one.error.code())
      world_.report.error("declared partition " + one.name + ": " + one.error.text());
  }
  for (const auto& [name, code] : before)
    if (!refused_.contains(name))
      world_.report.info("declared partition " + name + ": it is done now");
}

Status Steward::hand_over_declared() {
  const std::vector<std::string> names = TRY(world_.ledger.hand_over_declared());
  for (const std::string& name : names)
    world_.report.info("partition " + name +
                       ": no file declares partitions any more; requests may change it now");
  return ok();
}

}  // namespace ibpod::sm
