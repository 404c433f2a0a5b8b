#include "lib/cni/request.h"

#include "lib/cni/errors.h"

#include <doctest/doctest.h>

namespace ibpod::cni {
namespace {

Environment full(const std::string& verb) {
  return {{"CNI_COMMAND", verb},
          {"CNI_CONTAINERID", "c0ffee"},
          {"CNI_NETNS", "/var/run/netns/pod"},
          {"CNI_IFNAME", "net1"},
          {"CNI_PATH", "/opt/cni/bin:/usr/lib/cni"},
          {"CNI_ARGS", "IgnoreUnknown=true;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=pod;K8S_POD_UID=1-2"},
          {"PATH", "/bin"}};
}

Environment with(Environment environment, const std::string& variable, const std::string& value) {
  environment[variable] = value;
  return environment;
}

TEST_CASE("a call is read from the environment") {
  const Call call = parse_call(full("ADD")).value();
  CHECK(call.verb == Verb::add);
  CHECK(call.container_id == "c0ffee");
  CHECK(call.netns == "/var/run/netns/pod");
  CHECK(call.ifname == "net1");
  CHECK(call.path == std::vector<Path>{"/opt/cni/bin", "/usr/lib/cni"});
  CHECK(call.pod == Pod{"pod", "ns", "1-2"});
  CHECK(call.args.starts_with("IgnoreUnknown"));
  CHECK(call.environment == full("ADD"));
}

TEST_CASE("every verb is known by its name, and no other word is") {
  for (const char* verb : {"ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION"}) {
    CHECK(name(parse_call(full(verb)).value().verb) == verb);
  }
  CHECK(parse_call(full("add")).error().text() ==
        "CNI_COMMAND is \"add\": expected ADD, DEL, CHECK, GC, STATUS or VERSION");
  CHECK(parse_call({}).error().text() == "CNI_COMMAND is missing");
}

TEST_CASE("all missing variables are named at once; empty is as good as missing") {
  CHECK(parse_call({{"CNI_COMMAND", "ADD"}}).error().text() ==
        "ADD needs variables that are missing: CNI_CONTAINERID, CNI_NETNS, CNI_IFNAME");
  CHECK(parse_call({{"CNI_COMMAND", "DEL"}, {"CNI_IFNAME", ""}}).error().text() ==
        "DEL needs variables that are missing: CNI_CONTAINERID, CNI_IFNAME");
  CHECK(parse_call(with(full("CHECK"), "CNI_NETNS", "")).error().text() ==
        "CHECK needs variables that are missing: CNI_NETNS");
}

TEST_CASE("DEL may come without a namespace, and VERSION, GC and STATUS without an attachment") {
  CHECK(parse_call(with(full("DEL"), "CNI_NETNS", "")).value().netns.empty());
  for (const char* verb : {"VERSION", "GC", "STATUS"}) CHECK(parse_call({{"CNI_COMMAND", verb}}));
}

TEST_CASE("what names an attachment is ignored for verbs that concern none") {
  const Call call = parse_call(with(full("GC"), "CNI_CONTAINERID", "../x")).value();
  CHECK(call.container_id.empty());
  CHECK(call.ifname.empty());
  CHECK(call.netns.empty());
  CHECK(call.path.size() == 2);
}

TEST_CASE("a value that could lead elsewhere is refused by its variable, for DEL too") {
  const std::string nul("a\0b", 3);
  const struct {
    const char* variable;
    std::vector<std::string> values;
  } table[] = {
      {"CNI_CONTAINERID",
       {"..", ".", "../../etc", "a/b", "-a", "_a", ".a", "a b", "a\n", "ä", nul,
        std::string(256, 'a')}},
      {"CNI_IFNAME",
       {".", "..", "a/b", "a:b", "a b", "a\tb", "a\x01", "eth%d", nul, "sixteen-letters-",
        "net\xff"}},
      {"CNI_NETNS",
       {"netns", "../netns", "/var/../etc", "/var/run/netns/..", "/" + nul,
        "/" + std::string(4096, 'a')}},
  };
  for (const auto& [variable, values] : table) {
    for (const std::string& value : values) {
      for (const char* verb : {"ADD", "DEL", "CHECK"}) {
        CAPTURE(value);
        const auto call = parse_call(with(full(verb), variable, value));
        REQUIRE_FALSE(call);
        CHECK(call.error().code() == Code::invalid);
        CHECK(call.error().text().starts_with(std::string(variable) + " is \""));
        CHECK(call.error().text().size() < 600);
      }
    }
  }
}

TEST_CASE("the longest and oddest values that are allowed are taken") {
  CHECK(parse_call(with(full("ADD"), "CNI_CONTAINERID", std::string(255, 'a'))));
  CHECK(parse_call(with(full("ADD"), "CNI_CONTAINERID", "0_.-")));
  CHECK(parse_call(with(full("ADD"), "CNI_IFNAME", "fifteen-letters")));
  CHECK(parse_call(with(full("ADD"), "CNI_IFNAME", "net..1@x")));
  CHECK(parse_call(with(full("ADD"), "CNI_IFNAME", "netz-ü")));
  CHECK(parse_call(with(full("ADD"), "CNI_NETNS", "/proc/123/ns/net")));
  CHECK(parse_call(with(full("ADD"), "CNI_NETNS", "/var/run/netns/a..b")));
}

TEST_CASE("CNI_ARGS come in any order, with empty values and unknown keys") {
  const auto pod_of = [](const char* args) {
    return parse_call(with(full("ADD"), "CNI_ARGS", args)).value().pod;
  };
  CHECK(pod_of("") == Pod{});
  CHECK(pod_of("K8S_POD_NAME=p") == Pod{"p", "", ""});
  CHECK(pod_of("MAC=;K8S_POD_UID=u;K8S_POD_NAME=;IgnoreUnknown=1") == Pod{"", "", "u"});
}

TEST_CASE("malformed CNI_ARGS are refused, but do not keep DEL from cleaning up") {
  for (const char* args : {"x", "a=b=c", "a=b;", ";", "a=b;;c=d"}) {
    CAPTURE(args);
    CHECK(parse_call(with(full("ADD"), "CNI_ARGS", args))
              .error()
              .text()
              .starts_with("CNI_ARGS is \""));
    CHECK(parse_call(with(full("DEL"), "CNI_ARGS", args)).value().pod == Pod{});
  }
}

TEST_CASE("CNI_PATH may be missing, and may have gaps") {
  CHECK(parse_call(with(full("ADD"), "CNI_PATH", "")).value().path.empty());
  CHECK(parse_call(with(full("ADD"), "CNI_PATH", ":/a::b:")).value().path ==
        std::vector<Path>{"/a", "b"});
  CHECK(split_path("::").empty());
  CHECK(split_path("/a:/b c") == std::vector<Path>{"/a", "/b c"});
}

Result<Network> network_of(const std::string& text) {
  const json::Value document = TRY(parse_document(text));
  return parse_network(document, text);
}

TEST_CASE("a configuration is read with everything that the specification owns") {
  const std::string text = R"({
    "cniVersion": "1.1.0", "name": "net-1", "type": "ib-sriov",
    "capabilities": {"infinibandGUID": true}, "runtimeConfig": {"infinibandGUID": "x"},
    "args": {"cni": {"guid": 7}, "labels": []}, "ipam": {"type": "host-local", "ranges": []},
    "dns": {"nameservers": ["10.0.0.1"], "domain": "d", "search": [], "options": null},
    "prevResult": {"anything": 1}, "deviceID": 5,
    "cni.dev/valid-attachments": [{"containerID": "a", "ifname": "net1"}]})";
  const Network network = network_of(text).value();
  CHECK(network.text == text);
  CHECK(network.version == kNewest);
  CHECK(network.name == "net-1");
  CHECK(network.type == "ib-sriov");
  CHECK(network.ipam_type == "host-local");
  CHECK(network.dns.text().starts_with("{\"nameservers\""));
  CHECK(network.prev_result->text() == "{\"anything\":1}");
  CHECK(network.valid_attachments == std::vector<Attachment>{{"a", "net1"}});
  CHECK(network.document.at("deviceID").value().integer().value() == 5);
}

