#include "agent/node_service.h"

#include "agent/kubelet/choose_device.h"
#include "agent/kubelet/kubelet_pods.h"
#include "agent/health/node_findings.h"
#include "device-plugin/explain.h"
#include "lib/sysfs/infiniband.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

using device_plugin::Device;

void describe_port(const Device& device, nodeapi::Device& told) {
  for (const device_plugin::RdmaDevice& rdma : device.rdma) told.rdma.push_back(rdma.name);
  if (device.rdma.empty() || device.rdma.front().ports.empty()) return;
  const ib::Port& port = device.rdma.front().ports.front();
  told.port_guid = port.guid.text();
  told.state = ib::name(port.state);
  if (!port.pkeys.empty()) told.pkeys = ib::text(port.pkeys);
}

// Why it is in no pool, in short; explain() has the whole.
std::string why_not_offered(const View& view, const Device& device) {
  if (!device.host_use.empty()) return "the host needs it: " + device.host_use;
  if (view.pools.empty()) return "no pools are configured";
  return "no pool takes it";
}

nodeapi::Device describe(const View& view, const Device& device) {
  nodeapi::Device told;
  told.address = device.address.text();
  told.pf = device.pf ? device.pf->text() : "";
  told.pf_name = device.pf_name;
  told.vf = device.vf;
  told.driver = device.driver.value_or("");
  told.attachment = device.attachment;
  told.numa = device.numa;
  told.char_devices = device.char_devices;
  describe_port(device, told);
  const Offered offered = find_offer(view, told.address);
  if (offered.offer == nullptr) {
    told.reason = why_not_offered(view, device);
    return told;
  }
  told.resource = offered.stock->pool.resource();
  told.healthy = offered.offer->unhealthy.empty();
  told.reason = offered.offer->unhealthy;
  return told;
}

// The record's own words, as far as it can be read.
void describe_record(const node::Records& records, const node::RecordName& name,
                     nodeapi::Attachment& told) {
  const Result<node::Record> record = records.read(name);
  if (!record) return;
  told.plugin = record->plugin;
  told.network = record->network;
  told.pod_namespace = record->pod.name_space;
  told.pod_name = record->pod.name;
  told.pod_uid = record->pod.uid;
  told.device = record->device.text();
  told.netns = record->netns.path.string();
  if (record->wanted.pkey) told.pkey = record->wanted.pkey->text();
  for (const node::PartitionWish& wish : record->wanted.partitions)
    told.pkey += (told.pkey.empty() ? "" : ",") + wish.label();
}

std::string pod_text(const std::string& name_space, const std::string& name) {
  return name_space + "/" + name;
}

Holder holder(const node::Records& records, const node::RecordName& name) {
  const Result<node::Record> record = records.read(name);
  return {name.container_id + ":" + name.ifname,
          record ? pod_text(record->pod.name_space, record->pod.name) : ""};
}

Result<std::string> check_given(const kube::PodGiven& pod, const std::string& device) {
  const ib::PciAddress address = TRY(ib::PciAddress::parse(device));
  if (has_device(pod, address)) return address.text();
  return Error(Code::denied, "the kubelet has not given " + address.text() + " to the pod " +
                                 pod_text(pod.namespace_name, pod.name));
}

// A View has the P_Key tables only where a pool chooses by them. As far as the host sees the
// device.
void describe_pkeys(const sysfs::Sysfs& sysfs, nodeapi::Device& told) {
  if (told.rdma.empty()) return;
  const Result<ib::PKeyTable> pkeys = sysfs::pkeys(sysfs, told.rdma.front(), 1);
  if (pkeys) told.pkeys = ib::text(*pkeys);
}

}  // namespace

Result<std::vector<nodeapi::Device>> NodeAnswers::devices(Deadline) {
  const auto view = sources_.view.get();
  std::vector<nodeapi::Device> told;
  for (const Device& device : view->devices) told.push_back(describe(*view, device));
  return told;
}

