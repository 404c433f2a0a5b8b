#include "tests/fabric/storm/ports.h"

#include "sm/probe/discovery.h"
#include "tests/fabric/sm/sm_process.h"
#include "tests/fabric/watching.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

mad::RetryPolicy long_timeout() { return {.deadline = Deadline::in(std::chrono::seconds(60))}; }

}  // namespace

Ports::Ports()
    : scheduler_(new_scheduler()),
      survey_(std::make_unique<fabric::Topology>(
          sm::probe::discover(*scheduler_, {.retry = long_timeout()}))) {}

mad::PKeyTableAddress Ports::place(unsigned host) const {
  const fabric::Port* const port = survey_->find(port_guid(host));
  REQUIRE(port != nullptr);
  return {{port->route()}, port->partition_cap};
}

std::vector<std::optional<ib::PKeyTable>> Ports::tables(const std::vector<unsigned>& hosts) {
  std::vector<mad::PKeyTableAddress> places;
  for (const unsigned host : hosts) places.push_back(place(host));
  std::vector<std::optional<ib::PKeyTable>> tables;
  for (const auto& read : mad::read_tables(*scheduler_, places, {.retry = long_timeout()})) {
    const ib::PKeyTable* const table = mad::value_of(read);
    tables.push_back(table == nullptr ? std::nullopt : std::optional(*table));
  }
  return tables;
}

std::optional<bool> Ports::has(unsigned host, ib::PKey key) {
  const auto table = tables({host}).front();
  if (!table) return std::nullopt;
  return ib::find_in(*table, key).has_value();
}

void Ports::write(const std::vector<unsigned>& hosts, const std::vector<ib::PKeyTable>& tables) {
  std::vector<mad::BlockWrite> writes;
  for (size_t n = 0; n < hosts.size(); ++n)
    writes.push_back({place(hosts[n]).at, 0, mad::block_of(tables[n], 0)});
  for (const auto& written : mad::write_blocks(*scheduler_, writes, {.retry = long_timeout()}))
    REQUIRE(mad::value_of(written) != nullptr);
}

}  // namespace ibpod