TEST_CASE("a name is enough, and then the version is the first") {
  const Network network = network_of(R"({"name":"n"})").value();
  CHECK(network.version == kUnnamed);
  CHECK(network.ipam_type.empty());
  CHECK(network.dns.is_null());
  CHECK_FALSE(network.prev_result);
  CHECK(network.valid_attachments.empty());
  CHECK(network_of(R"({"name":"n","cniVersion":""})").value().version == kUnnamed);
}

TEST_CASE("null and an empty ipam both say that there is none") {
  for (const char* ipam : {"null", "{}", R"({"type":""})", R"({"type":null})"}) {
    CAPTURE(ipam);
    CHECK(network_of(std::string(R"({"name":"n","ipam":)") + ipam + "}").value().ipam_type.empty());
  }
}

TEST_CASE("keys are taken in any case, as the Go plugins take them") {
  const Network network =
      network_of(R"({"CNIVersion":"0.4.0","Name":"n","IPAM":{"Type":"static"}})").value();
  CHECK(network.version == Version{0, 4, 0});
  CHECK(network.name == "n");
  CHECK(network.ipam_type == "static");
}

TEST_CASE("the old misspelling of the valid attachments is read where the right one is missing") {
  const auto attachments_of = [](const char* keys) {
    return network_of(std::string(R"({"name":"n",)") + keys + "}").value().valid_attachments;
  };
  const std::vector<Attachment> one{{"a", "i"}};
  CHECK(attachments_of(R"("cni.dev/attachments":[{"containerID":"a","ifname":"i"}])") == one);
  CHECK(attachments_of(R"("cni.dev/attachments":[],)"
                       R"("cni.dev/valid-attachments":[{"containerID":"a","ifname":"i"}])") == one);
  CHECK(attachments_of(R"("cni.dev/attachments":null,"cni.dev/valid-attachments":null)").empty());
}

