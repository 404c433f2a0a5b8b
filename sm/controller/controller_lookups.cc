// Lookups, diagnostics and metrics.
#include "sm/controller/controller.h"

namespace ibpod::sm::controller {
void Controller::list_partitions(const Caller&, const fabricapi::PageRequest& page,
                                 Done<fabricapi::ListPage<fabric::PartitionStatus>> done) {
  commits_.answer_committed(std::move(done),
                            [=, this]() -> Result<fabricapi::ListPage<fabric::PartitionStatus>> {
                              auto listed = TRY(deps_.registry.partitions.view().list(page));
                              declared_.show(listed);
                              return listed;
                            });
}

void Controller::get_binding(const Caller&, const fabric::Attachment& attachment,
                             Done<fabric::Binding> done) {
  commits_.answer_committed(std::move(done),
                            [=, this] { return deps_.registry.bindings.binding(attachment); });
}

void Controller::list_bindings(const Caller&, const fabricapi::BindingFilter& filter,
                               const fabricapi::PageRequest& page,
                               Done<fabricapi::ListPage<fabric::Binding>> done) {
  commits_.answer_committed(std::move(done),
                            [=, this] { return deps_.registry.bindings.list(filter, page); });
}

void Controller::watch_bindings(const Caller&, const fabricapi::BindingFilter& filter,
                                Watches::Callback on_change,
                                Done<std::shared_ptr<fabricapi::Watch>> done) {
  using Started = Result<std::shared_ptr<fabricapi::Watch>>;
  commits_.answer_committed(std::move(done), [=, this]() -> Started {
    fabricapi::PageRequest page;
    do {
      const auto listed = deps_.registry.bindings.list(filter, page);
      if (!listed) return listed.error();
      for (const fabric::Binding& binding : listed->items)
        if (!on_change({binding, false}))
          return Error(Code::unavailable, "the watching client does not read fast enough");
      page.token = listed->next;
    } while (!page.token.empty());
    return watches_.add(filter, on_change);
  });
}

void Controller::list_nodes(const Caller&, Done<v1::ListNodesResponse> done) {
  commits_.answer_committed(std::move(done), [this]() -> Result<v1::ListNodesResponse> {
    return deps_.registry.nodes.list();
  });
}

void Controller::plan(const Caller&, const fabricapi::PlanRequest& request,
                      Done<v1::PlanResponse> done) {
  commits_.answer_committed(std::move(done),
                            [=, this] { return diagnostics_.plan(request, now_); });
}

void Controller::explain(const Caller&, const fabricapi::ExplainRequest& request,
                         Done<fabricapi::Explanation> done) {
  commits_.answer_committed(std::move(done),
                            [=, this] { return diagnostics_.explain(request, now_); });
}

void Controller::health(const Caller&, Done<v1::FabricHealthResponse> done) {
  commits_.answer_committed(std::move(done), [this] { return diagnostics_.health(now_); });
}

void Controller::update_metrics() {
  const std::set<ib::Guid>& unsettled = deps_.registry.bindings.unsettled();
  deps_.telemetry.bindings(deps_.registry.bindings.counts(), unsettled.size(),
                           binding_calls_.pending());
  deps_.telemetry.engine(deps_.subnet_manager.status(), fabric_.published().version());
  const diagnose::DeclaredFileFaults faults = declared_.faults();
  if (faults.declared) deps_.telemetry.declared_file(faults.texts.empty());
  std::map<std::string_view, size_t> issues;
  for (const auto& [issue, count] : diagnostics_.health_checks(now_).counts)
    issues[diagnose::name(issue)] = count;
  deps_.telemetry.issues(issues);
}

}  // namespace ibpod::sm::controller
