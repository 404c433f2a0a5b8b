#include "device-plugin/holders.h"

#include "lib/base/join.h"
#include "lib/node/describe.h"

namespace ibpod::device_plugin {
namespace {

void add(Holder& holder, const node::Record& record) {
  if (record.child) {
    add_item(holder.children, ", ",
             describe_owner(record) + " has the IPoIB child " + record.child->link + " on it");
    return;
  }
  add_item(holder.attachment, ", ", describe_owner(record));
  holder.namespaces.push_back(record.netns);
}

}  // namespace

Result<std::map<ib::PciAddress, Holder>> read_holders(const node::Records& records) {
  const std::vector<node::RecordName> names = TRY(records.all());
  std::map<ib::PciAddress, Holder> holders;
  for (const node::RecordName& name : names) {
    const Result<node::Record> record = records.read(name);
    if (!record && record.error().code() == Code::not_found) continue;  // its DEL was faster
    const Result<ib::PciAddress> function = ib::PciAddress::parse(name.folder);
    if (record) {
      add(holders[record->device], *record);
    } else if (function) {
      add_item(holders[*function].quarantine, ", ", record.error().text());
    }
  }
  return holders;
}

}  // namespace ibpod::device_plugin