TEST_CASE("what is wrong in a configuration is named, with the number it is reported as") {
  const struct {
    const char* text;
    int number;
    const char* message;
  } table[] = {
      {"", 6, "JSON: parse error at line 1, column 1"},
      {"{\"name\":", 6, "JSON: parse error"},
      {"[]", 6, "the document: expected an object, got a list"},
      {"\"x\"", 6, "the document: expected an object, got the string \"x\""},
      {R"({"name":"n","name":"n"})", 6, "JSON: duplicate key \"name\""},
      {R"({"cniVersion":1})", 7, "cniVersion: expected a string, got the number 1"},
      {R"({"cniVersion":"1.2.0","name":"n"})", 1,
       "cniVersion is \"1.2.0\": this plugin supports 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, "
       "1.1.0"},
      {R"({"cniVersion":"1.1"})", 1, "cniVersion is \"1.1\": this plugin supports 0.1.0"},
      {"{}", 7, "the document: the key \"name\" is missing"},
      {R"({"name":""})", 7, "the document: the key \"name\" is missing"},
      {R"({"name":7})", 7, "name: expected a string, got the number 7"},
      {R"({"name":"../x"})", 7, "name: \"../x\" is not a network name"},
      {R"({"name":"-x"})", 7, "name: \"-x\" is not a network name"},
      {R"({"name":"a","NAME":"b"})", 7, "NAME: the keys \"name\" and \"NAME\" differ only in case"},
      {R"({"name":"n","type":[]})", 7, "type: expected a string, got a list"},
      {R"({"name":"n","ipam":"host-local"})", 7, "ipam: expected an object, got the string"},
      {R"({"name":"n","ipam":{"type":7}})", 7, "ipam.type: expected a string, got the number 7"},
      {R"({"name":"n","ipam":{"subnet":"x"}})", 7, "ipam: the key \"type\" is missing"},
      {R"({"name":"n","dns":[]})", 7, "dns: expected an object, got a list"},
      {R"({"name":"n","dns":{"search":"x"}})", 7, "dns.search: expected a list"},
      {R"({"name":"n","prevResult":7})", 7, "prevResult: expected an object"},
      {R"({"name":"n","capabilities":{"mac":"yes"}})", 7,
       "capabilities.mac: expected true or false"},
      {R"({"name":"n","capabilities":[]})", 7, "capabilities: expected an object"},
      {R"({"name":"n","runtimeConfig":true})", 7, "runtimeConfig: expected an object, got true"},
      {R"({"name":"n","args":"x"})", 7, "args: expected an object"},
      {R"({"name":"n","args":{"cni":[]}})", 7, "args.cni: expected an object, got a list"},
      {R"({"name":"n","cni.dev/valid-attachments":{}})", 7,
       "cni.dev/valid-attachments: expected a list, got an object"},
      {R"({"name":"n","cni.dev/valid-attachments":[{"ifname":"i"}]})", 7,
       "cni.dev/valid-attachments[0]: the key \"containerID\" is missing"},
      {R"({"name":"n","cni.dev/attachments":[7]})", 7,
       "cni.dev/attachments[0]: expected an object, got the number 7"},
  };
  for (const auto& row : table) {
    const auto& [text, number, message] = row;
    CAPTURE(row.text);
    const auto network = network_of(text);
    REQUIRE_FALSE(network);
    CHECK(failure_of(network.error()).code == number);
    CHECK(network.error().text().substr(0, std::string_view(message).size()) == message);
  }
  CHECK_FALSE(network_of("{\"name\":\"" + std::string(256, 'a') + "\"}"));
}