Result<std::vector<nodeapi::Attachment>> NodeAnswers::attachments(Deadline) {
  const std::vector<node::RecordName> names = TRY(sources_.records.all());
  const auto pass = sources_.sweeping.last();
  std::vector<nodeapi::Attachment> told;
  for (const node::RecordName& name : names) {
    nodeapi::Attachment& one = told.emplace_back();
    one.container_id = name.container_id;
    one.ifname = name.ifname;
    one.device = name.folder;
    describe_record(sources_.records, name, one);
    const auto found = std::find_if(pass->outcomes.begin(), pass->outcomes.end(),
                                    [&](const Outcome& outcome) { return outcome.record == name; });
    if (found == pass->outcomes.end()) continue;
    one.verdict = agent::name(found->verdict);
    if (found->verdict != Verdict::live) one.reason = found->text();
  }
  return told;
}

Result<nodeapi::Explanation> NodeAnswers::explain(const std::string& device, Deadline) {
  const auto view = sources_.view.get();
  for (const Device& one : view->devices) {
    if (one.address.text() != device) continue;
    nodeapi::Explanation told{describe(*view, one), {}};
    describe_pkeys(sources_.sysfs, told.device);
    const auto explanation = device_plugin::explain(view->pools, one, view->held);
    for (const auto& choice : explanation.pools)
      told.pools.push_back({choice.resource, choice.has_it, choice.reason});
    return told;
  }
  return Error(Code::not_found, "the node has no InfiniBand function " + device);
}

Result<nodeapi::Health> NodeAnswers::health_by_look(Deadline deadline) {
  sources_.look_afresh(deadline);
  return health(deadline);
}

Result<nodeapi::Health> NodeAnswers::health(Deadline) {
  const auto times = sources_.times.get();  // before the view, which may be newer
  const auto view = sources_.view.get();
  const auto pass = sources_.sweeping.last();
  nodeapi::Health health;
  health.registered = sources_.registered();
  health.binds = sources_.fabrics != nullptr;
  for (NodeFinding& one : node_findings({*view, *pass, *times, sources_.fabrics}))
    health.findings.push_back(std::move(one.finding));
  return health;
}

Result<Fabrics*> NodeAnswers::fabrics() const {
  if (sources_.fabrics != nullptr) return sources_.fabrics;
  return Error(Code::unsupported,
               "this node's agent knows no SM service: name one under \"fabrics\" in its "
               "configuration");
}

Result<nodeapi::Binding> NodeAnswers::bind(const nodeapi::AttachmentName& name, Wait wait,
                                           Deadline deadline) {
  Fabrics* const fabrics = TRY(this->fabrics());
  return fabrics->bind(name, wait, deadline);
}

Result<nodeapi::Binding> NodeAnswers::unbind(const nodeapi::AttachmentName& name,
                                             Deadline deadline) {
  Fabrics* const fabrics = TRY(this->fabrics());
  return fabrics->unbind(name, deadline);
}

Result<std::string> NodeAnswers::device_of(const nodeapi::DeviceQuestion& question,
                                           Deadline deadline) {
  if (!sources_.kubelet) return Error(Code::unsupported, "this node's agent knows no kubelet");
  const kube::PodGiven pod =
      TRY(given_to(*sources_.kubelet, question.pod_namespace, question.pod_name, deadline));
  if (!question.device.empty()) return check_given(pod, question.device);
  const std::vector<node::RecordName> names = TRY(sources_.records.all());
  Holders holders;
  for (const node::RecordName& name : names) {
    const Result<ib::PciAddress> device = ib::PciAddress::parse(name.folder);
    if (device) holders[*device].push_back(holder(sources_.records, name));
  }
  return choose_device(ids_of(pod, question.resource), holders,
                       {question.container_id + ":" + question.ifname,
                        pod_text(question.pod_namespace, question.pod_name)});
}

}  // namespace ibpod::agent
