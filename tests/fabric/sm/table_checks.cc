#include "tests/fabric/sm/table_checks.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

// Nothing of it has changed from the one to the other.
bool same(const fabric::Binding& one, const fabric::Binding& other) {
  return one.state == other.state && one.changed == other.changed && one.desired == other.desired;
}

bool holds(const ib::PKeyTable& table, const std::vector<ib::PKey>& keys) {
  return std::all_of(keys.begin(), keys.end(),
                     [&](ib::PKey key) { return ib::find_in(table, key).has_value(); });
}

void add(std::vector<ib::PKey>& keys, const fabric::PartitionStatus& partition,
         fabric::Membership membership) {
  if (!partition.spec.pkey) return;
  const uint16_t number = partition.spec.pkey->partition();
  if (membership != fabric::Membership::limited)
    keys.emplace_back(static_cast<uint16_t>(number | 0x8000));
  if (membership != fabric::Membership::full) keys.emplace_back(number);
}

unsigned host_of(ib::Guid guid) {
  unsigned host = 0;
  while (host < kHosts && guid_of(host) != guid) ++host;
  return host;
}

}  // namespace

const fabric::Binding* ServiceView::find(const fabric::Attachment& attachment) const {
  for (const fabric::Binding& binding : bindings)
    if (binding.attachment == attachment) return &binding;
  return nullptr;
}

const fabric::PartitionStatus* ServiceView::find(const std::string& partition) const {
  for (const fabric::PartitionStatus& status : partitions)
    if (status.spec.name == partition) return &status;
  return nullptr;
}

std::vector<ib::PKey> ServiceView::keys_of(const fabric::Binding& binding) const {
  std::vector<ib::PKey> keys;
  for (const fabric::PartitionMembership& share : binding.desired)
    if (const fabric::PartitionStatus* const partition = find(share.partition))
      add(keys, *partition, share.membership);
  return keys;
}

std::vector<ib::PKey> ServiceView::keys_of(ib::Guid port) const {
  std::vector<ib::PKey> keys{fabric::kDefaultPKey};
  for (const fabric::Binding& binding : bindings) {
    if (binding.guid != port) continue;
    const std::vector<ib::PKey> more = keys_of(binding);
    keys.insert(keys.end(), more.begin(), more.end());
  }
  for (const fabric::PartitionStatus& status : partitions)
    for (const fabric::StaticMember& member : status.spec.members)
      if (member.guid == port) add(keys, status, member.membership);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

ServiceView read_service(const SmFixture& fixture) {
  const auto bindings = fixture.client().list_bindings({}, {}, SmFixture::deadline_in());
  const auto partitions = fixture.client().list_partitions({}, SmFixture::deadline_in());
  if (!bindings) FAIL(bindings.error().text());
  if (!partitions) FAIL(partitions.error().text());
  return {bindings->items, partitions->items};
}

void check_tables(SmFixture& fixture) {
  const ServiceView now = read_service(fixture);
  const std::vector<ib::PKeyTable> tables = fixture.subnet.tables();
  CHECK(keys_in(tables[kSmHost]) == std::vector{ib::kDefaultFull});
  for (const fabric::Binding& binding : now.bindings) {
    CHECK(binding.state == fabric::BindingState::verified);
    CHECK(now.keys_of(binding).size() >= binding.desired.size());
  }
  for (unsigned host = kSmHost + 1; host < kHosts; ++host) {
    INFO("host " << host << ": " << ib::text(tables[host]));
    CHECK(keys_in(tables[host]) == now.keys_of(guid_of(host)));
  }
}

void check_verified(SmFixture& fixture) {
  const ServiceView before = read_service(fixture);
  const std::vector<ib::PKeyTable> tables = fixture.subnet.tables();
  const ServiceView after = read_service(fixture);
  for (const fabric::Binding& binding : before.bindings) {
    const fabric::Binding* const still = after.find(binding.attachment);
    if (binding.state != fabric::BindingState::verified || still == nullptr ||
        !same(binding, *still))
      continue;
    const unsigned host = host_of(binding.guid);
    if (host == kHosts) continue;
    INFO("host " << host << ": " << ib::text(tables[host]));
    CHECK(holds(tables[host], before.keys_of(binding)));
  }
}

}  // namespace ibpod
