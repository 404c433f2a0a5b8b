#include "agent/node_service.h"

#include "agent/health/node_findings.h"
#include "agent/kubelet/choose_device.h"
#include "agent/kubelet/kubelet_pods.h"
#include "device-plugin/explain.h"
#include "lib/base/join.h"
#include "lib/sysfs/infiniband.h"

#include <algorithm>

namespace ibpod::agent {
namespace {

using device_plugin::Device;

void describe_port(const Device& device, v1::Device& answer) {
  for (const device_plugin::RdmaDevice& rdma : device.rdma) answer.add_rdma(rdma.name);
  if (device.rdma.empty() || device.rdma.front().ports.empty()) return;
  const ib::Port& port = device.rdma.front().ports.front();
  answer.set_port_guid(port.guid.text());
  answer.set_state(std::string(ib::name(port.state)));
  if (!port.pkeys.empty()) answer.set_pkeys(ib::text(port.pkeys));
}

// Why it is in no pool, in short; explain() has the whole.
std::string why_not_offered(const snapshot::Snapshot& snapshot, const Device& device) {
  if (!device.host_use.empty()) return "the host needs it: " + device.host_use;
  if (snapshot.pools.empty()) return "no pools are configured";
  return "no pool takes it";
}

v1::Device describe(const snapshot::Snapshot& snapshot, const Device& device) {
  v1::Device answer;
  answer.set_address(device.address.text());
  answer.set_pf(device.pf ? device.pf->text() : "");
  answer.set_pf_name(device.pf_name);
  answer.set_vf(device.vf);
  answer.set_driver(device.driver.value_or(""));
  answer.set_attachment(device.attachment);
  if (device.numa) answer.set_numa(*device.numa);
  for (const std::string& file : device.char_devices) answer.add_char_devices(file);
  describe_port(device, answer);
  const snapshot::PoolDeviceRef device_ref = snapshot::find_pool_device(snapshot, answer.address());
  if (device_ref.pool_device == nullptr) {
    answer.set_reason(why_not_offered(snapshot, device));
    return answer;
  }
  answer.set_resource(device_ref.contents->pool.resource());
  answer.set_healthy(device_ref.pool_device->unhealthy.empty());
  answer.set_reason(device_ref.pool_device->unhealthy);
  return answer;
}

// The record's own words, as far as it can be read.
void describe_record(const node::Records& records, const node::RecordName& name,
                     v1::Attachment& answer) {
  const Result<node::Record> record = records.read(name);
  if (!record) return;
  answer.set_plugin(record->plugin);
  answer.set_network(record->network);
  answer.set_pod_namespace(record->pod.name_space);
  answer.set_pod_name(record->pod.name);
  answer.set_pod_uid(record->pod.uid);
  answer.set_device(record->device.text());
  answer.set_netns(record->netns.path.string());
  std::string pkey = record->spec.pkey ? record->spec.pkey->text() : "";
  for (const node::PartitionRequest& wish : record->spec.partitions)
    add_item(pkey, ",", wish.label());
  answer.set_pkey(pkey);
}

std::string pod_text(const std::string& name_space, const std::string& name) {
  return name_space + "/" + name;
}

kubelet::Holder holder(const node::Records& records, const node::RecordName& name) {
  const Result<node::Record> record = records.read(name);
  return {name.container_id + ":" + name.ifname,
          record ? pod_text(record->pod.name_space, record->pod.name) : ""};
}

Result<std::string> check_allocated(const kube::PodDevices& pod, const std::string& device) {
  const ib::PciAddress address = TRY(ib::PciAddress::parse(device));
  if (kubelet::has_device(pod, address)) return address.text();
  return Error(Code::denied, "the kubelet has not given " + address.text() + " to the pod " +
                                 pod_text(pod.namespace_name, pod.name));
}

// Sets the P_Keys of the device's port, if the host sees its RDMA device. A snapshot has the tables
// only where a pool selects by them.
void describe_pkeys(const sysfs::Sysfs& sysfs, v1::Device& answer) {
  if (answer.rdma().empty()) return;
  const Result<ib::PKeyTable> pkeys = sysfs::pkeys(sysfs, answer.rdma(0), 1);
  if (pkeys) answer.set_pkeys(ib::text(*pkeys));
}

}  // namespace

Result<v1::ListDevicesResponse> NodeService::devices(Deadline) {
  const auto snapshot = deps_.snapshot.get();
  v1::ListDevicesResponse answer;
  for (const Device& device : snapshot->devices)
    *answer.add_devices() = describe(*snapshot, device);
  return answer;
}

Result<v1::ListAttachmentsResponse> NodeService::attachments(Deadline) {
  const std::vector<node::RecordName> names = TRY(deps_.records.all());
  const auto gc_run = deps_.gc_loop.last_run();
  v1::ListAttachmentsResponse answer;
  for (const node::RecordName& name : names) {
    v1::Attachment& one = *answer.add_attachments();
    one.set_container_id(name.container_id);
    one.set_ifname(name.ifname);
    one.set_device(name.folder);
    describe_record(deps_.records, name, one);
    const auto found =
        std::find_if(gc_run->outcomes.begin(), gc_run->outcomes.end(),
                     [&](const gc::Outcome& outcome) { return outcome.record == name; });
    if (found == gc_run->outcomes.end()) continue;
    one.set_verdict(std::string(agent::gc::name(found->verdict)));
    if (found->verdict != gc::Verdict::live) one.set_reason(found->text());
  }
  return answer;
}

Result<v1::ExplainResponse> NodeService::explain(const std::string& device, Deadline) {
  const auto snapshot = deps_.snapshot.get();
  for (const Device& one : snapshot->devices) {
    if (one.address.text() != device) continue;
    v1::ExplainResponse answer;
    *answer.mutable_device() = describe(*snapshot, one);
    describe_pkeys(deps_.sysfs, *answer.mutable_device());
    const auto explanation = device_plugin::explain(snapshot->pools, one, snapshot->allocated);
    for (const auto& choice : explanation.pools) {
      v1::ExplainResponse::Pool& pool = *answer.add_pools();
      pool.set_resource(choice.resource);
      pool.set_chosen(choice.has_device);
      pool.set_reason(choice.reason);
    }
    return answer;
  }
  return Error(Code::not_found, "the node has no InfiniBand function " + device);
}

Result<v1::HealthResponse> NodeService::fresh_health(Deadline deadline) {
  deps_.refresh_now(deadline);
  return health(deadline);
}

Result<v1::HealthResponse> NodeService::health(Deadline) {
  const auto times = deps_.times.get();  // before the view, which may be newer
  const auto snapshot = deps_.snapshot.get();
  const auto gc_run = deps_.gc_loop.last_run();
  v1::HealthResponse health;
  health.set_registered(deps_.is_registered());
  health.set_binds(deps_.fabrics != nullptr);
  for (const health::NodeFinding& one :
       health::node_findings({*snapshot, *gc_run, *times, deps_.fabrics})) {
    v1::HealthResponse::Finding& finding = *health.add_findings();
    finding.set_subject(one.finding.subject);
    finding.set_text(one.finding.text);
    finding.set_remedy(one.finding.remedy);
  }
  return health;
}

Result<sm_client::Fabrics*> NodeService::fabrics() const {
  if (deps_.fabrics != nullptr) return deps_.fabrics;
  return Error(Code::unsupported,
               "the agent has no SM service: add one under \"fabrics\" in its configuration");
}

Result<nodeapi::Binding> NodeService::bind(const nodeapi::AttachmentName& name, Wait wait,
                                           Deadline deadline) {
  sm_client::Fabrics* const fabrics = TRY(this->fabrics());
  return fabrics->bind(name, wait, deadline);
}

Result<nodeapi::Binding> NodeService::unbind(const nodeapi::AttachmentName& name,
                                             Deadline deadline) {
  sm_client::Fabrics* const fabrics = TRY(this->fabrics());
  return fabrics->unbind(name, deadline);
}

Result<std::string> NodeService::device_of(const nodeapi::DeviceQuestion& question,
                                           Deadline deadline) {
  if (!deps_.kubelet) return Error(Code::unsupported, "the agent has no kubelet (kubelet: false)");
  const kube::PodDevices pod =
      TRY(kubelet::find_pod(*deps_.kubelet, question.pod_namespace, question.pod_name, deadline));
  if (!question.device.empty()) return check_allocated(pod, question.device);
  const std::vector<node::RecordName> names = TRY(deps_.records.all());
  kubelet::Holders holders;
  for (const node::RecordName& name : names) {
    const Result<ib::PciAddress> device = ib::PciAddress::parse(name.folder);
    if (device) holders[*device].push_back(holder(deps_.records, name));
  }
  return kubelet::choose_device(kubelet::device_ids_of(pod, question.resource), holders,
                                {question.container_id + ":" + question.ifname,
                                 pod_text(question.pod_namespace, question.pod_name)});
}

}  // namespace ibpod::agent
