#include "lib/cni/result.h"

#include <doctest/doctest.h>

namespace ibpod::cni {
namespace {

constexpr const char* kFull =
    R"({"cniVersion":"1.1.0",)"
    R"("interfaces":[{"name":"net1","mac":"00:00:00:00:fe:80","mtu":4092,"sandbox":"/var/run/netns/p",)"
    R"("socketPath":"/s","pciID":"0000:3b:00.2"}],)"
    R"("ips":[{"interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},)"
    R"({"interface":0,"address":"10.1.3.3/24"},{"address":"2001:db8::2/64","gateway":"2001:db8::1"}],)"
    R"("routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1"},)"
    R"({"dst":"10.9.0.0/16","mtu":1500,"advmss":1460,"priority":5,"table":0,"scope":0},)"
    R"({"dst":"::/0","gw":"2001:db8::1"}],)"
    R"("dns":{"nameservers":["10.0.0.1"],"search":["a.b"]}})";

Result<AddResult> result_of(const std::string& text) {
  const json::Value document = TRY(json::Value::parse(text));
  return parse_result(document);
}

std::string error_of(const std::string& text) {
  const auto result = result_of(text);
  REQUIRE_FALSE(result);
  CHECK(result.error().code() == Code::invalid);
  return result.error().text();
}

TEST_CASE("a result of the newest version comes out as it went in") {
  CHECK(to_json(result_of(kFull).value(), kNewest).text() == kFull);
}

TEST_CASE("1.0.0 leaves out what came later") {
  CHECK(
      to_json(result_of(kFull).value(), Version{1, 0, 0}).text() ==
      R"({"cniVersion":"1.0.0",)"
      R"("interfaces":[{"name":"net1","mac":"00:00:00:00:fe:80","sandbox":"/var/run/netns/p"}],)"
      R"("ips":[{"interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},)"
      R"({"interface":0,"address":"10.1.3.3/24"},{"address":"2001:db8::2/64","gateway":"2001:db8::1"}],)"
      R"("routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1"},{"dst":"10.9.0.0/16"},)"
      R"({"dst":"::/0","gw":"2001:db8::1"}],)"
      R"("dns":{"nameservers":["10.0.0.1"],"search":["a.b"]}})");
}

TEST_CASE("0.3.0 to 0.4.0 say of every address which family it is") {
  for (const Version version : {Version{0, 3, 0}, Version{0, 3, 1}, Version{0, 4, 0}}) {
    const json::Value document = to_json(result_of(kFull).value(), version);
    CHECK(document.at("cniVersion").value().string().value() == version.text());
    CHECK(document.at("ips").value().text() ==
          R"([{"version":"4","interface":0,"address":"10.1.2.3/24","gateway":"10.1.2.1"},)"
          R"({"version":"4","interface":0,"address":"10.1.3.3/24"},)"
          R"({"version":"6","address":"2001:db8::2/64","gateway":"2001:db8::1"}])");
    CHECK(document.at("interfaces").value().text() ==
          R"([{"name":"net1","mac":"00:00:00:00:fe:80","sandbox":"/var/run/netns/p"}])");
  }
}

TEST_CASE("0.1.0 and 0.2.0 have one address of each family, with the routes inside") {
  CHECK(to_json(result_of(kFull).value(), Version{0, 2, 0}).text() ==
        R"({"cniVersion":"0.2.0",)"
        R"("ip4":{"ip":"10.1.2.3/24","gateway":"10.1.2.1",)"
        R"("routes":[{"dst":"0.0.0.0/0","gw":"10.1.2.1"},{"dst":"10.9.0.0/16"}]},)"
        R"("ip6":{"ip":"2001:db8::2/64","gateway":"2001:db8::1",)"
        R"("routes":[{"dst":"::/0","gw":"2001:db8::1"}]},)"
        R"("dns":{"nameservers":["10.0.0.1"],"search":["a.b"]}})");
  CHECK(to_json(AddResult{}, Version{0, 1, 0}).text() == R"({"cniVersion":"0.1.0"})");
}

TEST_CASE("a result of every version is read, and comes out the same in that version") {
  for (const Version version : supported_versions()) {
    CAPTURE(version.text());
    const std::string text = to_json(result_of(kFull).value(), version).text();
    CHECK(to_json(result_of(text).value(), version).text() == text);
  }
}

