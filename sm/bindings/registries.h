// Registries: the desired state of the subnet: the journal, and the registries that change it.
#pragma once

#include "sm/bindings/binding_registry.h"
#include "sm/bindings/node_registry.h"
#include "sm/partitions/partition_registry.h"
#include "sm/state/journal.h"

#include <memory>
#include <utility>

namespace ibpod::sm::bindings {

struct Registries {
  explicit Registries(std::unique_ptr<state::Journal> loaded)
      : owned(std::move(loaded)),
        journal(*owned),
        partitions(journal),
        bindings(journal),
        nodes(journal) {}
  // Errors as Journal::load().
  static Result<std::unique_ptr<Registries>> load(state::Store& store, state::Policy policy,
                                                  state::Now now) {
    std::unique_ptr<state::Journal> journal =
        TRY(state::Journal::load(store, std::move(policy), now));
    return std::make_unique<Registries>(std::move(journal));
  }

  const std::unique_ptr<state::Journal> owned;
  state::Journal& journal;
  partitions::PartitionRegistry partitions;
  BindingRegistry bindings;
  NodeRegistry nodes;
};

}  // namespace ibpod::sm::bindings
