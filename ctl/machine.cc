#include "ctl/machine.h"

#include "lib/node/records.h"
#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

#include <unistd.h>

namespace ibpod::ctl {
namespace {

using sysfs::Sysfs;

constexpr std::string_view kInfinibandClass = "0x0207";  // of the PCI code and ID assignment list

class MachineReader {
 public:
  MachineReader(const MachinePaths& paths, node::Kernel* kernel, const Sysfs& sysfs)
      : paths_(paths), kernel_(kernel), sysfs_(sysfs) {}

  Result<Machine> read() {
    machine_.kernel = TRY(line_of("sys/kernel/osrelease"));
    const std::vector<std::string> modules = TRY(sysfs_.list("module"));
    machine_.modules = {modules.begin(), modules.end()};
    find_netns_mode();
    const std::vector<std::string> iommus = TRY(sysfs_.list("class/iommu"));
    machine_.iommu = !iommus.empty();
    TRY(find_runtime());
    TRY(find_functions());
    find_neighbours();
    return std::move(machine_);
  }

 private:
  Result<std::string> line_of(const Path& file) {
    std::string text = TRY(read_file(paths_.proc / file));
    if (text.ends_with('\n')) text.pop_back();
    return text;
  }

  void find_netns_mode() {
    if (kernel_ == nullptr) return;
    const Result<nl::RdmaNetnsMode> mode = kernel_->rdma_netns_mode();
    if (mode) machine_.netns_mode = *mode;
  }

  Status find_runtime() {
    const std::vector<std::string> processes = TRY(list_folder(paths_.proc));
    for (const std::string& process : processes) {
      const Result<std::string> name = line_of(Path(process) / "comm");
      if (!name || (*name != "containerd" && *name != "crio")) continue;
      machine_.runtime = *name;
      const Result<std::string> limits = line_of(Path(process) / "limits");
      if (limits) machine_.memlock = memlock_of(*limits);
      return ok();
    }
    return ok();
  }

  // "Max locked memory  8388608  8388608  bytes" (proc_pid_limits(5)): the soft one.
  static std::optional<rlim_t> memlock_of(const std::string& limits) {
    constexpr std::string_view kName = "Max locked memory";
    const size_t begin = limits.find(kName);
    if (begin == std::string::npos) return std::nullopt;
    std::istringstream rest(limits.substr(begin + kName.size()));
    std::string soft;
    rest >> soft;
    if (soft == "unlimited") return RLIM_INFINITY;
    rlim_t bytes = 0;
    const char* end = soft.data() + soft.size();
    const auto [stop, error] = std::from_chars(soft.data(), end, bytes);
    return error == std::errc() && stop == end ? std::optional(bytes) : std::nullopt;
  }

  Status find_functions() {
    const std::vector<std::string> names = TRY(sysfs_.list("bus/pci/devices"));
    for (const std::string& name : names) {
      const Result<ib::PciAddress> address = ib::PciAddress::parse(name);
      if (!address || sysfs_.exists(folder(*address) / "physfn") || !is_infiniband(*address))
        continue;
      const std::vector<ib::PciAddress> vfs = TRY(sysfs::vfs_of(sysfs_, *address));
      TRY(add_pf(*address, vfs.size()));
      for (const ib::PciAddress& vf : vfs) TRY(add_vf(vf));
    }
    return ok();
  }

  static Path folder(const ib::PciAddress& function) {
    return Path("bus/pci/devices") / function.text();
  }

  bool is_infiniband(const ib::PciAddress& function) const {
    if (sysfs_.exists(folder(function) / "infiniband")) return true;
    const Result<std::string> kind = sysfs_.read(folder(function) / "class");
    return kind && kind->starts_with(kInfinibandClass);
  }

  Result<Function> read_function(const ib::PciAddress& address) {
    Function function;
    function.address = address;
    const std::optional<std::string> driver = TRY(sysfs::driver(sysfs_, address));
    function.driver = driver.value_or("");
    function.pf = TRY(sysfs::pf_of(sysfs_, address));
    return function;
  }

  Status add_pf(const ib::PciAddress& address, size_t vfs) {
    Function pf = TRY(read_function(address));
    pf.vfs = static_cast<uint32_t>(vfs);
    const Result<std::string> total = sysfs_.read(folder(address) / "sriov_totalvfs");
    if (total) pf.total_vfs = static_cast<uint32_t>(std::atoi(total->c_str()));
    pf.rdma = sysfs::has_rdma(sysfs_, address);
    const std::vector<std::string> devices = TRY(sysfs::rdma_devices(sysfs_, address));
    for (const std::string& device : devices) TRY(add_ports(device, pf));
    machine_.functions.push_back(std::move(pf));
    return ok();
  }

  Status add_ports(const std::string& device, Function& pf) {
    const Path ports = Path("class/infiniband") / device / "ports";
    const std::vector<std::string> numbers = TRY(sysfs_.list(ports));
    for (const std::string& number : numbers) {
      const Result<std::string> layer = sysfs_.read(ports / number / "link_layer");
      pf.ports.push_back(
          {device, static_cast<unsigned>(std::atoi(number.c_str())), layer ? *layer : ""});
    }
    return ok();
  }

  Status add_vf(const ib::PciAddress& address) {
    Function vf = TRY(read_function(address));
    const std::vector<node::RecordName> names =
        TRY(node::Records(paths_.state).in_folder(address.text()));
    vf.in_pod = !names.empty();
    TRY(ask_settings(vf));
    machine_.functions.push_back(std::move(vf));
    return ok();
  }

  Status ask_settings(Function& vf) {
    if (kernel_ == nullptr) return ok();
    const std::optional<node::Function> function = TRY(kernel_->function(vf.address));
    if (!function) return ok();
    vf.vf = function->vf;
    vf.pf_name = TRY(interface_of(*vf.pf));
    // A PF without IPoIB, or a driver that cannot say, is no reason to say nothing at all.
    const Result<nl::VfSettings> settings = kernel_->vf_settings(*function);
    if (settings) {
      vf.port_guid = settings->port_guid;
      vf.policy = settings->policy;
    }
    return ok();
  }

  Result<std::string> interface_of(const ib::PciAddress& pf) {
    const std::vector<node::Netdev> netdevs = TRY(kernel_->netdevs(node::kHost, pf));
    for (const node::Netdev& netdev : netdevs)
      if (!netdev.parent) return netdev.name;
    return std::string();
  }

  void find_neighbours() {
    for (const Path& socket : {paths_.kubelet / "device-plugins/kubelet.sock",
                               paths_.kubelet / "pod-resources/kubelet.sock", paths_.agent})
      machine_.sockets[socket] = path_exists(socket);
    for (const char* plugin : {"ib-sriov", "ipoib"}) {
      const Path program = paths_.plugins / plugin;
      machine_.programs[program] = ::access(program.c_str(), X_OK) == 0;
    }
  }

  const MachinePaths& paths_;
  node::Kernel* kernel_;
  const Sysfs& sysfs_;
  Machine machine_;
};

}  // namespace

Result<Machine> read_machine(const MachinePaths& paths, node::Kernel* kernel) {
  const Sysfs sysfs = TRY(Sysfs::open(paths.sys));
  return MachineReader(paths, kernel, sysfs).read();
}

}  // namespace ibpod::ctl
