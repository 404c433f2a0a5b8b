// Lookups and diagnostics.
#include "sm/controller/fabric_calls.h"

namespace ibpod::sm::controller {

void FabricCalls::list_partitions(const Caller&, const fabricapi::PageRequest& page,
                                  Done<fabricapi::ListPage<fabric::PartitionStatus>> done) {
  deps_.commits.answer_committed(
      std::move(done), [=, this]() -> Result<fabricapi::ListPage<fabric::PartitionStatus>> {
        auto listed = TRY(deps_.registry.partitions.view().list(page));
        deps_.declared.show(listed);
        return listed;
      });
}

void FabricCalls::get_binding(const Caller&, const fabric::Attachment& attachment,
                              Done<fabric::Binding> done) {
  deps_.commits.answer_committed(std::move(done),
                                 [=, this] { return deps_.registry.bindings.binding(attachment); });
}

void FabricCalls::list_bindings(const Caller&, const fabricapi::BindingFilter& filter,
                                const fabricapi::PageRequest& page,
                                Done<fabricapi::ListPage<fabric::Binding>> done) {
  deps_.commits.answer_committed(std::move(done),
                                 [=, this] { return deps_.registry.bindings.list(filter, page); });
}

void FabricCalls::watch_bindings(const Caller&, const fabricapi::BindingFilter& filter,
                                 Watches::Callback on_change,
                                 Done<std::shared_ptr<fabricapi::Watch>> done) {
  using Started = Result<std::shared_ptr<fabricapi::Watch>>;
  deps_.commits.answer_committed(std::move(done), [=, this]() -> Started {
    fabricapi::PageRequest page;
    do {
      const auto listed = deps_.registry.bindings.list(filter, page);
      if (!listed) return listed.error();
      for (const fabric::Binding& binding : listed->items)
        if (!on_change({binding, false}))
          return Error(Code::unavailable, "the watching client does not read fast enough");
      page.token = listed->next;
    } while (!page.token.empty());
    return deps_.watches.add(filter, on_change);
  });
}

void FabricCalls::list_nodes(const Caller&, Done<v1::ListNodesResponse> done) {
  deps_.commits.answer_committed(std::move(done), [this]() -> Result<v1::ListNodesResponse> {
    return deps_.registry.nodes.list();
  });
}

void FabricCalls::plan(const Caller&, const fabricapi::PlanRequest& request,
                       Done<v1::PlanResponse> done) {
  deps_.commits.answer_committed(std::move(done),
                                 [=, this] { return deps_.diagnostics.plan(request, deps_.now); });
}

void FabricCalls::explain(const Caller&, const fabricapi::ExplainRequest& request,
                          Done<fabricapi::Explanation> done) {
  deps_.commits.answer_committed(
      std::move(done), [=, this] { return deps_.diagnostics.explain(request, deps_.now); });
}

void FabricCalls::health(const Caller&, Done<v1::FabricHealthResponse> done) {
  deps_.commits.answer_committed(std::move(done),
                                 [this] { return deps_.diagnostics.health(deps_.now); });
}

}  // namespace ibpod::sm::controller
