// What the steward can tell without changing anything.
#include "sm/controller/controller.h"

namespace ibpod::sm {
void Steward::list_partitions(const Caller& caller, const fabricapi::Page& page,
                              Done<fabricapi::Listed<fabric::TenancyStatus>> done) {
  look(std::move(done), [=, this]() -> Result<fabricapi::Listed<fabric::TenancyStatus>> {
    auto listed = TRY(world_.ledger.partitions(caller, page));
    show_declared(listed);
    return listed;
  });
}

void Steward::get_binding(const Caller& caller, const fabric::Attachment& attachment,
                          Done<fabric::Binding> done) {
  look(std::move(done), [=, this] { return world_.ledger.binding(caller, attachment); });
}

void Steward::list_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                            const fabricapi::Page& page,
                            Done<fabricapi::Listed<fabric::Binding>> done) {
  look(std::move(done), [=, this] { return world_.ledger.bindings(caller, filter, page); });
}

void Steward::watch_bindings(const Caller& caller, const fabricapi::BindingFilter& filter,
                             Watches::Told told,
                             Done<std::shared_ptr<fabricapi::Fabric::Watch>> done) {
  using Started = Result<std::shared_ptr<fabricapi::Fabric::Watch>>;
  look(std::move(done), [=, this]() -> Started {
    fabricapi::Page page;
    do {
      const auto listed = world_.ledger.bindings(caller, filter, page);
      if (!listed) return listed.error();
      for (const fabric::Binding& binding : listed->items)
        if (!told({binding, false}))
          return Error(Code::unavailable, "whoever watches cannot keep up");
      page.token = listed->next;
    } while (!page.token.empty());
    return watches_.add(filter, told);
  });
}

void Steward::list_nodes(const Caller& caller, Done<std::vector<fabricapi::Node>> done) {
  if (caller.role == fabricapi::Role::node)
    return done(Error(Code::denied, "a node does not see other nodes"));
  look(std::move(done),
       [this]() -> Result<std::vector<fabricapi::Node>> { return world_.ledger.nodes(); });
}

void Steward::show() {
  const std::set<ib::Guid>& unsettled = world_.ledger.unsettled();
  world_.report.bindings(world_.ledger.counts(), unsettled.size(), waiting_.size());
  world_.report.engine(world_.engine.standing(), told_);
  const DeclaredFaults faults = declared_faults();
  if (faults.declared) world_.report.declared_file(faults.texts.empty());
  std::map<std::string_view, size_t> weaknesses;
  for (const auto& [weakness, count] : posture().counts) weaknesses[name(weakness)] = count;
  world_.report.weaknesses(weaknesses);
}

}  // namespace ibpod::sm
