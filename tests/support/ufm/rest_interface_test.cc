#include "tests/support/ufm/rest_interface.h"

#include <doctest/doctest.h>

namespace ibpod::fake_ufm {
namespace {

constexpr const char* kBasic = "Basic YWRtaW46MTIzNDU2";
constexpr const char* kMember =
    R"("guids":[{"guid":"00000000000000ab","index0":true,"membership":"limited"}])";

class Fixture {
 public:
  Fixture() {
    accounts.add_user("admin", "123456");
    accounts.add_user("monitor", "1", Role::reader);
    inventory.set_ports({{.guid = ib::Guid(0xab), .system = "node1", .system_guid = ib::Guid(0xa0)},
                         {.guid = ib::Guid(0xcd), .system = "leaf1", .system_type = "Switch"}});
  }

  // `target` with its query.
  HttpReply send(const std::string& method, const std::string& target, const std::string& body = {},
                 const std::string& authorization = kBasic) {
    HttpRequest request{.method = method, .authorization = authorization, .body = body};
    const size_t question = target.find('?');
    request.path = target.substr(0, question);
    for (size_t at = question; at != target.npos;) {
      const size_t next = target.find('&', at + 1);
      const std::string part = target.substr(at + 1, next == target.npos ? next : next - at - 1);
      request.query[part.substr(0, part.find('='))] = part.substr(part.find('=') + 1);
      at = next;
    }
    return rest.handle(request);
  }
  std::string get(const std::string& target) {
    const HttpReply reply = send("GET", target);
    CHECK(reply.status == 200);
    return reply.body;
  }
  void have_partition() {
    REQUIRE(send("POST", "/ufmRest/resources/pkeys",
                 R"({"pkey":"0x1a","guids":["00000000000000ab"],"membership":"limited",)"
                 R"("index0":true})")
                .status == 200);
  }
  template <typename T>
  void set(T RestSettings::*member, T value) {
    RestSettings settings = rest.settings();
    settings.*member = value;
    rest.set_settings(settings);
  }

