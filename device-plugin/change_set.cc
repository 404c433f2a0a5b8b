#include "device-plugin/change_set.h"

#include <algorithm>
#include <optional>

namespace ibpod::device_plugin {

void add_device_path(const std::string& path, ChangeSet& changed) {
  std::optional<ib::PciAddress> last;
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const auto function = ib::PciAddress::parse(std::string_view(path).substr(begin, end - begin));
    if (function) last = *function;
    begin = end + 1;
  }
  if (last) changed.functions.insert(*last);
}

}  // namespace ibpod::device_plugin
