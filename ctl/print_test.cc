#include "ctl/print.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

v1::Device device() {
  v1::Device device;
  device.set_address("0000:3b:00.2");
  device.set_pf("0000:3b:00.0");
  device.set_pf_name("ib0");
  device.set_vf(1);
  device.set_driver("mlx5_core");
  device.set_resource("openib/vfs");
  device.set_healthy(true);
  device.set_state("ACTIVE");
  device.add_rdma("mlx5_3");
  return device;
}

v1::ListDevicesResponse list(const std::vector<v1::Device>& devices) {
  v1::ListDevicesResponse listed;
  for (const v1::Device& one : devices) *listed.add_devices() = one;
  return listed;
}

v1::ListAttachmentsResponse list(const v1::Attachment& one) {
  v1::ListAttachmentsResponse listed;
  *listed.add_attachments() = one;
  return listed;
}

void add_pool(v1::ExplainResponse& explanation, const std::string& resource, bool chosen,
              const std::string& reason) {
  v1::ExplainResponse::Pool& pool = *explanation.add_pools();
  pool.set_resource(resource);
  pool.set_chosen(chosen);
  pool.set_reason(reason);
}

TEST_CASE("print: a device is a line: its pool, health, port and pod") {
  v1::Device other = device();
  other.set_address("0000:3b:00.3");
  other.set_healthy(false);
  other.set_reason("port DOWN");
  other.set_attachment("c1:net1");
  v1::Device out = device();
  out.set_address("0000:3b:00.4");
  out.set_resource("");
  CHECK(as_table(list({device(), other, out})) ==
        "DEVICE        PF   RESOURCE    HEALTH       PORT    ATTACHMENT  RDMA    REASON\n"
        "0000:3b:00.2  ib0  openib/vfs  healthy      ACTIVE  -           mlx5_3  -\n"
        "0000:3b:00.3  ib0  openib/vfs  unhealthy    ACTIVE  c1:net1     mlx5_3  port DOWN\n"
        "0000:3b:00.4  ib0  -           not offered  ACTIVE  -           mlx5_3  -\n");
}

TEST_CASE("print: an attachment without a pod has a dash for it") {
  v1::Attachment one;
  one.set_device("0000:3b:00.2");
  CHECK(as_table(list(one)).find("\n0000:3b:00.2  -    -  ") != std::string::npos);
  one.set_pod_namespace("default");
  one.set_pod_name("pod");
  CHECK(as_table(list(one)).find("default/pod") != std::string::npos);
}

TEST_CASE("print: an explanation names what every pool says") {
  v1::ExplainResponse explanation;
  *explanation.mutable_device() = device();
  add_pool(explanation, "openib/vfs", true, "");
  add_pool(explanation, "openib/other", false, "pfNames: ib0 is not ib1");
  explanation.mutable_device()->set_pkeys("0:0x8001");
  const std::string text = as_text(explanation);
  CHECK(text.find("openib/vfs    takes it  -\n") != std::string::npos);
  CHECK(text.find("openib/other  no        pfNames: ib0 is not ib1\n") != std::string::npos);
  CHECK(text.find("P_Key table: 0:0x8001\n") != std::string::npos);
  explanation.mutable_device()->set_pkeys("\x1b[2J");
  CHECK(as_text(explanation).find("P_Key table: ?[2J\n") != std::string::npos);
}

TEST_CASE("print: what is not known of a device is not shown as nothing") {
  v1::ExplainResponse explanation;
  *explanation.mutable_device() = device();
  CHECK(as_text(explanation).find("\nP_Key table: not known: it cannot be read here\n") !=
        std::string::npos);
  explanation.mutable_device()->set_attachment("pod team-a/web-0 (net1)");
  CHECK(as_text(explanation).find("\nP_Key table: not known: the device is in its pod") !=
        std::string::npos);
  CHECK(as_json(explanation).text().find(R"("pkeys":null)") != std::string::npos);
  explanation.mutable_device()->set_pkeys("empty");
  CHECK(as_text(explanation).find("\nP_Key table: empty\n") != std::string::npos);
  v1::Device unseen = device();
  unseen.set_state("");
  CHECK(as_table(list({unseen})).find("healthy  not known  ") != std::string::npos);
  CHECK(as_json(unseen).text().find(R"("state":null)") != std::string::npos);
  CHECK(as_table(list(v1::Attachment())).find("not known") != std::string::npos);
}

TEST_CASE("print: findings with their remedies; what is fine only where it is asked for") {
  const std::vector<Finding> findings{
      {"kernel", Grade::fine, "6.1", "", Issue::none},
      {"iommu", Grade::warning, "off", "boot with it", Issue::no_vfs}};
  CHECK(as_text(findings, false) == "warning: iommu: off\n    boot with it\n");
  CHECK(as_text(findings, true) == "ok: kernel: 6.1\nwarning: iommu: off\n    boot with it\n");
  CHECK(as_text({findings[0]}, false) == "no problems found\n");
  CHECK(as_text({findings[0]}, true) == "ok: kernel: 6.1\nno problems found\n");
  CHECK(as_text({{"\x1b[1m", Grade::wrong, "a\nb", "c\r\x9b", Issue::no_vfs}}, false) ==
        "wrong: ?[1m: a?b\n    c??\n");
}

TEST_CASE("print: JSON has every field under a name of its own") {
  CHECK(
      as_json(device()).text() ==
      R"({"address":"0000:3b:00.2","pf":"0000:3b:00.0","pfName":"ib0","vf":1,"driver":"mlx5_core",)"
      R"("resource":"openib/vfs","healthy":true,"reason":"","attachment":"","portGuid":null,)"
      R"("state":"ACTIVE","pkeys":null,"rdma":["mlx5_3"],"charDevices":[]})");
  v1::Attachment one;
  one.set_pod_namespace("default");
  one.set_pod_name("pod");
  CHECK(as_json(one).text().find(R"("pod":{"namespace":"default","name":"pod","uid":""})") !=
        std::string::npos);
}

}  // namespace
}  // namespace ibpod::ctl