  UfmModel ufm;
  Inventory inventory;
  Accounts accounts;
  RestInterface rest{{ufm, inventory, accounts}};
};

TEST_CASE_FIXTURE(Fixture, "the list of P_Keys has another form for each of its arguments") {
  have_partition();
  const std::string list = "/ufmRest/resources/pkeys";
  CHECK(get(list) == R"(["0x1a","0x7fff"])");
  CHECK(get(list + "?guids_data=true") ==
        std::string(R"({"0x1a":{"partition":"api_pkey_0x1a","ip_over_ib":true,)") + kMember +
            R"(},"0x7fff":{"partition":"management","ip_over_ib":true,"membership":"limited",)"
            R"("index0":false,"guids":[]}})");
  CHECK(get(list + "?qos_conf=true") ==
        R"({"0x1a":{"partition":"api_pkey_0x1a","ip_over_ib":true,"qos_conf":{"mtu_limit":2,)"
        R"("service_level":0,"rate_limit":2.5}},"0x7fff":{"partition":"management",)"
        R"("ip_over_ib":true,"qos_conf":{"mtu_limit":2,"service_level":0,"rate_limit":2.5}}})");
  const std::string both = list + "?guids_data=true&qos_conf=true";
  CHECK(send("GET", both).status == 500);
  set(&RestSettings::both_arguments, BothArguments::without_guids);
  CHECK(get(both).find("guids") == std::string::npos);
  set(&RestSettings::both_arguments, BothArguments::complete);
  CHECK(get(both).find(kMember) != std::string::npos);
  CHECK(get(both).find("qos_conf") != std::string::npos);

  set(&RestSettings::plain_list, PlainList::objects);
  CHECK(get(list) == R"([{"partition":"api_pkey_0x1a","ip_over_ib":true,"pkey":"0x1a"},)"
                     R"({"partition":"management","ip_over_ib":true,"pkey":"0x7fff"}])");
  set(&RestSettings::plain_list, PlainList::map);
  CHECK(get(list) == R"({"0x1a":{"partition":"api_pkey_0x1a","ip_over_ib":true},)"
                     R"("0x7fff":{"partition":"management","ip_over_ib":true}})");
  set(&RestSettings::guids_list, GuidsList::ignored);
  CHECK(get(list + "?guids_data=true") == get(list));
  set(&RestSettings::guids_list, GuidsList::objects);
  const std::string objects = get(list + "?guids_data=true");
  CHECK(objects.starts_with("[{"));
  CHECK(objects.find(kMember) != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "one P_Key has both arguments; a missing one is 404, or {}") {
  have_partition();
  const std::string one = "/ufmRest/resources/pkeys/0x1a";
  CHECK(get(one) == R"({"partition":"api_pkey_0x1a","ip_over_ib":true})");
  CHECK(get(one + "?guids_data=true&qos_conf=true") ==
        std::string(R"({"partition":"api_pkey_0x1a","ip_over_ib":true,"qos_conf":{"mtu_limit":2,)"
                    R"("service_level":0,"rate_limit":2.5},)") +
            kMember + "}");
  const HttpReply missing = send("GET", "/ufmRest/resources/pkeys/0x2?guids_data=true");
  CHECK(missing.status == 404);
  CHECK(missing.type == "text/plain");
  ufm.set_switches({.missing_is_404 = false});
  CHECK(get("/ufmRest/resources/pkeys/0x2?guids_data=true") == "{}");
}

TEST_CASE_FIXTURE(Fixture, "P_Keys and GUIDs are read in all spellings, and written in one") {
  for (const char* pkey : {"0x1a", "0x001A", "1a", "0X1A"})
    for (const char* guid : {"00000000000000ab", "0x00000000000000AB", "0000:0000:0000:00ab"}) {
      CAPTURE(pkey);
      CAPTURE(guid);
      CHECK(send("POST", "/ufmRest/resources/pkeys",
                 std::string(R"({"pkey":")") + pkey + R"(","guids":[")" + guid + R"("]})")
                .status == 200);
      CHECK(ufm.partitions().at(ib::PKey(0x1a)).members.count(ib::Guid(0xab)) == 1);
      CHECK(send("DELETE", std::string("/ufmRest/resources/pkeys/") + pkey + "/guids/" + guid)
                .status == 200);
      CHECK_FALSE(ufm.partitions().contains(ib::PKey(0x1a)));
    }
  have_partition();
  set(&RestSettings::pads_pkeys, true);
  set(&RestSettings::upper_case, true);
  set(&RestSettings::prefixes_guids, true);
  const std::string list = get("/ufmRest/resources/pkeys?guids_data=true");
  CHECK(list.find(R"("0x001A":)") != std::string::npos);
  CHECK(list.find(R"("0x7FFF":)") != std::string::npos);
  CHECK(list.find(R"("guid":"0x00000000000000AB")") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "what older releases do not show") {
  have_partition();
  set(&RestSettings::shows_membership, false);
  set(&RestSettings::shows_index0, false);
  set(&RestSettings::shows_management_membership, false);
  CHECK(get("/ufmRest/resources/pkeys?guids_data=true") ==
        R"({"0x1a":{"partition":"api_pkey_0x1a","ip_over_ib":true,)"
        R"("guids":[{"guid":"00000000000000ab"}]},)"
        R"("0x7fff":{"partition":"management","ip_over_ib":true,"guids":[]}})");
  CHECK(get("/ufmRest/app/smconf").find("m_key_per_port") != std::string::npos);
  set(&RestSettings::shows_default_membership, false);
  set(&RestSettings::shows_m_key_per_port, false);
  CHECK(get("/ufmRest/app/smconf").find("default_membership") == std::string::npos);
  CHECK(get("/ufmRest/app/smconf").find("m_key_per_port") == std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "bodies that UFM refuses, and none of which changes anything") {
  for (const char* body : {
           "",
           "{",
           "[]",
           "{}",
           R"({"guids":["00000000000000ab"]})",
           R"({"pkey":"x","guids":["00000000000000ab"]})",
           R"({"pkey":"0x10000","guids":["00000000000000ab"]})",
           R"({"pkey":"0x7fff","guids":["00000000000000ab"]})",
           R"({"pkey":"0x0","guids":["00000000000000ab"]})",
           R"({"pkey":"0x8001","guids":["00000000000000ab"]})",
           R"({"pkey":"0x1"})",
           R"({"pkey":"0x1","guids":[]})",
           R"({"pkey":"0x1","guids":["ab"]})",
           R"({"pkey":"0x1","guids":["00:00:00:00:00:00:00:ab"]})",
           R"({"pkey":"0x1","guids":"00000000000000ab"})",
           R"({"pkey":"0x1","guids":["00000000000000ab"],"membership":["full"]})",
           R"({"pkey":"0x1","guids":["00000000000000ab"],"membership":"both"})",
           R"({"pkey":"0x1","guids":["00000000000000ab"],"index0":"true"})",
       }) {
    CAPTURE(body);
    const HttpReply reply = send("POST", "/ufmRest/resources/pkeys", body);
    CHECK(reply.status == 400);
    CHECK(reply.type == "text/plain");
  }
  CHECK(ufm.generation() == 0);
  CHECK(ufm.log().size() == 18);
}

TEST_CASE_FIXTURE(Fixture, "PUT, /add, QoS, and the three ways to remove") {
  CHECK(send("PUT", "/ufmRest/resources/pkeys",
             R"({"pkey":"0x1","guids":["00000000000000ab","00000000000000cd"],)"
             R"("memberships":["full","limited"],"ip_over_ib":false})")
            .status == 200);
  const Partition put = ufm.partitions().at(ib::PKey(1));
  CHECK(put.members.at(ib::Guid(0xab)).membership == ib::Membership::full);
  CHECK(put.members.at(ib::Guid(0xcd)).membership == ib::Membership::limited);
  CHECK_FALSE(put.ip_over_ib);
  CHECK(send("POST", "/ufmRest/resources/pkeys/add", R"({"pkey":"0x1"})").status == 409);
  CHECK(send("PUT", "/ufmRest/resources/pkeys/qos_conf",
             R"({"pkey":"0x1","mtu_limit":4,"service_level":3,"rate_limit":100})")
            .status == 200);
  CHECK(ufm.partitions().at(ib::PKey(1)).qos == Qos{4, 3, "100"});
  CHECK(send("POST", "/ufmRest/actions/remove_guids_from_pkey",
             R"({"pkey":"0x1","guids":["00000000000000ab"]})")
            .status == 200);
  CHECK(ufm.partitions().at(ib::PKey(1)).members.size() == 1);
  CHECK(send("DELETE", "/ufmRest/resources/pkeys/0x1").status == 200);
  CHECK_FALSE(ufm.partitions().contains(ib::PKey(1)));
  CHECK(send("DELETE", "/ufmRest/resources/pkeys/0x1").status == 404);
  CHECK(send("DELETE", "/ufmRest/resources/pkeys/0x1/guids/00000000000000ab").status == 404);

  CHECK(send("POST", "/ufmRest/resources/pkeys/add",
             R"({"pkey":"0x2","partition_name":"shared","ip_over_ib":false})")
            .status == 200);
  CHECK(ufm.partitions().at(ib::PKey(2)) == Partition{"shared", false});
  set(&RestSettings::serves_guid_removal, false);
  set(&RestSettings::serves_removal_action, false);
  CHECK(send("DELETE", "/ufmRest/resources/pkeys/0x2/guids/00000000000000ab").status == 404);
  CHECK(send("POST", "/ufmRest/actions/remove_guids_from_pkey",
             R"({"pkey":"0x2","guids":["00000000000000ab"]})")
            .status == 404);
}

TEST_CASE_FIXTURE(Fixture, "hosts are the ports of systems, and the answer is a job") {
  set(&RestSettings::job_duration, std::chrono::milliseconds(3'600'000));
  const HttpReply reply = send("POST", "/ufmRest/resources/pkeys/hosts",
                               R"({"pkey":"0x1","hosts_names":"node1,node9"})");
  CHECK(reply.status == 202);
  CHECK(reply.body == R"({"job_id":"1"})");
  CHECK(ufm.partitions().at(ib::PKey(1)).members.size() == 1);
  CHECK(get("/ufmRest/jobs/1").find(R"("Status":"Running")") != std::string::npos);
  set(&RestSettings::job_duration, std::chrono::milliseconds(0));
  CHECK(get("/ufmRest/jobs").find(R"("Status":"Completed")") != std::string::npos);
  CHECK(send("DELETE", "/ufmRest/resources/pkeys/0x1/hosts/node1").status == 202);
  CHECK_FALSE(ufm.partitions().contains(ib::PKey(1)));
  CHECK(send("DELETE", "/ufmRest/jobs/1").status == 200);
  CHECK(send("GET", "/ufmRest/jobs/1").status == 404);
}

TEST_CASE_FIXTURE(Fixture, "ports and virtual ports; these only while UFM's own switch is on") {
  CHECK(get("/ufmRest/resources/ports?sys_type=Computer") ==
        R"([{"guid":"00000000000000ab","name":"00000000000000ab_1","dname":"HCA-1/1",)"
        R"("systemID":"00000000000000a0","system_name":"node1","lid":0,)"
        R"("physical_state":"Link Up","logical_state":"Active"}])");
  CHECK(get("/ufmRest/resources/ports?system=leaf1").find("00000000000000cd") != std::string::npos);
  inventory.set_vports({{.guid = ib::Guid(0x1ab), .port = ib::Guid(0xab), .lid = 7}});
  CHECK(get("/ufmRest/resources/vports") == "[]");
  inventory.set_virtualization(true, std::chrono::hours(1));
  const std::string one = get("/ufmRest/resources/vports");
  CHECK(one.find(R"("virtual_port_guid":"00000000000001ab")") != std::string::npos);
  CHECK(one.find(R"("system_name":"node1")") != std::string::npos);
  CHECK(get("/ufmRest/resources/vports?system=leaf1") == "[]");
  inventory.set_vports({});
  CHECK(get("/ufmRest/resources/vports") == one);  // it has not looked again
}

TEST_CASE_FIXTURE(Fixture, "times have no zone, in either of two forms") {
  CHECK(get("/ufmRest/resources/pkeys/last_updated") == R"({"last_updated":null})");
  UfmModel old([] { return UfmModel::Time(std::chrono::seconds(1599133359)); });
  RestInterface interface({old, inventory, accounts});
  REQUIRE(old.call({.operation = Operation::add_empty, .pkey = ib::PKey(1)}).ok());
  const HttpRequest request{
      .method = "GET", .path = "/ufmRest/resources/pkeys/last_updated", .authorization = kBasic};
  CHECK(interface.handle(request).body == R"({"last_updated":"Thu Sep  3 11:42:39 UTC 2020"})");
  RestSettings settings;
  settings.time_format = TimeFormat::numeric;
  settings.utc_offset = std::chrono::minutes(-120);
  interface.set_settings(settings);
  CHECK(interface.handle(request).body == R"({"last_updated":"03-09-2020, 09:42:39"})");
}

TEST_CASE_FIXTURE(Fixture, "version, settings of the subnet manager, mappings, tokens") {
  CHECK(get("/ufmRest/app/ufm_version") == R"({"ufm_release_version":"6.19.1-5"})");
  set(&RestSettings::m_key_per_port, true);
  CHECK(get("/ufmRest/app/smconf?param_name=m_key_per_port") == R"({"m_key_per_port":true})");
  CHECK(send("GET", "/ufmRest/app/smconf?param_name=colour").status == 400);
  const std::string mapping = "/ufmRest/app/smconf/physical_virtual_mapping";
  CHECK(send("POST", mapping, R"({"physical-port-guid":["0x00000000000000ab"]})").body == "1");
  CHECK(send("POST", mapping, R"({"physical-port-guid":["00000000000000ab"]})").status == 400);
  CHECK(get(mapping) ==
        R"({"1":{"physical-port-guid":["0x00000000000000ab"],"virtual-port-guid":[]}})");
  CHECK(get(mapping + "/1").starts_with("{\"physical-port-guid\""));
  CHECK(send("GET", mapping + "/2").status == 404);
  CHECK(send("GET", mapping + "/one").status == 404);
  CHECK(send("PUT", mapping + "/1", "{}").status == 405);
  const std::string whole =
      R"({"physical-port-guid":["0x00000000000000cd"],"virtual-port-guid":["0x0000000000000001"],)"
      R"("properties":{"tenant_vport_lids":true}})";
  CHECK(send("POST", mapping, whole).body == "2");
  CHECK(get(mapping + "/2") == whole);
  CHECK(send("POST", mapping, R"({"properties":1})").status == 400);
  CHECK(send("DELETE", mapping).status == 405);
  CHECK(send("DELETE", mapping + "/1").status == 200);
  CHECK(send("DELETE", mapping + "/1").status == 404);
  CHECK(get(mapping) == "{\"2\":" + whole + "}");
  set(&RestSettings::serves_guid_groups, false);
  CHECK(send("GET", mapping).status == 404);
  CHECK(send("POST", "/ufmRest/app/tokens").body.find("access_token") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "who may do what, and a slash at the end") {
  CHECK(send("GET", "/ufmRest/resources/pkeys/").status == 200);
  set(&RestSettings::accepts_trailing_slash, false);
  CHECK(send("GET", "/ufmRest/resources/pkeys/").status == 404);
  const HttpReply stranger = send("GET", "/ufmRest/resources/pkeys", "", "");
  CHECK(stranger.status == 401);
  CHECK(stranger.type == "text/plain");
  const std::string monitor = "Basic " + base64("monitor:1");
  CHECK(send("GET", "/ufmRest/resources/pkeys", "", monitor).status == 200);
  CHECK(send("DELETE", "/ufmRest/resources/pkeys/0x1", "", monitor).status == 403);
  for (const char* path : {"/", "", "/ufm", "/ufmRest", "/ufmRest/", "/ufmRest/resources",
                           "/ufmRest/resources/links", "/ufmRest/app", "/ufmRest/actions/x"}) {
    CAPTURE(path);
    CHECK(send("GET", path).status == 404);
  }
}

TEST_CASE_FIXTURE(Fixture, "faults meet requests for anything, and cut or replace the answer") {
  ufm.inject({.status = 503, .text = "UFM is starting", .operations = {Operation::version}});
  const HttpReply refused = send("GET", "/ufmRest/app/ufm_version");
  CHECK(refused.status == 503);
  CHECK(refused.body == "UFM is starting\n");
  CHECK(send("GET", "/ufmRest/app/ufm_version").status == 200);
  ufm.inject({.kind = FaultKind::html});
  CHECK(send("GET", "/ufmRest/resources/ports").type == "text/html");
  const std::string whole = get("/ufmRest/resources/ports");
  ufm.inject({.kind = FaultKind::truncate});
  const std::string half = get("/ufmRest/resources/ports");
  CHECK(half == whole.substr(0, whole.size() / 2));
  const auto log = ufm.log();
  CHECK(log[0].call.path == "GET /ufmRest/app/ufm_version");
  CHECK(log[0].status == 503);
  CHECK(log[0].call.caller == "admin");
}

}  // namespace
}  // namespace ibpod::fake_ufm
