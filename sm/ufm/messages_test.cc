#include "sm/ufm/messages.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

constexpr auto kFull = ib::Membership::full;
constexpr auto kLimited = ib::Membership::limited;

template <typename T>
std::string error_of(const Result<T>& parsed) {
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code() == Code::unavailable);
  return parsed.error().text();
}

ListedPartition listed(uint16_t pkey, std::vector<UfmMember> members) {
  return {{.pkey = ib::PKey(pkey), .members = std::move(members)}, true};
}

TEST_CASE("partitions: an object with one member for each P_Key") {
  const auto list = parse_partitions(R"({
    "0x7fff": {"partition": "management", "membership": "limited", "index0": false, "guids": []},
    "0x2fb": {"partition": "api_pkey_0x2fb", "ip_over_ib": true, "guids": [
      {"guid": "946dae03005975c8", "index0": true, "membership": "full"},
      {"guid": "0000000000000001", "index0": false, "membership": "limited"}]}})");
  REQUIRE(list);
  REQUIRE(list->size() == 2);
  CHECK(list->at(0) == ListedPartition{{.pkey = ib::PKey(0x2fb),
                                        .name = "api_pkey_0x2fb",
                                        .ip_over_ib = true,
                                        .members = {{ib::Guid(1), kLimited, false},
                                                    {ib::Guid(0x946dae03005975c8), kFull, true}}},
                                       true});
  CHECK(list->at(1) == ListedPartition{{.pkey = ib::PKey(0x7fff), .name = "management"}, true});
}

TEST_CASE("partitions: a list of P_Keys, and a list of objects") {
  CHECK(parse_partitions(R"(["0x7fff", "0x1"])").value() ==
        std::vector<ListedPartition>{{{.pkey = ib::PKey(1)}, false},
                                     {{.pkey = ib::PKey(0x7fff)}, false}});
  CHECK(parse_partitions(R"([{"pkey": "0x5", "guids": [{"guid": "1"}]},
                             {"pkey": "0x4", "ip_over_ib": false}])")
            .value() ==
        std::vector<ListedPartition>{{{.pkey = ib::PKey(4), .ip_over_ib = false}, false},
                                     listed(5, {{.guid = ib::Guid(1)}})});
  CHECK(parse_partitions("[]").value().empty());
  CHECK(parse_partitions("{}").value().empty());
}

TEST_CASE("partitions: an entry without members does not have none") {
  for (const char* text : {R"({"0x5": {"partition": "a"}})", R"({"0x5": {"guids": null}})",
                           R"({"0x5": {"qos_conf": {"mtu_limit": 4}}})"}) {
    CAPTURE(text);
    const auto list = parse_partitions(text);
    REQUIRE(list);
    CHECK_FALSE(list->at(0).has_members);
  }
  CHECK(parse_partitions(R"({"0x5": {"guids": []}})").value().at(0).has_members);
}

TEST_CASE("partitions: P_Keys and GUIDs in all spellings") {
  for (const char* pkey : {"0xab", "0x00ab", "0x00AB", "0XAB", "ab", "00AB"}) {
    CAPTURE(pkey);
    const std::string keyed = "{\"" + std::string(pkey) + "\": {}}";
    CHECK(parse_partitions(keyed).value().at(0).partition.pkey == ib::PKey(0xab));
  }
  for (const char* guid : {"0002c903000e0b72", "0x0002c903000e0b72", "0X0002C903000E0B72",
                           "2c903000e0b72", "0x2c903000E0B72", "00:02:c9:03:00:0e:0b:72"}) {
    CAPTURE(guid);
    const std::string text = R"({"0x1": {"guids": [{"guid": ")" + std::string(guid) + R"("}]}})";
    const auto list = parse_partitions(text);
    REQUIRE(list);
    CHECK(list->at(0).partition.members.at(0).guid == ib::Guid(0x0002c903000e0b72));
  }
}

