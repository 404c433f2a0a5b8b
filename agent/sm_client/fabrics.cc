#include "agent/sm_client/fabrics.h"

#include "lib/base/utf8.h"

#include <map>
#include <tuple>

namespace ibpod::agent::sm_client {
namespace {

// A VF's GUID is given from memory.
constexpr Duration kAllocateTimeout{3'000};

std::string subnet_of(const config::FabricService& service) {
  const std::string prefix =
      service.subnet_prefix ? service.subnet_prefix->text_in_gid() + ", " : "";
  return prefix + "which the SM service of fabric " + service.sm_address.fabric + " manages";
}

Result<ib::Guid> allocate_guid(fabricapi::Client& client, const std::string& node,
                               const ib::PciAddress& pf, uint32_t vf) {
  const std::vector<fabricapi::AllocatedGuid> given =
      TRY(client.allocate_guids({node, pf.text(), {vf}}, Deadline::in(kAllocateTimeout)));
  if (given.size() == 1 && given.front().vf == vf) return given.front().guid;
  return Error(Code::internal, "the SM service returned no GUID for VF " + std::to_string(vf));
}

}  // namespace

Result<std::unique_ptr<Fabrics>> Fabrics::open(const std::vector<config::FabricService>& services,
                                               FabricsDeps deps) {
  std::unique_ptr<Fabrics> fabrics(new Fabrics(std::move(deps)));
  for (const config::FabricService& service : services) {
    const std::string& name = service.sm_address.fabric;
    fabricapi::Client client =
        TRY(fabricapi::lasting_client_of(service.sm_address).during("fabric " + name));
    fabrics->sm_statuses_[name] = {};
    fabrics->grace_deadlines_.emplace(name, Deadline::in(fabrics->deps_.grace_period));
    fabrics->fabrics_.push_back({service, std::move(client)});
  }
  return fabrics;
}

// The thread of each session uses all of them.
Fabrics::~Fabrics() {
  for (Fabric& fabric : fabrics_) fabric.session.reset();
}

void Fabrics::begin() {
  const std::scoped_lock lock(mutex_);
  for (Fabric& fabric : fabrics_) {
    fabric.session = std::make_unique<SmSession>(fabric.client, session_deps(fabric));
    fabric.session->set_ports(ports_);
  }
}

SmSessionDeps Fabrics::session_deps(const Fabric& fabric) {
  const std::set<ib::Guid> others = other_subnets(fabric);
  return {deps_.records, deps_.node,
          [this, &fabric](const ib::PciAddress& device) { return pf_on_fabric(device, fabric); },
          [this, others](const std::vector<ib::Guid>& ports) {
            return deps_.read_tables(ports, others);
          },
          [this, &fabric](const SmStatus& sm_status) { set_status(fabric.name(), sm_status); }};
}

void Fabrics::set_status(const std::string& fabric, SmStatus sm_status) {
  SmStatus before;
  {
    const std::scoped_lock lock(mutex_);
    // Its last answer stays in force while the service cannot be reached.
    if (!sm_status.reached) sm_status.unknown_ports = sm_statuses_.at(fabric).unknown_ports;
    before = std::exchange(sm_statuses_.at(fabric), sm_status);
    SmStatusTimes& times = sm_status_times_[fabric];
    times.last_asked = std::chrono::system_clock::now();
    if (sm_status.reached) times.last_answered = times.last_asked;
    if (sm_status.reached) grace_deadlines_.erase(fabric);
    if (!sm_status.reached) grace_deadlines_.try_emplace(fabric, Deadline::in(deps_.grace_period));
  }
  deps_.on_status(fabric, before, sm_status);
}

std::map<std::string, SmStatus> Fabrics::sm_statuses() const {
  const std::scoped_lock lock(mutex_);
  return sm_statuses_;
}

std::map<std::string, SmStatusTimes> Fabrics::sm_status_times() const {
  const std::scoped_lock lock(mutex_);
  return sm_status_times_;
}

std::map<std::string, NodeCertificate> Fabrics::certificates() const {
  std::map<std::string, NodeCertificate> all;
  for (const Fabric& fabric : fabrics_) {
    if (!fabricapi::needs_files(fabric.service.sm_address.address)) continue;
    const fabricapi::ServiceAddress& address = fabric.service.sm_address;
    const bool is_token = !address.token.empty();
    all.emplace(fabric.name(),
                NodeCertificate{is_token ? address.token : address.files.certificate,
                                fabric.client.certificate(), fabric.client.certificate_usable(),
                                fabric.client.certificate_expires(), is_token});
  }
  return all;
}

// --- whether a partition could be bound

void Fabrics::set_ports(const NodePorts& ports) {
  const std::scoped_lock lock(mutex_);
  ports_ = ports;
  for (Fabric& fabric : fabrics_)
    if (fabric.session != nullptr) fabric.session->set_ports(ports);
}

void Fabrics::sync_now() {
  const std::scoped_lock lock(mutex_);
  for (Fabric& fabric : fabrics_)
    if (fabric.session != nullptr) fabric.session->sync_now();
}

// An open connection stays in use when the certificate expires. Without a connection, an unusable
// certificate is a fault at once, without a grace period: only another file helps.
std::optional<device_plugin::BindFault> Fabrics::service_fault(const Fabric& fabric) const {
  using Kind = device_plugin::BindFault::Kind;
  const auto away = grace_deadlines_.find(fabric.name());
  if (away == grace_deadlines_.end()) return {};
  const std::string service = "the SM service of fabric " + fabric.name();
  const Status usable = fabric.client.certificate_usable();
  const std::string cannot_use = fabric.service.sm_address.token.empty()
                                     ? "cannot use this node's certificate for "
                                     : "cannot use this node's token for ";
  if (!usable) return {{Kind::certificate, cannot_use + service + ": " + usable.error().text()}};
  if (!away->second.passed()) return {};
  return {{Kind::service, service + " cannot be reached: run ibpodctl doctor for the cause"}};
}

void Fabrics::set_bind_faults(std::vector<device_plugin::Device>& devices) const {
  const std::vector<std::optional<device_plugin::BindFault>> services = service_faults();
  std::map<ib::PciAddress, Result<PfPort>> ports;  // each PF's is read once
  for (device_plugin::Device& device : devices) {
    device.bind_fault.reset();
    if (!device.attachment.empty()) continue;
    const ib::PciAddress pf = device.pf.value_or(device.address);
    auto port = ports.find(pf);
    if (port == ports.end()) port = ports.emplace(pf, read_pf_port(deps_.sysfs, pf)).first;
    device.bind_fault = bind_fault(device, port->second, services);
  }
}

// Each costs the reading of its certificate while that cannot be used.
std::vector<std::optional<device_plugin::BindFault>> Fabrics::service_faults() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::optional<device_plugin::BindFault>> faults;
  for (const Fabric& fabric : fabrics_) faults.push_back(service_fault(fabric));
  return faults;
}

std::optional<device_plugin::BindFault> Fabrics::bind_fault(
    const device_plugin::Device& device, const Result<PfPort>& port,
    const std::vector<std::optional<device_plugin::BindFault>>& services) const {
  using Kind = device_plugin::BindFault::Kind;
  if (!port) return {{Kind::subnet, port.error().text()}};
  const Result<size_t> index = index_of(*port);
  if (!index && !port->up) return {};
  if (!index) return {{Kind::subnet, index.error().text()}};
  if (services.at(*index)) return services.at(*index);
  const Fabric& fabric = fabrics_.at(*index);
  const std::scoped_lock lock(mutex_);
  const std::optional<ib::Guid> guid = device.pf ? port_of(device) : port->guid;
  if (!guid || !sm_statuses_.at(fabric.name()).unknown_ports.contains(*guid)) return {};
  return {{Kind::guid, "the SM service of fabric " + fabric.name() + " does not know port " +
                           guid->text() + " as a " + (device.pf ? "VF" : "PF") + " of this node"}};
}

// --- which one a PF is on

Status Fabrics::check_subnet(const PfPort& port, const Fabric& fabric) const {
  const std::optional<ib::Guid>& wanted = fabric.service.subnet_prefix;
  if (!wanted) return ok();
  const std::string pf = "PF " + port.pf.text();
  // The prefix that a port has before any subnet manager has come to it may be that of one of them.
  if (!port.up && fabrics_.size() > 1)
    return Error(Code::unavailable, "cannot determine the fabric of " + pf + ": its port is down");
  if (port.prefix == *wanted) return ok();
  return Error(port.up ? Code::unsupported : Code::unavailable,
               pf + " is on the subnet " + port.prefix.text_in_gid() + ", not on " +
                   subnet_of(fabric.service));
}

Result<size_t> Fabrics::index_of(const PfPort& port) const {
  std::optional<Error> why;
  for (size_t index = 0; index < fabrics_.size(); ++index) {
    const Fabric& fabric = fabrics_[index];
    const Status on = check_subnet(port, fabric);
    if (on) return index;
    why = why && on.error().code() == Code::unsupported
              ? Error(Code::unsupported, why->text() + ", nor on " + subnet_of(fabric.service))
              : on.error();
  }
  return *why;
}

Result<Fabrics::Fabric*> Fabrics::fabric_of(const ib::PciAddress& device) {
  const PfPort port = TRY(read_pf_port(deps_.sysfs, device));
  const size_t index = TRY(index_of(port));
  return &fabrics_[index];
}

Result<PfIdentity> Fabrics::pf_on_fabric(const ib::PciAddress& device, const Fabric& fabric) const {
  const PfPort port = TRY(read_pf_port(deps_.sysfs, device));
  TRY(check_subnet(port, fabric));
  const std::string interface = deps_.interface_of(port.pf);
  const bool shown = !interface.empty() && is_utf8_word(interface);
  return PfIdentity{shown ? interface : port.pf.text(), port.guid};
}

std::set<ib::Guid> Fabrics::other_subnets(const Fabric& fabric) const {
  std::set<ib::Guid> prefixes;
  for (const Fabric& other : fabrics_)
    if (&other != &fabric) prefixes.insert(*other.service.subnet_prefix);
  return prefixes;
}

// --- GUIDs

// The only one gives them before a port is up, and to whatever PF.
std::function<Result<ib::Guid>(const ib::PciAddress&, uint32_t)> Fabrics::guid_allocator() {
  using Vf = std::tuple<const Fabric*, ib::PciAddress, uint32_t>;
  return [this, away = std::map<const Fabric*, Error>(), known = std::map<Vf, ib::Guid>()](
             const ib::PciAddress& pf, uint32_t vf) mutable -> Result<ib::Guid> {
    Fabric* fabric = &fabrics_.front();
    if (fabrics_.size() > 1) fabric = TRY(fabric_of(pf));
    const auto before = known.find({fabric, pf, vf});
    if (before != known.end()) return before->second;
    const auto silent = away.find(fabric);
    if (silent != away.end()) return silent->second;
    Result<ib::Guid> given = allocate_guid(fabric->client, deps_.node, pf, vf);
    if (given) known.emplace(Vf{fabric, pf, vf}, *given);
    if (!given && given.error().code() == Code::unavailable) away.emplace(fabric, given.error());
    return given;
  };
}

// --- bindings

Result<Fabrics::Fabric*> Fabrics::fabric_of(const nodeapi::AttachmentName& name) {
  const node::Record record = TRY(record_of(deps_.records, name));
  return fabric_of(record.device);
}

Result<nodeapi::Binding> Fabrics::bind(const nodeapi::AttachmentName& name,
                                       nodeapi::Node::Wait wait, Deadline deadline) {
  Fabric* const fabric = TRY(fabric_of(name));
  return fabric->session->bind(name, wait, deadline);
}

// A PF's cable may have been moved to another fabric since.
std::vector<SmSession*> Fabrics::sessions_to_unbind(const nodeapi::AttachmentName& name) {
  const Result<Fabric*> on = fabric_of(name);
  std::vector<SmSession*> sessions;
  for (Fabric& fabric : fabrics_)
    if (!on || *on == &fabric || fabric.session->has_or_requested(name))
      sessions.push_back(fabric.session.get());
  return sessions;
}

Result<nodeapi::Binding> Fabrics::unbind(const nodeapi::AttachmentName& name, Deadline deadline) {
  const std::vector<SmSession*> sessions = sessions_to_unbind(name);
  for (size_t n = 1; n < sessions.size(); ++n)
    (void)sessions[n]->unbind(name,
                              Deadline::in(Duration(0)));  // it begins, and is waited for below
  Result<nodeapi::Binding> result = sessions.front()->unbind(name, deadline);
  for (size_t n = 1; n < sessions.size() && result && result->released(); ++n)
    result = sessions[n]->unbind(name, deadline);
  return result;
}

}  // namespace ibpod::agent::sm_client
