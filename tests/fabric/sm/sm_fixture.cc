#include "tests/fabric/sm/sm_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {

bool SmFixture::all_verified() const {
  const auto listed = client().list_bindings({}, {}, deadline_in());
  if (!listed) return false;
  for (const fabric::Binding& binding : listed->items)
    if (binding.state != fabric::BindingState::verified) return false;
  return true;
}

void SmFixture::create_partition(const fabric::Partition& partition) {
  const auto made = client().create_partition(partition, deadline_in());
  if (!made) FAIL(made.error().text());
}

std::string SmFixture::bind(unsigned host, const std::string& partition,
                            const std::string& container, Duration timeout) {
  const auto bound = client().bind(request(host, partition, container), Deadline::in(timeout));
  if (!bound) return std::string(name(bound.error().code())) + ": " + bound.error().text();
  return std::string(name(bound->state));
}

std::string SmFixture::unbind(unsigned host, const std::string& container, Duration timeout) {
  const auto unbound = client().unbind({node_of(host), container, "net1"}, Deadline::in(timeout));
  if (!unbound) return std::string(name(unbound.error().code())) + ": " + unbound.error().text();
  return std::string(name(unbound->state));
}

}  // namespace ibpod
