#include "tests/fabric/sm/sm_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {

bool SmBed::all_verified() const {
  const auto listed = client().list_bindings({}, {}, patience());
  if (!listed) return false;
  for (const fabric::Binding& binding : listed->items)
    if (binding.state != fabric::State::verified) return false;
  return true;
}

void SmBed::partition(const fabric::Tenancy& tenancy) {
  const auto made = client().create_partition(tenancy, patience());
  if (!made) FAIL(made.error().text());
}

std::string SmBed::bind(unsigned host, const std::string& partition, const std::string& container,
                        Duration patience) {
  const auto bound = client().bind(request(host, partition, container), Deadline::in(patience));
  if (!bound) return std::string(name(bound.error().code())) + ": " + bound.error().text();
  return std::string(name(bound->state));
}

std::string SmBed::unbind(unsigned host, const std::string& container, Duration patience) {
  const auto unbound = client().unbind({node_of(host), container, "net1"}, Deadline::in(patience));
  if (!unbound) return std::string(name(unbound.error().code())) + ": " + unbound.error().text();
  return std::string(name(unbound->state));
}

}  // namespace ibpod
