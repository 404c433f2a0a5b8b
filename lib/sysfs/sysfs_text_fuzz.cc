// For any files of sysfs: they are accepted or refused with a reason. Every attribute of one RDMA
// device and of its function has the text.
#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"
#include "lib/sysfs/sriov.h"
#include "lib/sysfs/topology.h"
#include "tests/support/fuzz.h"
#include "tests/support/temp_folder.h"

namespace ibpod::sysfs {
namespace {

const char* const kFunction = "bus/pci/devices/0000:3b:00.0";
const char* const kDevice = "class/infiniband/mlx5_0";
const char* const kPort = "class/infiniband/mlx5_0/ports/1";

std::vector<Path> attributes() {
  const Path function = kFunction, device = kDevice, port = kPort;
  return {function / "vendor",
          function / "device",
          function / "modalias",
          function / "numa_node",
          function / "acpi_index",
          function / "sriov_totalvfs",
          function / "class",
          function / "sriov_drivers_autoprobe",
          device / "node_guid",
          port / "state",
          port / "lid",
          port / "gids/0",
          port / "pkeys/0",
          port / "link_layer",
          "class/infiniband_verbs/uverbs0/ibdev"};
}

// One file, of which every attribute is another name.
class Tree {
 public:
  Tree() {
    folder_.write("text", "");
    for (const Path& attribute : attributes()) {
      std::filesystem::create_directories((folder_.path() / attribute).parent_path());
      std::filesystem::create_hard_link(folder_.path() / "text", folder_.path() / attribute);
    }
  }
  Sysfs with(std::string_view text) const {
    folder_.write("text", std::string(text));
    return Sysfs::open(folder_.path()).value();
  }

 private:
  TempFolder folder_{"/dev/shm"};
};

template <typename... Values>
void check(size_t size, const Result<Values>&... values) {
  const auto one = [size](const auto& value) {
    if (!value) fuzz::check_refusal(value.error(), size);
  };
  (one(values), ...);
}

}  // namespace
}  // namespace ibpod::sysfs

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  using namespace ibpod::sysfs;
  static const Tree tree;
  static const auto function = ib::PciAddress::parse("0000:3b:00.0").value();
  const Sysfs sysfs = tree.with(fuzz::text_of(data, size));
  check(size, node_guid(sysfs, "mlx5_0"), port(sysfs, "mlx5_0", 1), pkeys(sysfs, "mlx5_0", 1),
        subnet_prefix(sysfs, "mlx5_0", 1), link_layer(sysfs, "mlx5_0", 1));
  check(size, pci_ids(sysfs, function), pci_id(sysfs, function), numa_node(sysfs, function),
        acpi_index(sysfs, function), total_vfs(sysfs, function), autoprobe(sysfs, function),
        physical_functions(sysfs));
  // A name that is read here becomes part of a path.
  const auto device = device_of_uverbs(sysfs, "uverbs0");
  check(size, device);
  if (device) check(size, port(sysfs, *device, 1));
  return 0;
}
