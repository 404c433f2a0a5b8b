#include "ctl/print.h"

#include <doctest/doctest.h>

namespace ibpod::ctl {
namespace {

nodeapi::Device device() {
  nodeapi::Device device;
  device.address = "0000:3b:00.2";
  device.pf = "0000:3b:00.0";
  device.pf_name = "ib0";
  device.vf = 1;
  device.driver = "mlx5_core";
  device.resource = "openib/vfs";
  device.healthy = true;
  device.state = "ACTIVE";
  device.rdma = {"mlx5_3"};
  return device;
}

TEST_CASE("print: a device is a line: its pool, health, port and pod") {
  nodeapi::Device other = device();
  other.address = "0000:3b:00.3";
  other.healthy = false;
  other.reason = "port DOWN";
  other.attachment = "c1:net1";
  nodeapi::Device out = device();
  out.address = "0000:3b:00.4";
  out.resource = "";
  CHECK(as_table(std::vector{device(), other, out}) ==
        "DEVICE        PF   RESOURCE    HEALTH       PORT    ATTACHMENT  RDMA    REASON\n"
        "0000:3b:00.2  ib0  openib/vfs  healthy      ACTIVE  -           mlx5_3  -\n"
        "0000:3b:00.3  ib0  openib/vfs  unhealthy    ACTIVE  c1:net1     mlx5_3  port DOWN\n"
        "0000:3b:00.4  ib0  -           not offered  ACTIVE  -           mlx5_3  -\n");
}

TEST_CASE("print: an attachment without a pod has a dash for it") {
  nodeapi::Attachment one;
  one.device = "0000:3b:00.2";
  CHECK(as_table(std::vector{one}).find("\n0000:3b:00.2  -    -  ") != std::string::npos);
  one.pod_namespace = "default";
  one.pod_name = "pod";
  CHECK(as_table(std::vector{one}).find("default/pod") != std::string::npos);
}

TEST_CASE("print: an explanation names what every pool says") {
  nodeapi::Explanation explanation{
      device(), {{"openib/vfs", true, ""}, {"openib/other", false, "pfNames: ib0 is not ib1"}}};
  explanation.device.pkeys = "0:0x8001";
  const std::string text = as_text(explanation);
  CHECK(text.find("openib/vfs    takes it  -\n") != std::string::npos);
  CHECK(text.find("openib/other  no        pfNames: ib0 is not ib1\n") != std::string::npos);
  CHECK(text.find("P_Key table: 0:0x8001\n") != std::string::npos);
  explanation.device.pkeys = "\x1b[2J";
  CHECK(as_text(explanation).find("P_Key table: ?[2J\n") != std::string::npos);
}

TEST_CASE("print: what is not known of a device is not shown as nothing") {
  nodeapi::Explanation explanation{device(), {}};
  CHECK(as_text(explanation).find("\nP_Key table: not known: it cannot be read here\n") !=
        std::string::npos);
  explanation.device.attachment = "pod team-a/web-0 (net1)";
  CHECK(as_text(explanation).find("\nP_Key table: not known: the device is in its pod") !=
        std::string::npos);
  CHECK(as_json(explanation).text().find(R"("pkeys":null)") != std::string::npos);
  explanation.device.pkeys = "empty";
  CHECK(as_text(explanation).find("\nP_Key table: empty\n") != std::string::npos);
  nodeapi::Device unseen = device();
  unseen.state = "";
  CHECK(as_table(std::vector{unseen}).find("healthy  not known  ") != std::string::npos);
  CHECK(as_json(unseen).text().find(R"("state":null)") != std::string::npos);
  CHECK(as_table(std::vector{nodeapi::Attachment()}).find("not known") != std::string::npos);
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
  nodeapi::Attachment one;
  one.pod_namespace = "default";
  one.pod_name = "pod";
  CHECK(as_json(one).text().find(R"("pod":{"namespace":"default","name":"pod","uid":""})") !=
        std::string::npos);
}

}  // namespace
}  // namespace ibpod::ctl