TEST_CASE("partitions: values of a member that are missing or have other words are unknown") {
  struct Row {
    const char* member;
    std::optional<ib::Membership> membership;
    std::optional<bool> index0;
  };
  for (const Row& row : std::vector<Row>{
           {R"({"guid": "1"})", {}, {}},
           {R"("1")", {}, {}},
           {R"({"guid": "1", "membership": "FULL", "index0": "True"})", kFull, true},
           {R"({"guid": "1", "membership": "Limited", "index0": "false"})", kLimited, false},
           {R"({"guid": "1", "membership": "both", "index0": "maybe"})", {}, {}},
           {R"({"guid": "1", "membership": null, "index0": null})", {}, {}},
           {R"({"guid": "1", "membership": "", "index0": 1})", {}, true},
           {R"({"guid": "1", "index0": 0})", {}, false},
       }) {
    CAPTURE(row.member);
    const auto list = parse_partitions(R"({"0x1": {"guids": [)" + std::string(row.member) + "]}}");
    REQUIRE(list);
    CHECK(list->at(0).partition.members ==
          std::vector<UfmMember>{{ib::Guid(1), row.membership, row.index0}});
  }
}

TEST_CASE("partitions: a member that appears twice has only the values that both have") {
  const auto list = parse_partitions(R"({"0x1": {"guids": [
      {"guid": "2", "membership": "full", "index0": true},
      {"guid": "0x1", "membership": "full", "index0": true},
      {"guid": "1", "membership": "limited", "index0": true},
      {"guid": "3", "membership": "full", "index0": true},
      {"guid": "3", "membership": "full"},
      {"guid": "0x2", "membership": "full", "index0": true}]}})");
  REQUIRE(list);
  CHECK(list->at(0).partition.members == std::vector<UfmMember>{{ib::Guid(1), {}, true},
                                                                {ib::Guid(2), kFull, true},
                                                                {ib::Guid(3), kFull, {}}});
}

TEST_CASE("partitions: a name is bounded and printable") {
  const auto name = [](const std::string& text) {
    return parse_partitions(R"({"0x1": {"partition": ")" + text + "\"}}")
        .value()
        .at(0)
        .partition.name;
  };
  CHECK(name("a\\u001b[31m\\nb") == "a?[31m?b");
  CHECK(name("\xc3\xa4") == "??");
  CHECK(name(std::string(64, 'x')) == std::string(64, 'x'));
  CHECK(name(std::string(65, 'x')) == std::string(61, 'x') + "...");
}

TEST_CASE("partitions: what is not UFM's is refused, with the place") {
  struct Row {
    std::string text, error;
  };
  for (const Row& row : std::vector<Row>{
           {"", "JSON: parse error at line 1, column 1"},
           {"<!DOCTYPE html><html>", "expected JSON, got HTML"},
           {" \n<html>", "expected JSON, got HTML"},
           {R"({"0x1": {"guids": [{"guid": "1")", "JSON: parse error at line 1, column 32"},
           {"7", "the document: expected an object, got the number 7"},
           {"null", "the document: expected an object, got null"},
           {R"({"error": "busy"})",
            R"(error: expected a P_Key from 0x0001 to 0x7fff, got "error")"},
           {R"({"0x0": {}})", R"(0x0: expected a P_Key from 0x0001 to 0x7fff, got "0x0")"},
           {R"({"0x8000": {}})", "0x8000: expected a P_Key from 0x0001 to 0x7fff"},
           {R"({"0x10001": {}})", "0x10001: expected a P_Key from 0x0001 to 0x7fff"},
           {R"({"": {}})", "the document: expected a P_Key from 0x0001 to 0x7fff, got \"\""},
           {R"({"0x1": {}, "0x0001": {}})", "the P_Key 0x0001 appears twice"},
           {R"(["0x1", "1"])", "the P_Key 0x0001 appears twice"},
           {R"({"0x1": {}, "0x1": {}})", "JSON: duplicate key \"0x1\""},
           {R"({"0x1": []})", "0x1: expected an object, got a list"},
           {R"({"0x1": {"guids": {}}})", "0x1.guids: expected a list, got an object"},
           {R"({"0x1": {"guids": [1]}})", "0x1.guids[0]: expected an object, got the number 1"},
           {R"({"0x1": {"guids": [{}]}})", "0x1.guids[0]: the key \"guid\" is missing"},
           {R"({"0x1": {"guids": ["1", "0"]}})",
            "0x1.guids[1]: expected the GUID of a port in 1 to 16 hex digits, got \"0\""},
           {R"({"0x1": {"guids": ["ffffffffffffffff"]}})", "0x1.guids[0]: expected the GUID"},
           {R"({"0x1": {"guids": ["00000000000000001"]}})", "0x1.guids[0]: expected the GUID"},
           {R"({"0x1": {"guids": [{"guid": "1", "membership": true}]}})",
            "0x1.guids[0].membership: expected a string, got true"},
           {R"({"0x1": {"guids": [{"guid": "1", "index0": 2}]}})",
            "0x1.guids[0].index0: expected a whole number from 0 to 1, got the number 2"},
           {R"({"0x1": {"ip_over_ib": []}})", "0x1.ip_over_ib: expected true or false"},
           {R"({"0x1": {"partition": 5}})", "0x1.partition: expected a string"},
           {R"([7])", "[0]: expected an object, got the number 7"},
           {R"([{"partition": "a"}])", "[0]: the key \"pkey\" is missing"},
           {R"([{"pkey": 5}])", "[0].pkey: expected a string, got the number 5"},
       }) {
    CAPTURE(row.text);
    CHECK_MESSAGE(error_of(parse_partitions(row.text)).starts_with(row.error),
                  error_of(parse_partitions(row.text)));
  }
}