Result<Network> network_for_del(const std::string& text) {
  const json::Value document = TRY(parse_document(text));
  return parse_network_for_del(document, text);
}

TEST_CASE("DEL goes on without whatever is wrong in a configuration that has a name") {
  const char* table[][2] = {
      {R"("type":[])", "type: expected a string, got a list"},
      {R"("ipam":"host-local")", "ipam: expected an object, got the string \"host-local\""},
      {R"("ipam":{"type":7})", "ipam.type: expected a string, got the number 7"},
      {R"("ipam":{"subnet":"x"})",
       "ipam: the key \"type\" is missing, which names the IPAM plugin"},
      {R"("ipam":{},"IPAM":{"type":"static"})",
       "IPAM: the keys \"ipam\" and \"IPAM\" differ only in case: keep \"ipam\""},
      {R"("dns":[])", "dns: expected an object, got a list"},
      {R"("dns":{"search":"x"})", "dns.search: expected a list, got the string \"x\""},
      {R"("prevResult":7)", "prevResult: expected an object, got the number 7"},
      {R"("capabilities":{"mac":"yes"})",
       "capabilities.mac: expected true or false, got the string \"yes\""},
      {R"("runtimeConfig":true)", "runtimeConfig: expected an object, got true"},
      {R"("args":"x")", "args: expected an object, got the string \"x\""},
      {R"("args":{"cni":[]})", "args.cni: expected an object, got a list"},
      {R"("cni.dev/valid-attachments":[{"containerID":"c","ifname":"i"},7])",
       "cni.dev/valid-attachments[1]: expected an object, got the number 7"},
  };
  for (const auto& row : table) {
    CAPTURE(row[0]);
    const std::string text = R"({"name":"n","cniVersion":"1.0.0",)" + std::string(row[0]) + "}";
    CHECK_FALSE(network_of(text));
    const Network network = network_for_del(text).value();
    CHECK(network.name == "n");
    CHECK(network.text == text);
    CHECK(network.version == Version{1, 0, 0});
    CHECK(network.ipam_type.empty());
    CHECK(network.dns.is_null());
    CHECK(network.valid_attachments.empty());
    CHECK(network.warnings ==
          std::vector<std::string>{std::string(row[1]) + "; DEL continues without it"});
  }
}

TEST_CASE("one wrong key does not keep DEL from reading the others") {
  const std::string keys = R"("dns":7,"ipam":{"type":"static"},"prevResult":[],"args":1)";
  const Network network = network_for_del(R"({"name":"n",)" + keys + "}").value();
  CHECK(network.ipam_type == "static");
  CHECK(network.warnings.size() == 3);
  CHECK(network_for_del(R"({"name":"n","ipam":{"type":"static"}})").value().warnings.empty());
}

TEST_CASE("DEL is refused where the name is not known, or the version to answer in") {
  const struct {
    const char* text;
    int number;
  } table[] = {{"", 6},
               {"[]", 6},
               {"{}", 7},
               {R"({"name":"../x"})", 7},
               {R"({"name":"a","NAME":"b"})", 7},
               {R"({"name":"n","cniVersion":7})", 7},
               {R"({"name":"n","cniVersion":"9.0.0"})", 1}};
  for (const auto& [text, number] : table) {
    CAPTURE(text);
    const auto network = network_for_del(text);
    REQUIRE_FALSE(network);
    CHECK(failure_of(network.error()).code == number);
  }
}

}  // namespace
}  // namespace ibpod::cni
