// What the log keeps of who has changed what.
#include "sm/ledger/names.h"
#include "sm/steward/steward.h"

#include <utility>

namespace ibpod::sm {
namespace {

using fabricapi::Caller;

// Who changes something though nobody asks.
Caller itself(const std::string& name) {
  return {.role = fabricapi::Role::administrator, .node = {}, .name = name};
}

}  // namespace

void Steward::audit(const Caller& caller, std::string action, std::string subject,
                    const Status& status) {
  if (!status) return world_.report.audit(caller, action, subject, status);
  when_committed([this, caller, action = std::move(action),
                  subject = std::move(subject)](const Status& committed) {
    world_.report.audit(caller, action, subject, committed);
  });
}

Steward::Administered Steward::administered() const {
  Administered all;
  fabricapi::Page page;
  do {
    const auto listed = world_.ledger.partitions(kItself, page);
    if (!listed) return all;
    for (const fabric::TenancyStatus& one : listed->items)
      if (one.state != fabric::TenancyState::deleting)
        all.emplace(one.tenancy.name, std::pair(one.tenancy, one.declared));
    page.token = listed->next;
  } while (!page.token.empty());
  return all;
}

void Steward::audit_declared(const Administered& before) {
  const Caller file = itself("declared file");
  const Administered after = administered();
  for (const auto& [name, one] : after) {
    const auto was = before.find(name);
    if (was == before.end())
      audit(file, "create partition", name, ok());
    else if (was->second != one)
      audit(file, "update partition", name, ok());
  }
  for (const auto& [name, one] : before)
    if (!after.contains(name)) audit(file, "delete partition", name, ok());
}

void Steward::audit_lapsed() {
  for (const fabric::Attachment& one : world_.ledger.take_lapsed())
    audit(itself("lease"), "unbind", text(one), ok());
}

}  // namespace ibpod::sm