TEST_CASE("a bare version is an empty result, and so is nothing at all") {
  for (const char* text : {R"({"cniVersion":"1.1.0"})", R"({"cniVersion":"0.2.0"})", "{}",
                           R"({"interfaces":null,"ips":[],"routes":[],"dns":{}})"}) {
    CAPTURE(text);
    const AddResult result = result_of(text).value();
    CHECK(result.interfaces.empty());
    CHECK(result.ips.empty());
    CHECK(to_json(result, kNewest).text() == R"({"cniVersion":"1.1.0"})");
  }
}

TEST_CASE("what is not verified is said in every version, and only where there is something") {
  AddResult result;
  for (const Version version : supported_versions())
    CHECK_FALSE(to_json(result, version).find("ibpod"));
  result.unverified = {"0x8001", "0x8002"};
  for (const Version version : supported_versions()) {
    const json::Value document = to_json(result, version);
    CHECK(document.find("ibpod")->text() ==
          R"({"pkeys":{"0x8001":"not verified","0x8002":"not verified"}})");
    CHECK(parse_result(document));
  }
}

TEST_CASE("a result that does not name its version is known by its form") {
  CHECK(result_of(R"({"ip4":{"ip":"10.0.0.1/8"}})").value().ips.size() == 1);
  CHECK(result_of(R"({"ips":[{"version":"4","address":"10.0.0.1/8"}]})").value().ips.size() == 1);
}

TEST_CASE("zeros and empty strings that Go writes for what is not there are nothing") {
  const AddResult result = result_of(R"({"interfaces":[{"name":"a","mtu":0,"mac":""}],)"
                                     R"("ips":[{"address":"10.0.0.1/8","gateway":""}],)"
                                     R"("routes":[{"dst":"0.0.0.0/0","gw":"","mtu":0}]})")
                               .value();
  CHECK(result.interfaces[0] == Interface{"a", "", {}, "", "", ""});
  CHECK_FALSE(result.ips[0].gateway);
  CHECK(result.routes[0] == Route{ip::Prefix::parse("0.0.0.0/0").value(), {}, {}, {}, {}, {}, {}});
}

TEST_CASE("what is wrong in a result is named with its place") {
  const struct {
    const char* text;
    const char* message;
  } table[] = {
      {"[]", "the document: expected an object, got a list"},
      {R"({"cniVersion":"2.0.0"})", "cniVersion: expected one of 0.1.0, 0.2.0"},
      {R"({"cniVersion":7})", "cniVersion: expected a string"},
      {R"({"ips":{}})", "ips: expected a list, got an object"},
      {R"({"ips":[{}]})", "ips[0]: the key \"address\" is missing"},
      {R"({"ips":[{"address":"10.0.0.1"}]})",
       "ips[0].address: \"10.0.0.1\" is not an address with a prefix"},
      {R"({"ips":[{"address":"10.0.0.1/8","gateway":"x"}]})",
       "ips[0].gateway: \"x\" is not an IP address"},
      {R"({"ips":[{"address":"10.0.0.1/8","interface":0}]})",
       "ips[0].interface: 0 is out of range: the result has 0 interfaces"},
      {R"({"interfaces":[{"name":"a"}],"ips":[{"address":"10.0.0.1/8","interface":1}]})",
       "ips[0].interface: 1 is out of range: the result has 1 interfaces"},
      {R"({"interfaces":[{"name":"a"}],"ips":[{"address":"10.0.0.1/8","interface":-1}]})",
       "ips[0].interface: -1 is out of range"},
      {R"({"interfaces":[{}]})", "interfaces[0]: the key \"name\" is missing"},
      {R"({"interfaces":[{"name":"a","mtu":-1}]})", "interfaces[0].mtu: expected a whole number"},
      {R"({"routes":[{"gw":"10.0.0.1"}]})", "routes[0]: the key \"dst\" is missing"},
      {R"({"routes":[{"dst":"0.0.0.0/0","scope":256}]})",
       "routes[0].scope: expected a whole number"},
      {R"({"routes":[{"dst":"0.0.0.0/0","table":4294967296}]})",
       "routes[0].table: expected a whole"},
      {R"({"cniVersion":"0.2.0","ip4":{"ip":"::1/128"}})",
       "ip4: ::1/128 belongs to the other address family"},
      {R"({"cniVersion":"0.2.0","ip6":{}})", "ip6: the key \"ip\" is missing"},
      {R"({"dns":{"nameservers":[7]}})", "dns.nameservers[0]: expected a string, got the number 7"},
      {R"({"dns":7})", "dns: expected an object, got the number 7"},
  };
  for (const auto& row : table) {
    const auto& [text, message] = row;
    CAPTURE(row.text);
    CHECK(error_of(text).substr(0, std::string_view(message).size()) == message);
  }
}

}  // namespace
}  // namespace ibpod::cni
