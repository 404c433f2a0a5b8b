// For any request of the kubelet and any device-info files of other programs: a device is given
// once, to the request that names it. Two parts, with byte 0x1e between them: a file, and IDs, one
// a line.
#include "device-plugin/allocation.h"
#include "device-plugin/device_info.h"
#include "device-plugin/test_devices.h"
#include "tests/support/fuzz.h"
#include "tests/support/temp_folder.h"

namespace ibpod::device_plugin {
namespace {

using fuzz::require;

const std::string kResource = "ibpod.io/vfs";
const std::string kDevice = "0000:3b:00.1";

const std::vector<PoolContents>& pool_contents() {
  static const std::vector<PoolContents> all_contents = [] {
    Pool pool;
    pool.prefix = "ibpod.io";
    pool.name = "vfs";
    return assign({pool}, test_node(1, 4));
  }();
  return all_contents;
}

void check_allocation(const std::vector<std::string>& ids, size_t size) {
  const auto answer = allocate(pool_contents(), kResource, ids);
  if (!answer) return fuzz::check_refusal(answer.error(), size);
  require(!ids.empty() && ids.size() <= pool_contents().front().devices.size());
  for (const auto& [name, value] : answer->envs) require(name.starts_with("PCIDEVICE_"));
}

// A file that another program has left, or that is damaged.
void check_file(const std::string& text) {
  static const TempFolder folder("/dev/shm");
  const Path file = device_info_file(folder.path(), kResource, kDevice);
  folder.write(file.filename(), text);
  const auto nodes = granted_nodes(folder.path(), kResource, kDevice);
  if (!nodes) fuzz::check_refusal(nodes.error(), text.size());
  const Allocated allocated = read_allocated(folder.path()).value();
  require(allocated.size() <= 1);
  require(allocated_resources(folder.path()).value().size() == allocated.size());
  const PoolDevice& pool_device = pool_contents().front().devices.front();
  require(
      write_allocated(folder.path(), pool_contents().front().pool, pool_device, {kResource}).ok());
  require(read_allocated(folder.path()).value() ==
          Allocated{{pool_device.device.address, kResource}});
}

}  // namespace
}  // namespace ibpod::device_plugin

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  std::string_view rest = fuzz::text_of(data, size);
  device_plugin::check_file(std::string(fuzz::next_part(rest)));
  device_plugin::check_allocation(fuzz::lines_of(rest), size);
  return 0;
}
