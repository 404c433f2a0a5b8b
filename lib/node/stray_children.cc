#include "lib/node/stray_children.h"

#include "lib/node/child.h"

#include <algorithm>

namespace ibpod::node {
namespace {

bool is_named_by(const RecordName& name, const Netdev& netdev) {
  return netdev.name == name.folder || netdev.alias == name.folder;
}

bool is_ours_by_name(const Netdev& netdev) {
  return is_child_link(netdev.name) || is_child_link(netdev.alias);
}

// Names are a pod's to choose: they count only where the record cannot say more.
Result<bool> has_record(const Records& records, const RecordName& name, const Netdev& netdev) {
  if (!is_child_link(name.folder)) return false;
  const Result<Record> record = records.read(name);
  if (record) return record->child && is_of(*record->child, netdev);
  if (is_named_by(name, netdev)) return true;
  return record.error().code() != Code::not_found && !is_ours_by_name(netdev);
}

}  // namespace

Result<std::vector<Netdev>> stray_children(Kernel& kernel, const Records& records) {
  std::vector<Netdev> strays = TRY(kernel.ipoib_netdevs(kHost));
  std::erase_if(strays, [](const Netdev& netdev) { return !is_ours(netdev); });
  if (strays.empty()) return strays;
  // Read after that: a record is there before its child is made.
  const std::vector<RecordName> names = TRY(records.all());
  for (const RecordName& name : names) {
    for (auto netdev = strays.begin(); netdev != strays.end();) {
      const bool recorded = TRY(has_record(records, name, *netdev));
      netdev = recorded ? strays.erase(netdev) : std::next(netdev);
    }
  }
  return strays;
}

}  // namespace ibpod::node
