#include "tests/vm/snapshot.h"

#include "lib/base/fnv.h"
#include "lib/base/join.h"
#include "lib/netns/netns.h"
#include "lib/nl/rdma.h"
#include "lib/sysfs/infiniband.h"
#include "lib/sysfs/pci.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <net/if_arp.h>

namespace ibpod::vm {
namespace {

using Lines = std::vector<std::string>;

// A network namespace, ready to be asked.
struct View {
  std::string name;  // "host", or that of its entry in /run/netns
  nl::Socket route;
  nl::Socket rdma;
  sysfs::Sysfs sysfs;
};

void append(Lines& lines, Lines more) {
  lines.insert(lines.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

std::string sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words.empty() ? "-" : join(words, ",");
}

Result<View> open_view(const std::string& name, const netns::NetNs& netns, sysfs::Sysfs sysfs) {
  nl::Socket route = TRY(nl::Socket::open_in(netns.fd(), nl::Family::route));
  nl::Socket rdma = TRY(nl::Socket::open_in(netns.fd(), nl::Family::rdma));
  return View{name, std::move(route), std::move(rdma), std::move(sysfs)};
}

Result<View> open_host(const ObservedPaths& paths) {
  const netns::NetNs netns = TRY(netns::NetNs::current());
  sysfs::Sysfs sysfs = TRY(sysfs::Sysfs::open(paths.sys));
  return open_view("host", netns, std::move(sysfs));
}

// An entry without a namespace is a line of its own, and nothing else.
Result<std::vector<View>> open_views(const ObservedPaths& paths, Lines& lines) {
  std::vector<View> views;
  View host = TRY(open_host(paths));
  views.push_back(std::move(host));
  const Lines names = TRY(list_folder(paths.namespaces));
  for (const std::string& name : names) {
    const Result<netns::NetNs> netns = netns::NetNs::open(paths.namespaces / name);
    lines.push_back("netns " + name + (netns ? "" : " dead"));
    if (!netns) continue;
    sysfs::Sysfs sysfs = TRY(sysfs::Sysfs::of_netns(netns->fd()));
    View view = TRY(open_view(name, *netns, std::move(sysfs)));
    views.push_back(std::move(view));
  }
  return views;
}

std::string name_of(const std::vector<nl::Link>& links, nl::IfIndex index) {
  for (const nl::Link& link : links) {
    if (link.index == index) return link.name;
  }
  return "?";  // of another namespace
}

Result<Lines> links_of(View& view) {
  const std::vector<nl::Link> links = TRY(nl::links(view.route));
  Lines lines;
  for (const nl::Link& link : links) {
    const std::vector<nl::LinkAddress> addresses = TRY(nl::addresses(view.route, link.index));
    const std::string parent = link.parent ? name_of(links, *link.parent) : "";
    lines.push_back(link_line(view.name, link, parent, addresses));
  }
  return lines;
}

Result<std::string> rdma_line(const View& view, const std::string& device) {
  const std::optional<ib::PciAddress> function =
      TRY(sysfs::function_of_rdma_device(view.sysfs, device));
  const ib::Guid node = TRY(sysfs::node_guid(view.sysfs, device));
  const ib::Guid port = TRY(sysfs::port_guid(view.sysfs, device, 1));
  return "rdma " + view.name + " " + device + " of " + (function ? function->text() : "-") +
         " node=" + guid_text(node) + " port=" + guid_text(port);
}

Result<Lines> rdma_of(View& view) {
  Lines lines;
  const std::vector<nl::RdmaDevice> devices = TRY(nl::rdma_devices(view.rdma));
  for (const nl::RdmaDevice& device : devices) {
    std::string line = TRY(rdma_line(view, device.name));
    lines.push_back(std::move(line));
  }
  return lines;
}

// The settings of the VFs in the PF's driver, read through its own interface.
Result<Lines> settings_of(View& host, const ib::PciAddress& pf) {
  Lines lines;
  const Lines names = TRY(sysfs::netdevs(host.sysfs, pf));
  for (const std::string& name : names) {
    const std::optional<nl::Link> link = TRY(nl::find_link(host.route, name));
    if (!link || link->parent) continue;
    const std::vector<nl::VfSettings> all = TRY(nl::vf_settings(host.route, link->index));
    for (const nl::VfSettings& settings : all) lines.push_back(vf_line(pf.text(), settings));
  }
  return lines;
}

// A function is named by its address: its devices' names are theirs.
Result<std::string> function_line(const View& host, const ib::PciAddress& function) {
  const std::optional<std::string> driver = TRY(sysfs::driver(host.sysfs, function));
  const Path folder = Path("bus/pci/devices") / function.text();
  const std::string override = TRY(host.sysfs.read(folder / "driver_override"));
  const std::string forced = override == "(null)" || override.empty() ? "" : " forced=" + override;
  return "function " + function.text() + " driver=" + driver.value_or("none") + forced;
}

Result<Lines> functions_of(View& host) {
  Lines lines;
  const Lines names = TRY(host.sysfs.list("bus/pci/devices"));
  for (const std::string& name : names) {
    const ib::PciAddress pf = TRY(ib::PciAddress::parse(name));
    std::vector<ib::PciAddress> functions = TRY(sysfs::vfs_of(host.sysfs, pf));
    if (functions.empty()) continue;
    Lines settings = TRY(settings_of(host, pf));
    append(lines, std::move(settings));
    functions.push_back(pf);
    for (const ib::PciAddress& function : functions) {
      std::string line = TRY(function_line(host, function));
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// Enough to see that a file has changed.
std::string hash(const std::string& content) {
  std::ostringstream text;
  text << std::hex << fnv1a(content);
  return text.str();
}

Result<Lines> lines_of(std::vector<View>& views) {
  Lines lines;
  for (View& view : views) {
    Lines links = TRY(links_of(view));
    append(lines, std::move(links));
    Lines devices = TRY(rdma_of(view));
    append(lines, std::move(devices));
  }
  return lines;
}

}  // namespace

std::string guid_text(ib::Guid guid) { return guid.none() ? "none" : guid.text(); }

std::string hardware_address_text(const nl::HardwareAddress& address) {
  const std::optional<ib::Guid> port = nl::guid_of(address);
  if (!port) return address.empty() ? "-" : nl::text(address);
  const nl::HardwareAddress prefix(address.begin() + 4, address.begin() + 12);
  return nl::text(prefix) + "/" + guid_text(*port);
}

std::string mtu_text(const nl::Link& link) {
  // InfiniBand MTUs of 4096 and 2048 less the 4 bytes of IPoIB's header (RFC 4391 section 6).
  const bool own = link.mtu == 4092 || link.mtu == 2044;
  const bool datagram = link.ipoib && link.ipoib->mode == nl::IpoibMode::datagram;
  return own && datagram ? "own" : std::to_string(link.mtu);
}

bool counts(const ip::Prefix& address) {
  return address.length != 64 || !address.address.text().starts_with("fe80:");
}

bool counts(const Path& file) {
  const std::string name = file.filename().string();
  return name != "lock" && !name.starts_with("last_reserved_ip.");
}

std::string link_line(const std::string& where, const nl::Link& link, const std::string& parent,
                      const std::vector<nl::LinkAddress>& addresses) {
  std::vector<std::string> counted;
  for (const nl::LinkAddress& address : addresses) {
    if (counts(address.prefix)) counted.push_back(address.prefix.text());
  }
  std::string line =
      "link " + where + " " + link.name + " kind=" + (link.kind.empty() ? "-" : link.kind);
  line += std::string(link.up ? " up" : " down") + " mtu=" + mtu_text(link);
  line += " address=" + hardware_address_text(link.address) + " altnames=" + sorted(link.altnames);
  line += " ip=" + sorted(counted);
  if (!parent.empty()) line += " parent=" + parent;
  if (!link.ipoib) return line;
  line += link.ipoib->mode == nl::IpoibMode::connected ? " connected" : " datagram";
  if (link.ipoib->umcast) line += " umcast";
  if (!parent.empty()) line += " pkey=" + link.ipoib->pkey.text();
  return line;
}

std::string vf_line(const std::string& pf, const nl::VfSettings& settings) {
  constexpr const char* kPolicies[] = {"auto", "enable", "disable"};
  const auto policy = static_cast<uint32_t>(settings.policy);
  return "vf " + pf + " " + std::to_string(static_cast<uint32_t>(settings.vf)) +
         " node=" + guid_text(settings.node_guid) + " port=" + guid_text(settings.port_guid) +
         " policy=" + (policy < std::size(kPolicies) ? kPolicies[policy] : std::to_string(policy));
}

Result<Lines> file_lines(const Path& path) {
  Lines lines;
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    if (!counts(path) || !path_exists(path)) return lines;
    const Result<std::string> content = read_file(path);
    lines.push_back("file " + path.string() + " " + (content ? hash(*content) : "unreadable"));
    return lines;
  }
  const Lines names = TRY(list_folder(path));
  for (const std::string& name : names) {
    Lines below = TRY(file_lines(path / name));
    append(lines, std::move(below));
  }
  return lines;
}

Result<Lines> empty_folder_lines(const Path& path) {
  Lines lines;
  const Lines names = TRY(list_folder(path));
  for (const std::string& name : names) {
    std::error_code error;
    if (!std::filesystem::is_directory(path / name, error)) continue;
    const Lines below = TRY(list_folder(path / name));
    if (below.empty()) lines.push_back("empty folder " + (path / name).string());
  }
  return lines;
}

// "36 35 0:4 net:[4026532] /run/netns/pod rw shared:1 - nsfs nsfs rw"
Lines mount_lines(const std::string& mountinfo) {
  Lines lines;
  std::istringstream all(mountinfo);
  for (std::string line; std::getline(all, line);) {
    if (line.find(" - nsfs ") == line.npos) continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;
    lines.push_back("mount " + word);
  }
  return lines;
}

std::string difference(const Lines& before, const Lines& after) {
  Lines gone;
  Lines added;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(gone));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(added));
  std::string text;
  for (const std::string& line : gone) text += "- " + line + "\n";
  for (const std::string& line : added) text += "+ " + line + "\n";
  return text;
}

Result<Lines> snapshot(const ObservedPaths& paths) {
  Lines lines;
  std::vector<View> views = TRY(open_views(paths, lines));
  const nl::RdmaNetnsMode mode = TRY(nl::rdma_netns_mode(views.front().rdma));
  lines.push_back(mode == nl::RdmaNetnsMode::exclusive ? "rdma mode exclusive"
                                                       : "rdma mode shared");
  Lines devices = TRY(lines_of(views));
  append(lines, std::move(devices));
  Lines functions = TRY(functions_of(views.front()));
  append(lines, std::move(functions));
  const std::string mountinfo = TRY(read_file(paths.mounts));
  append(lines, mount_lines(mountinfo));
  for (const Path& path : {paths.attachments, paths.addresses}) {
    Lines folders = TRY(empty_folder_lines(path));
    append(lines, std::move(folders));
  }
  for (const Path& path : paths.files) {
    Lines files = TRY(file_lines(path));
    append(lines, std::move(files));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace ibpod::vm
