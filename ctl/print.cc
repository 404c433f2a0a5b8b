#include "ctl/print.h"

#include "ctl/table.h"
#include "ctl/words.h"
#include "lib/base/join.h"
#include "lib/base/printable.h"

namespace ibpod::ctl {
namespace {

using json::Value;

std::vector<std::string> texts(const google::protobuf::RepeatedPtrField<std::string>& repeated) {
  return {repeated.begin(), repeated.end()};
}

std::string health_of(const v1::Device& device) {
  if (device.resource().empty()) return "not offered";
  return device.healthy() ? "healthy" : "unhealthy";
}

Row row_of(const v1::Device& device) {
  return {
      device.address(),           device.pf_name(),    device.resource(),        health_of(device),
      or_unknown(device.state()), device.attachment(), join(device.rdma(), ","), device.reason()};
}

std::string pkeys_of(const v1::Device& device) {
  if (!device.pkeys().empty()) return printable(device.pkeys());
  return device.attachment().empty()
             ? "not known: it cannot be read here"
             : "not known: the device is in its pod, where the node cannot read the table; "
               "run `ibpodctl explain` with the pod and --sm";
}

}  // namespace

std::string as_table(const v1::ListDevicesResponse& devices) {
  std::vector<Row> rows;
  for (const v1::Device& device : devices.devices()) rows.push_back(row_of(device));
  return table({"DEVICE", "PF", "RESOURCE", "HEALTH", "PORT", "ATTACHMENT", "RDMA", "REASON"},
               rows);
}

std::string as_table(const v1::ListAttachmentsResponse& attachments) {
  std::vector<Row> rows;
  for (const v1::Attachment& one : attachments.attachments()) {
    rows.push_back({one.device(), pod_text(one.pod_namespace(), one.pod_name()), one.ifname(),
                    one.network(), one.plugin(), one.pkey(), or_unknown(one.verdict()),
                    one.reason()});
  }
  return table({"DEVICE", "POD", "INTERFACE", "NETWORK", "PLUGIN", "P_KEY", "POD IS", "REASON"},
               rows);
}

std::string as_text(const v1::ExplainResponse& explanation) {
  const v1::Device& device = explanation.device();
  v1::ListDevicesResponse alone;
  *alone.add_devices() = device;
  std::string text = as_table(alone) + "\n";
  std::vector<Row> rows;
  for (const v1::ExplainResponse::Pool& pool : explanation.pools())
    rows.push_back({pool.resource(), pool.chosen() ? "takes it" : "no", pool.reason()});
  text += table({"POOL", "", "WHY"}, rows);
  return text + "\nP_Key table: " + pkeys_of(device) + "\n";
}

std::string as_text(const std::vector<Finding>& findings, bool all) {
  std::string text;
  bool well = true;
  for (const Finding& finding : findings) {
    well = well && finding.grade == Grade::fine;
    if (!all && finding.grade == Grade::fine) continue;
    text += std::string(name(finding.grade)) + ": " + printable(finding.check) + ": " +
            printable(finding.text) + "\n";
    if (!finding.remedy.empty()) text += "    " + printable(finding.remedy) + "\n";
  }
  return well ? text + "no problems found\n" : text;
}

Value as_json(const v1::Device& device) {
  Value value = Value::object();
  value.set("address", device.address()).set("pf", device.pf()).set("pfName", device.pf_name());
  value.set("vf", device.vf()).set("driver", device.driver()).set("resource", device.resource());
  value.set("healthy", device.healthy()).set("reason", device.reason());
  value.set("attachment", device.attachment()).set("portGuid", known(device.port_guid()));
  value.set("state", known(device.state())).set("pkeys", known(device.pkeys()));
  if (device.has_numa()) value.set("numa", device.numa());
  return value.set("rdma", strings(texts(device.rdma())))
      .set("charDevices", strings(texts(device.char_devices())));
}

Value as_json(const v1::Attachment& one) {
  Value value = Value::object();
  value.set("plugin", one.plugin()).set("network", one.network());
  value.set("containerID", one.container_id()).set("ifname", one.ifname());
  value.set("pod", Value::object()
                       .set("namespace", one.pod_namespace())
                       .set("name", one.pod_name())
                       .set("uid", one.pod_uid()));
  value.set("device", one.device()).set("netns", one.netns()).set("pkey", one.pkey());
  return value.set("verdict", known(one.verdict())).set("reason", one.reason());
}

Value as_json(const v1::ExplainResponse& explanation) {
  Value pools = Value::array();
  for (const v1::ExplainResponse::Pool& pool : explanation.pools()) {
    pools.push(Value::object()
                   .set("resource", pool.resource())
                   .set("chosen", pool.chosen())
                   .set("reason", pool.reason()));
  }
  return Value::object().set("device", as_json(explanation.device())).set("pools", pools);
}

Value as_json(const Finding& finding) {
  return Value::object()
      .set("check", finding.check)
      .set("grade", name(finding.grade))
      .set("text", finding.text)
      .set("remedy", finding.remedy);
}

Value as_json(const v1::ListDevicesResponse& devices) {
  return list_of(devices.devices(), [](const auto& one) { return as_json(one); });
}

Value as_json(const v1::ListAttachmentsResponse& attachments) {
  return list_of(attachments.attachments(), [](const auto& one) { return as_json(one); });
}

Value as_json(const std::vector<Finding>& findings) {
  return list_of(findings, [](const auto& one) { return as_json(one); });
}

}  // namespace ibpod::ctl
