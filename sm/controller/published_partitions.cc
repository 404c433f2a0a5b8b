#include "sm/controller/published_partitions.h"

#include "lib/fabric/partitions_conf.h"

#include <utility>

namespace ibpod::sm::controller {

PublishedPartitions::PublishedPartitions(engine::SubnetManager& subnet_manager)
    : subnet_manager_(subnet_manager), manual_(subnet_manager.manual_partitions()) {
  all_ = all_with({});
}

bool PublishedPartitions::publish(uint64_t version, const engine::Partitions& partitions) {
  if (version == version_) return false;
  version_ = version;
  own_ = partitions;
  all_ = all_with(*own_);
  subnet_manager_.apply(version_, own_);
  return true;
}

bool PublishedPartitions::update_manual() {
  Definitions now = subnet_manager_.manual_partitions();
  if (now == manual_) return false;
  manual_ = std::move(now);
  if (own_) all_ = all_with(*own_);
  return true;
}

PublishedPartitions::Definitions PublishedPartitions::all_with(Definitions own) const {
  own.insert(own.end(), manual_.begin(), manual_.end());
  return subnet_manager_.as_written(std::move(own));
}

std::set<uint16_t> PublishedPartitions::manual_pkeys() const {
  std::set<uint16_t> pkeys;
  for (const fabric::PartitionDefinition& definition : manual_)
    pkeys.insert(definition.pkey.partition());
  return pkeys;
}

size_t PublishedPartitions::manual_bytes() const {
  size_t bytes = 0;
  for (const fabric::PartitionDefinition& definition : manual_)
    bytes += fabric::kMostHeadBytes + definition.members.size() * fabric::kMostMemberBytes;
  return bytes;
}

verify::DesiredKeys PublishedPartitions::unmanaged() const {
  Definitions unmanaged;
  if (own_) unmanaged.push_back(own_->front());
  unmanaged.insert(unmanaged.end(), manual_.begin(), manual_.end());
  return verify::DesiredKeys(unmanaged);
}

}  // namespace ibpod::sm::controller
