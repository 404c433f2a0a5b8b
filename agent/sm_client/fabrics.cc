#include "agent/sm_client/fabrics.h"

#include "lib/base/utf8.h"

namespace ibpod::agent {
namespace {

// A VF's GUID is given from memory.
constexpr Duration kAllocation{3'000};

std::string subnet_of(const FabricService& service) {
  const std::string prefix =
      service.subnet_prefix ? service.subnet_prefix->text_in_gid() + ", " : "";
  return prefix + "which the SM service of fabric " + service.place.fabric + " has";
}

Result<ib::Guid> allocate(fabricapi::Client& client, const std::string& node,
                          const ib::PciAddress& pf, uint32_t vf) {
  const std::vector<fabricapi::Allocated> given =
      TRY(client.allocate_guids({node, pf.text(), {vf}}, Deadline::in(kAllocation)));
  if (given.size() == 1 && given.front().vf == vf) return given.front().guid;
  return Error(Code::internal, "the SM service gave no GUID for VF " + std::to_string(vf));
}

}  // namespace

Result<std::unique_ptr<Fabrics>> Fabrics::open(const std::vector<FabricService>& services,
                                               FabricsWorld world) {
  std::unique_ptr<Fabrics> fabrics(new Fabrics(std::move(world)));
  for (const FabricService& service : services) {
    const std::string& name = service.place.fabric;
    fabricapi::Client client =
        TRY(fabricapi::lasting_client_of(service.place).during("fabric " + name));
    fabrics->contacts_[name] = {};
    fabrics->away_.emplace(name, Deadline::in(fabrics->world_.away));
    fabrics->fabrics_.push_back({service, std::move(client)});
  }
  return fabrics;
}

// Each Link asks about all of them.
Fabrics::~Fabrics() {
  for (Fabric& fabric : fabrics_) fabric.link.reset();
}

void Fabrics::begin() {
  const std::scoped_lock lock(mutex_);
  for (Fabric& fabric : fabrics_) {
    fabric.link = std::make_unique<Link>(fabric.client, world_of(fabric));
    fabric.link->set_ports(ports_);
  }
}

LinkWorld Fabrics::world_of(const Fabric& fabric) {
  const std::set<ib::Guid> others = other_subnets(fabric);
  return {
      world_.records, world_.node,
      [this, &fabric](const ib::PciAddress& device) { return pf_on_fabric(device, fabric); },
      [this, others](const std::vector<ib::Guid>& ports) { return world_.tables(ports, others); },
      [this, &fabric](const Contact& contact) { note(fabric.name(), contact); }};
}

void Fabrics::note(const std::string& fabric, Contact contact) {
  Contact before;
  {
    const std::scoped_lock lock(mutex_);
    // What it said last stays true while nobody can ask it.
    if (!contact.reached) contact.unknown = contacts_.at(fabric).unknown;
    before = std::exchange(contacts_.at(fabric), contact);
    ContactTimes& times = contact_times_[fabric];
    times.asked = std::chrono::system_clock::now();
    if (contact.reached) times.answered = times.asked;
    if (contact.reached) away_.erase(fabric);
    if (!contact.reached) away_.try_emplace(fabric, Deadline::in(world_.away));
  }
  world_.told(fabric, before, contact);
}

std::map<std::string, Contact> Fabrics::contacts() const {
  const std::scoped_lock lock(mutex_);
  return contacts_;
}

std::map<std::string, ContactTimes> Fabrics::contact_times() const {
  const std::scoped_lock lock(mutex_);
  return contact_times_;
}

std::map<std::string, NodeCertificate> Fabrics::certificates() const {
  std::map<std::string, NodeCertificate> all;
  for (const Fabric& fabric : fabrics_) {
    if (!fabricapi::needs_files(fabric.service.place.address)) continue;
    all.emplace(
        fabric.name(),
        NodeCertificate{fabric.service.place.files.certificate, fabric.client.certificate(),
                        fabric.client.certificate_usable(), fabric.client.certificate_expires()});
  }
  return all;
}

// --- whether a partition could be bound

void Fabrics::set_ports(const NodePorts& ports) {
  const std::scoped_lock lock(mutex_);
  ports_ = ports;
  for (Fabric& fabric : fabrics_)
    if (fabric.link != nullptr) fabric.link->set_ports(ports);
}

void Fabrics::sync_now() {
  const std::scoped_lock lock(mutex_);
  for (Fabric& fabric : fabrics_)
    if (fabric.link != nullptr) fabric.link->sync_now();
}

// A connection that stands is used on, whatever becomes of the certificate. Without one an unusable
// certificate needs no patience: nothing but another file helps.
std::optional<device_plugin::BindFault> Fabrics::service_fault(const Fabric& fabric) const {
  using Kind = device_plugin::BindFault::Kind;
  const auto away = away_.find(fabric.name());
  if (away == away_.end()) return {};
  const std::string service = "the SM service of fabric " + fabric.name();
  const Status usable = fabric.client.certificate_usable();
  if (!usable)
    return {{Kind::certificate,
             "this node has no certificate for " + service + ": " + usable.error().text()}};
  if (!away->second.passed()) return {};
  return {{Kind::service, service + " is not reached: ibpodctl doctor says why"}};
}

void Fabrics::find_bind_faults(std::vector<device_plugin::Device>& devices) const {
  const std::vector<std::optional<device_plugin::BindFault>> services = service_faults();
  std::map<ib::PciAddress, Result<PfPort>> ports;  // each PF's is read once
  for (device_plugin::Device& device : devices) {
    device.bind_fault.reset();
    if (!device.attachment.empty()) continue;
    const ib::PciAddress pf = device.pf.value_or(device.address);
    auto port = ports.find(pf);
    if (port == ports.end()) port = ports.emplace(pf, pf_port(world_.sysfs, pf)).first;
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
  const Result<size_t> place = place_of(*port);
  if (!place && !port->up) return {};
  if (!place) return {{Kind::subnet, place.error().text()}};
  if (services.at(*place)) return services.at(*place);
  const Fabric& fabric = fabrics_.at(*place);
  const std::scoped_lock lock(mutex_);
  const std::optional<ib::Guid> guid = device.pf ? port_of(device) : port->guid;
  if (!guid || !contacts_.at(fabric.name()).unknown.contains(*guid)) return {};
  return {{Kind::guid, "port " + guid->text() + " is not known to the SM service of fabric " +
                           fabric.name() + " as a " + (device.pf ? "VF" : "PF") + " of this node"}};
}

// --- which one a PF is on

Status Fabrics::check_on(const PfPort& port, const Fabric& fabric) const {
  const std::optional<ib::Guid>& wanted = fabric.service.subnet_prefix;
  if (!wanted) return ok();
  const std::string pf = "PF " + port.pf.text();
  // The prefix that a port has before any subnet manager has come to it may be that of one of them.
  if (!port.up && fabrics_.size() > 1)
    return Error(Code::unavailable, pf + " is not up: it is not to be seen which fabric it is on");
  if (port.prefix == *wanted) return ok();
  return Error(port.up ? Code::unsupported : Code::unavailable,
               pf + " is on the subnet " + port.prefix.text_in_gid() + ", not on " +
                   subnet_of(fabric.service));
}

Result<size_t> Fabrics::place_of(const PfPort& port) const {
  std::optional<Error> why;
  for (size_t place = 0; place < fabrics_.size(); ++place) {
    const Fabric& fabric = fabrics_[place];
    const Status on = check_on(port, fabric);
    if (on) return place;
    why = why && on.error().code() == Code::unsupported
              ? Error(Code::unsupported, why->text() + ", nor on " + subnet_of(fabric.service))
              : on.error();
  }
  return *why;
}

Result<Fabrics::Fabric*> Fabrics::fabric_of(const ib::PciAddress& device) {
  const PfPort port = TRY(pf_port(world_.sysfs, device));
  const size_t place = TRY(place_of(port));
  return &fabrics_[place];
}

Result<PfOfDevice> Fabrics::pf_on_fabric(const ib::PciAddress& device, const Fabric& fabric) const {
  const PfPort port = TRY(pf_port(world_.sysfs, device));
  TRY(check_on(port, fabric));
  const std::string interface = world_.interface(port.pf);
  const bool shown = !interface.empty() && is_utf8_word(interface);
  return PfOfDevice{shown ? interface : port.pf.text(), port.guid};
}

std::set<ib::Guid> Fabrics::other_subnets(const Fabric& fabric) const {
  std::set<ib::Guid> prefixes;
  for (const Fabric& other : fabrics_)
    if (&other != &fabric) prefixes.insert(*other.service.subnet_prefix);
  return prefixes;
}

// --- GUIDs

// The only one gives them before a port is up, and to whatever PF.
std::function<Result<ib::Guid>(const ib::PciAddress&, uint32_t)> Fabrics::pool() {
  return [this, away = std::map<const Fabric*, Error>()](const ib::PciAddress& pf,
                                                         uint32_t vf) mutable -> Result<ib::Guid> {
    Fabric* fabric = &fabrics_.front();
    if (fabrics_.size() > 1) fabric = TRY(fabric_of(pf));
    const auto silent = away.find(fabric);
    if (silent != away.end()) return silent->second;
    Result<ib::Guid> given = allocate(fabric->client, world_.node, pf, vf);
    if (!given && given.error().code() == Code::unavailable) away.emplace(fabric, given.error());
    return given;
  };
}

// --- bindings

Result<Fabrics::Fabric*> Fabrics::fabric_of(const nodeapi::AttachmentName& name) {
  const node::Record record = TRY(record_of(world_.records, name));
  return fabric_of(record.device);
}

Result<nodeapi::Binding> Fabrics::bind(const nodeapi::AttachmentName& name,
                                       nodeapi::Node::Wait wait, Deadline deadline) {
  Fabric* const fabric = TRY(fabric_of(name));
  return fabric->link->bind(name, wait, deadline);
}

// A PF's cable may have been moved to another fabric since.
std::vector<Link*> Fabrics::links_to_end(const nodeapi::AttachmentName& name) {
  const Result<Fabric*> on = fabric_of(name);
  std::vector<Link*> links;
  for (Fabric& fabric : fabrics_)
    if (!on || *on == &fabric || fabric.link->may_have(name)) links.push_back(fabric.link.get());
  return links;
}

Result<nodeapi::Binding> Fabrics::unbind(const nodeapi::AttachmentName& name, Deadline deadline) {
  const std::vector<Link*> links = links_to_end(name);
  for (size_t n = 1; n < links.size(); ++n)
    (void)links[n]->unbind(name, Deadline::in(Duration(0)));  // it begins, and is waited for below
  Result<nodeapi::Binding> told = links.front()->unbind(name, deadline);
  for (size_t n = 1; n < links.size() && told && told->released(); ++n)
    told = links[n]->unbind(name, deadline);
  return told;
}

}  // namespace ibpod::agent