TEST_CASE("an error is bounded, whatever it quotes") {
  const std::string guid(5'000, '\x01');
  CHECK(error_of(parse_partitions(R"({"0x1": {"partition": [], "guids": ")" + guid)).size() <= 300);
  CHECK(error_of(parse_partitions("{\"" + std::string(5'000, 'y') + "\": {}}")).size() <= 300);
}

TEST_CASE("more values than any fabric has are refused") {
  CHECK(error_of(parse_partitions("[" + std::string(4'000'001, ',')))
            .starts_with("JSON: more than 4000000"));
}

TEST_CASE("one partition: alone, in an object or in a list") {
  const UfmPartition expected{.pkey = ib::PKey(5), .members = {{.guid = ib::Guid(1)}}};
  for (const char* text :
       {R"({"guids": ["1"]})", R"({"pkey": "0x0005", "guids": ["1"]})",
        R"({"0x5": {"guids": ["1"]}})", R"([{"pkey": "0x5", "guids": ["1"]}])"}) {
    CAPTURE(text);
    const auto parsed = parse_partition(text, ib::PKey(5));
    REQUIRE(parsed);
    CHECK(*parsed == expected);
  }
  CHECK(parse_partition(R"({"partition": "a", "guids": []})", ib::PKey(5)).value()->name == "a");
}

TEST_CASE("one partition: only {} says that it does not exist") {
  CHECK(parse_partition(" { } ", ib::PKey(5)).value() == std::nullopt);
  struct Row {
    const char *text, *error;
  };
  for (const Row& row : std::vector<Row>{
           {"[]", "expected one partition, got 0"},
           {"null", "the document: expected an object"},
           {"", "JSON: "},
           {"<html>", "expected JSON, got HTML"},
           {R"({"partition": "a"})", "the key \"guids\" is missing"},
           {R"({"0x5": {"partition": "a"}})", "the key \"guids\" is missing"},
           {R"({"0x6": {"guids": []}})", "expected the P_Key 0x0005, got 0x0006"},
           {R"({"pkey": "0x6", "guids": []})", "expected the P_Key 0x0005, got 0x0006"},
           {R"({"0x5": {"guids": []}, "0x6": {"guids": []}})", "expected one partition, got 2"},
           {R"(["0x5"])", "the key \"guids\" is missing"},
       }) {
    CAPTURE(row.text);
    CHECK(error_of(parse_partition(row.text, ib::PKey(5))).starts_with(row.error));
  }
}

TEST_CASE("the version is bounded and printable") {
  CHECK(parse_version(R"({"ufm_release_version": "6.14.5-2"})").value() == "6.14.5-2");
  CHECK(parse_version(R"({"ufm_release_version": "6\n"})").value() == "6?");
  CHECK(error_of(parse_version("{}")).find("ufm_release_version") != std::string::npos);
  CHECK(error_of(parse_version(R"({"ufm_release_version": 6})")).find("a string") !=
        std::string::npos);
}

TEST_CASE("settings: in all forms, and those that are missing are unknown") {
  const auto per_port = [](const std::string& value) {
    return parse_settings("{\"m_key_per_port\":" + value + "}").value().m_key_per_port;
  };
  for (const char* value : {"true", "\"TRUE\"", "\"true\"", "1", "\"1\"", "\"yes\""}) {
    CAPTURE(value);
    CHECK(per_port(value) == true);
  }
  for (const char* value : {"false", "\"FALSE\"", "0", "\"no\""}) {
    CAPTURE(value);
    CHECK(per_port(value) == false);
  }
  CHECK(per_port("null") == std::nullopt);
  CHECK(per_port("\"(null)\"") == std::nullopt);
  CHECK(parse_settings("{}").value() == SiteSettings{});
  CHECK(parse_settings(R"({"default_membership": "limited"})").value().default_membership ==
        kLimited);
  CHECK(parse_settings(R"({"default_membership": "FULL"})").value().default_membership == kFull);
}

TEST_CASE("settings: no error quotes a key of the subnet manager") {
  for (const char* text : {R"({"m_key": "0x5ec7e7)", R"({"m_key": "0x5ec7e7",)", R"(["0x5ec7e7"])",
                           R"("0x5ec7e7")", R"({"m_key": "0x5ec7e7", "m_key_per_port": []})",
                           R"({"m_key": "0x5ec7e7", "m_key": "0x5ec7e7"})"}) {
    CAPTURE(text);
    CHECK(error_of(parse_settings(text)).find("5ec7e7") == std::string::npos);
  }
}

TEST_CASE("ports: by GUID, each once") {
  CHECK(parse_ports(R"([{"guid": "0x2", "name": "b"}, {"guid": "1"}])").value() ==
        std::vector{ib::Guid(1), ib::Guid(2)});
  CHECK(parse_ports("[]").value().empty());
  CHECK(error_of(parse_ports(R"([{"guid": "0x2"}, {"guid": "2"}])")) ==
        "the port 00:00:00:00:00:00:00:02 appears twice");
  CHECK(error_of(parse_ports("{}")) == "the document: expected a list, got an object");
  CHECK(error_of(parse_ports(R"([{"name": "a"}])")) == "[0]: the key \"guid\" is missing");
  CHECK(error_of(parse_ports(R"([{"guid": "0"}])")).starts_with("[0].guid: expected the GUID"));
}

TEST_CASE("virtual ports: by GUID, each once, without those that have none") {
  const auto vport = [](const std::string& guid, const std::string& port) {
    return R"({"virtual_port_guid": ")" + guid + R"(", "port_guid": ")" + port + "\"}";
  };
  CHECK(parse_vports("[" + vport("0xB", "2") + "," + vport("a", "1") + "," + vport("0x0", "1") +
                     "," + vport("0xffffffffffffffff", "1") + "," + vport("", "1") + "]")
            .value() ==
        std::vector<UfmVport>{{ib::Guid(0xa), ib::Guid(1)}, {ib::Guid(0xb), ib::Guid(2)}});
  CHECK(error_of(parse_vports("[" + vport("a", "1") + "," + vport("0xa", "2") + "]")) ==
        "the virtual port 00:00:00:00:00:00:00:0a appears twice");
  CHECK(error_of(parse_vports("[" + vport("a", "0") + "]")).starts_with("[0].port_guid: expected"));
  CHECK(error_of(parse_vports(R"([{"port_guid": "1"}])"))
            .starts_with("[0]: the key \"virtual_port_guid\" is missing"));
}

TEST_CASE("a status of success is acceptance, whatever keys are in the body, but not HTML") {
  for (const char* text :
       {"", "{}", "null", "\"ok\"", "GUIDs were added", "{cut", R"({"pkey": "0x5", "added": 1})",
        R"({"failed_guids": ["a"]})", R"({"error": "no such port"})", R"({"failed_jobs": 3})",
        R"({"unknown": true})"}) {
    CAPTURE(text);
    CHECK(check_change(text));
  }
  const Status html = check_change("<html>login</html>");
  REQUIRE_FALSE(html);
  CHECK(html.error().code() == Code::unavailable);
}

TEST_CASE("an addition has one membership for all its GUIDs") {
  CHECK(write_addition({.pkey = ib::PKey(0x5),
                        .membership = kLimited,
                        .index0 = true,
                        .ip_over_ib = false,
                        .guids = {ib::Guid(1), ib::Guid(0x946dae03005975c8)}}) ==
        R"({"pkey":"0x5","guids":["0000000000000001","946dae03005975c8"],"index0":true,)"
        R"("ip_over_ib":false,"membership":"limited"})");
  CHECK(write_creation({.pkey = ib::PKey(0x5), .index0 = true, .ip_over_ib = false, .guids = {}}) ==
        R"({"pkey":"0x5","index0":true,"ip_over_ib":false})");
  CHECK(write_removal(ib::PKey(0x7ffe), {ib::Guid(1)}) ==
        R"({"pkey":"0x7ffe","guids":["0000000000000001"]})");
  CHECK(join_guids({ib::Guid(1), ib::Guid(2)}) == "0000000000000001,0000000000000002");
}

TEST_CASE("groups of GUIDs are read in the form of the manual, and sorted") {
  const auto groups = parse_guid_groups(
      R"({"10": {"physical-port-guid": ["0x0002c90000000005"], "virtual-port-guid":
            ["0x0002c90000000067", "0002C90000000066", "0x0002c90000000067"],
            "properties": {"tenant_vport_lids": true, "max_tenant_mc_groups": 5}},
          "2": {"physical-port-guid": ["0x1"], "properties": {"tenant_vport_lids": "false"}},
          "3": {"virtual-port-guid": []}})");
  REQUIRE_MESSAGE(groups, (groups ? "" : groups.error().text()));
  CHECK(*groups ==
        std::vector<GuidGroup>{{2, {ib::Guid(1)}, {}, false},
                               {3, {}, {}, {}},
                               {10,
                                {ib::Guid(0x0002c90000000005)},
                                {ib::Guid(0x0002c90000000066), ib::Guid(0x0002c90000000067)},
                                true}});
  CHECK(parse_guid_groups("{}")->empty());
  for (const char* text : {"[]", R"({"a": {}})", R"({"1": 2})", R"({"-1": {}})",
                           R"({"1": {}, "01": {}})", R"({"1": {"physical-port-guid": "0x1"}})",
                           R"({"1": {"virtual-port-guid": ["VF"]}})", "<html>"}) {
    CAPTURE(text);
    CHECK(error_of(parse_guid_groups(text)) != "");
  }
}

TEST_CASE("a new group has one port, and virtual ports that may have LIDs; its answer is its ID") {
  CHECK(write_guid_group(ib::Guid(5), {ib::Guid(0x66), ib::Guid(0x67)}) ==
        R"({"physical-port-guid":["0x0000000000000005"],"virtual-port-guid":)"
        R"(["0x0000000000000066","0x0000000000000067"],"properties":{"tenant_vport_lids":true}})");
  CHECK(parse_group_id("7").value() == 7);
  CHECK(parse_group_id("\"7\"").value() == 7);
  for (const char* text : {"", "-1", "1.5", "{}", "\"seven\"", "<html>"}) {
    CAPTURE(text);
    CHECK(error_of(parse_group_id(text)) != "");
  }
}

}  // namespace
}  // namespace ibpod::sm::ufm
