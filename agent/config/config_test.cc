#include "agent/config/config.h"

#include "agent/config/config_keys.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>

namespace ibpod::agent::config {
namespace {

Config config_of(const std::string& text, const std::string& node = "n1") {
  ParsedConfig result = read_config(text, node);
  CAPTURE(text);
  for (const std::string& error : result.findings.errors) FAIL_CHECK(error);
  REQUIRE(result.config);
  return std::move(*result.config);
}

std::vector<std::string> errors_of(const std::string& text, const std::string& node = "n1") {
  const ParsedConfig result = read_config(text, node);
  CHECK_FALSE(result.config.has_value());
  return result.findings.errors;
}

TEST_CASE("an empty object is a whole configuration") {
  const Config config = config_of("{}");
  CHECK(config.pod_resources() == "/var/lib/kubelet/pod-resources/kubelet.sock");
  CHECK(config.metrics_address.text() == "127.0.0.1:9464");
  CHECK(config.rdma_netns == "exclusive");
  CHECK(config.explicit_keys.empty());
}

TEST_CASE("every key is read") {
  const Config config = config_of(R"({
    "$schema": "https://example.org/agent-config.schema.json",
    "kubelet": true, "kubeletRoot": "/k", "registration": "legacy", "podResourcesSocket": "/p.sock",
    "runtimeSocket": "/r.sock",
    "agentSocket": "/a.sock", "metricsAddress": "[::1]:1", "stateDir": "/s", "cniBinDir": "/c",
    "deviceInfoDir": "/d", "cdi": false, "cdiDir": "/cdi", "sysfsDir": "/sysfs",
    "hostMountNamespace": "", "standalone": "refuse", "withoutPartition": "allow",
    "fabrics": [{"service": "sm.example:7473", "name": "east", "certificate": "/t/c", "key": "/t/k",
                 "ca": "/t/ca", "subnetPrefix": "fe80:0000:0000:0001"}], "rdmaNetns": "keep", "sweepSeconds": 7,
    "logLevel": "debug", "logFile": "/l", "pfs": [{"x": 1}], "resourcePrefix": "rdma",
    "resourceList": [{"y": 2}]})");
  CHECK(config.kubelet);
  CHECK(config.kubelet_root == "/k");
  CHECK(config.registration == Registration::legacy);
  CHECK(config.pod_resources() == "/p.sock");
  CHECK(config.runtime_socket == "/r.sock");
  CHECK(config.agent_socket == "/a.sock");
  CHECK(config.metrics_address.text() == "[::1]:1");
  CHECK(config.state_folder == "/s");
  CHECK(config.cni_folder == "/c");
  CHECK(config.device_info_folder == "/d");
  CHECK_FALSE(config.cdi);
  CHECK(config.cdi_folder == "/cdi");
  CHECK(config.sysfs == "/sysfs");
  CHECK(config.host_mount_namespace.empty());
  CHECK_FALSE(config.standalone);
  CHECK(config.without_partition);
  CHECK(config.rdma_netns == "keep");
  CHECK(config.sweep_interval == Duration(7'000));
  CHECK(config.log_level == log::Level::debug);
  CHECK(config.log_file == "/l");
  CHECK(config.pfs.text() == R"([{"x":1}])");
  CHECK(config.resource_prefix == "rdma");
  CHECK(config.resource_list.text() == R"([{"y":2}])");
  REQUIRE(config.fabrics.size() == 1);
  CHECK(config.fabrics.front().sm_address ==
        fabricapi::ServiceAddress{"sm.example:7473", {"/t/c", "/t/k", "/t/ca"}, "east"});
  CHECK(config.fabrics.front().subnet_prefix == ib::Guid(0xfe80'0000'0000'0001));
  CHECK(config.explicit_keys.size() == config_keys().size());
}

TEST_CASE("an SM service is asked over TLS, with all that this needs") {
  const std::string files = R"(, "certificate": "/c", "key": "/k", "ca": "/a")";
  const Config config = config_of(R"({"fabrics": [{"service": "h:1")" + files + "}]}");
  REQUIRE(config.fabrics.size() == 1);
  CHECK(config.fabrics.front().sm_address.fabric == "default");
  CHECK_FALSE(config.fabrics.front().subnet_prefix);
  const std::pair<std::string, std::string> cases[] = {
      {R"({})", "service"},
      {R"({"service": "sm.example")" + files + "}",
       "expected HOST:PORT, such as ibpod-sm.example.com:7473, got"},
      {R"({"service": "unix:sm.sock")" + files + "}", "expected an absolute path after unix:"},
      {R"({"service": "unix:/run/ibpod/sm.sock")" + files + "}", "is for administrators"},
      {R"({"service": "h:1", "key": "/k", "ca": "/c"})",
       "service h:1 uses TLS: set ca, and token or certificate and key"},
      {R"({"service": "h:1", "token": "/t"})",
       "service h:1 uses TLS: set ca, and token or certificate and key"},
      {R"({"service": "h:1", "token": "/t")" + files + "}",
       "certificate, key and token: set either token, or certificate and key"},
      {R"({"service": "h:1", "token": "t", "ca": "/c"})", "fabrics[0].token: "},
      {R"({"service": "h:1", "name": "East")" + files + "}", "expected a fabric name"},
      {R"({"service": "h:1", "subnetPrefix": "fe80::")" + files + "}", "the first half of a GID"},
      {R"({"service": "h:1", "sm": "x")" + files + "}", "unknown key \"sm\""},
  };
  for (const auto& [fabric, why] : cases) {
    CAPTURE(fabric);
    const auto errors = errors_of("{\"fabrics\": [" + fabric + "]}");
    REQUIRE(errors.size() == 1);
    CAPTURE(errors.front());
    CHECK(errors.front().starts_with("fabrics[0]"));
    CHECK(errors.front().find(why) != std::string::npos);
  }
}

TEST_CASE("an SM service is asked with a token instead of a certificate") {
  const Config config =
      config_of(R"({"fabrics": [{"service": "h:1", "token": "/t", "ca": "/a"}]})");
  REQUIRE(config.fabrics.size() == 1);
  CHECK(config.fabrics.front().sm_address ==
        fabricapi::ServiceAddress{"h:1", {"", "", "/a"}, "default", "/t"});
}

TEST_CASE("of several fabrics each has a name and a subnet prefix of its own") {
  const auto fabric = [](const std::string& rest) {
    return R"({"service": "h:1", "certificate": "/c", "key": "/k", "ca": "/a")" + rest + "}";
  };
  const auto both = [](const std::string& one, const std::string& other) {
    return "{\"fabrics\": [" + one + ", " + other + "]}";
  };
  const std::string east = fabric(R"(, "name": "east", "subnetPrefix": "fe80:0000:0000:0001")");
  const std::string west = fabric(R"(, "name": "west", "subnetPrefix": "fe80:0000:0000:0002")");
  CHECK(config_of(both(east, west)).fabrics.size() == 2);
  const std::pair<std::string, std::string> cases[] = {
      {fabric(R"(, "name": "east", "subnetPrefix": "fe80:0000:0000:0002")"),
       "two fabrics have the name east"},
      {fabric(R"(, "name": "west", "subnetPrefix": "fe80:0000:0000:0001")"), "same subnetPrefix"},
      {fabric(R"(, "name": "west")"), "set subnetPrefix in each"},
  };
  for (const auto& [other, why] : cases) {
    CAPTURE(other);
    const auto errors = errors_of(both(east, other));
    REQUIRE(errors.size() == 1);
    CAPTURE(errors.front());
    CHECK(errors.front().starts_with("fabrics[1]"));
    CHECK(errors.front().find(why) != std::string::npos);
  }
}

// The suggestion of an error is accepted.
TEST_CASE("the example in a refusal of a service is a service") {
  const auto fabric = [](const std::string& service) {
    return R"({"fabrics": [{"service": ")" + service +
           R"(", "certificate": "/c", "key": "/k", "ca": "/a"}]})";
  };
  const std::vector<std::string> errors = errors_of(fabric("sm.example"));
  REQUIRE(errors.size() == 1);
  const size_t begin = errors[0].find("such as ") + 8;
  const std::string told = errors[0].substr(begin, errors[0].find(',', begin) - begin);
  CHECK(config_of(fabric(told)).fabrics.front().sm_address.address == told);
}

TEST_CASE("comments are read over, null is as good as missing") {
  const Config config = config_of(R"(// all nodes
    {"stateDir": /* the default */ null, "sections": null})");
  CHECK(config.state_folder == "/var/lib/ibpod");
}

TEST_CASE("a path has one spelling") {
  CHECK(config_of(R"({"stateDir": "/a/"})").state_folder.native() == "/a");
  CHECK(config_of(R"({"stateDir": "/"})").state_folder.native() == "/");
}

TEST_CASE("sections apply to the nodes that they name, the highest priority last") {
  const std::string text = R"({"stateDir": "/all", "sweepSeconds": 10, "sections": [
    {"nodes": ["gpu-*"], "priority": 5, "settings": {"stateDir": "/five", "cdi": false}},
    {"nodes": ["gpu-[12]", "x"], "priority": 9, "settings": {"stateDir": "/nine"}},
    {"nodes": ["gpu-?"], "settings": {"stateDir": "/zero", "sweepSeconds": 20}}]})";
  const Config one = config_of(text, "gpu-1");
  CHECK(one.state_folder == "/nine");
  CHECK_FALSE(one.cdi);
  CHECK(one.sweep_interval == Duration(20'000));
  CHECK(config_of(text, "gpu-33").state_folder == "/five");
  CHECK(config_of(text, "gpu-3").state_folder == "/five");
  CHECK(config_of(text, "x").sweep_interval == Duration(10'000));
  CHECK(config_of(text, "other").state_folder == "/all");
  CHECK(config_of(text, "").state_folder == "/all");
}

TEST_CASE(
    "a list of a section takes the place of the one for every node, and knows where it stands") {
  const std::string text = R"({"pfs": [{"a": 1}], "sections": [
    {"nodes": ["n1"], "settings": {"pfs": [{"b": 1}, {"c": 1}]}}]})";
  const Config config = config_of(text);
  CHECK(config.pfs.elements().value()[1].path() == "sections[0].settings.pfs[1]");
  CHECK(config_of(text, "n2").pfs.elements().value()[0].path() == "pfs[0]");
}

TEST_CASE("sections of one priority must not disagree about a node") {
  const std::string text = R"({"sections": [
    {"nodes": ["a*"], "settings": {"rdmaNetns": "keep", "cdi": true}},
    {"nodes": ["*b"], "settings": {"rdmaNetns": "shared", "cdi": true}}]})";
  CHECK(config_of(text, "a").rdma_netns == "keep");
  CHECK(config_of(text, "b").rdma_netns == "shared");
  CHECK(
      errors_of(text, "ab") ==
      std::vector<std::string>{
          "sections[1].settings.rdmaNetns: got \"shared\", but sections[0].settings.rdmaNetns is "
          "\"keep\" for the same node, and both sections have priority 0: give one of them another "
          "priority"});
}

TEST_CASE("all that is wrong is told, also in sections for other nodes") {
  CHECK(
      errors_of(R"({"stateDir": 7, "sections": [
          {"nodes": ["other"], "settings": {"cdi": "yes", "stateDirectory": "/x"}}]})") ==
      std::vector<std::string>{
          "stateDir: expected a string, got the number 7",
          "sections[0].settings.cdi: expected true or false, got the string \"yes\"",
          "sections[0].settings.stateDirectory: unknown key, expected one of kubelet, kubeletRoot, "
          "registration, podResourcesSocket, runtimeSocket, agentSocket, metricsAddress, "
          "stateDir, cniBinDir, deviceInfoDir, cdi, cdiDir, sysfsDir, hostMountNamespace, "
          "fabrics, standalone, withoutPartition, rdmaNetns, sweepSeconds, logLevel, logFile, "
          "pfs, resourcePrefix, resourceList"});
}

struct Bad {
  std::string text, error;
};

void check_refused(const std::vector<Bad>& cases) {
  for (const auto& [text, error] : cases) {
    CAPTURE(text);
    const std::vector<std::string> errors = errors_of(text);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].substr(0, error.size()) == error);
  }
}

TEST_CASE("a bad document or an unknown key is refused with its place and what would be right") {
  check_refused({
      {"", "JSON: parse error at line 1, column 1"},
      {"{", "JSON: parse error at line 1, column 2"},
      {"{} {}", "JSON: parse error at line 1, column 4"},
      {"{\"cdi\": true,}", "JSON: parse error at line 1, column 14"},
      {"{/* }", "JSON: parse error"},
      {"[]", "the document: expected an object, got a list"},
      {"7", "the document: expected an object, got the number 7"},
      {R"({"cdi": true, "cdi": true})", "JSON: duplicate key \"cdi\""},
      {R"({"Cdi": true})", "Cdi: unknown key; did you mean \"cdi\"?"},
      {R"({"statedir": "/a"})", "statedir: unknown key; did you mean \"stateDir\"?"},
      {R"({"resourcelst": []})", "resourcelst: unknown key; did you mean \"resourceList\"?"},
      {R"({"section": []})", "section: unknown key; did you mean \"sections\"?"},
  });
}

TEST_CASE("of a key that is a slip of one, the one is told") {
  for (const Key& key : config_keys()) {
    if (key.name.size() < 4) continue;
    std::string wrong(key.name);
    wrong.erase(wrong.size() / 2, 1);
    const std::vector<std::string> errors = errors_of("{\"" + wrong + "\": null}");
    REQUIRE(errors.size() == 1);
    CHECK(errors[0] == wrong + ": unknown key; did you mean \"" + std::string(key.name) + "\"?");
  }
}

TEST_CASE("a bad value is refused with its place, the value and what would be right") {
  const std::string long_path = "/" + std::string(107, 'x');
  // One byte more than leaves room for "requests." before it.
  std::string long_prefix = "a";
  for (int i = 0; i < 122; ++i) long_prefix += ".a";
  check_refused({
      {R"({"kubelet": "yes"})", "kubelet: expected true or false, got the string \"yes\""},
      {R"({"kubelet": 1})", "kubelet: expected true or false, got the number 1"},
      {R"({"kubeletRoot": "k"})",
       R"(kubeletRoot: expected an absolute path without "." and "..", got "k")"},
      {R"({"kubeletRoot": ""})",
       R"(kubeletRoot: expected an absolute path without "." and "..", got "")"},
      {R"({"stateDir": "/a/../b"})",
       R"(stateDir: expected an absolute path without "." and "..", got "/a/../b")"},
      {R"({"cdiDir": "/a//b"})",
       R"(cdiDir: expected an absolute path without "." and "..", got "/a//b")"},
      {R"({"cniBinDir": "/a\u0000b"})", "cniBinDir: expected an absolute path"},
      {R"({"deviceInfoDir": ["/a"]})", "deviceInfoDir: expected a string, got a list"},
      {R"({"registration": "both"})",
       "registration: expected auto, watcher or legacy, got \"both\""},
      {"{\"agentSocket\": \"" + long_path + "\"}",
       "agentSocket: expected a Unix socket path of at most 107 bytes (not 108), got"},
      {R"({"podResourcesSocket": "unix:///x"})", "podResourcesSocket: expected an absolute path"},
      {R"({"runtimeSocket": "unix:///run/containerd/containerd.sock"})",
       "runtimeSocket: expected an absolute path"},
      {R"({"metricsAddress": "localhost:80"})",
       "metricsAddress: \"localhost:80\" is not an address to listen on: expected "
       "127.0.0.1:9464, "},
      {R"({"metricsAddress": 9464})", "metricsAddress: expected a string, got the number 9464"},
      {R"({"metricsAddress": "unix:/s", "agentSocket": "/s"})",
       "metricsAddress: /s is the path of agentSocket: use another path"},
      {R"({"kubeletRoot": "/k", "agentSocket": "/k/pod-resources/kubelet.sock"})",
       "agentSocket: /k/pod-resources/kubelet.sock is the kubelet's pod-resources socket"},
      {R"({"hostMountNamespace": "proc/1/ns/mnt"})",
       "hostMountNamespace: expected an absolute path"},
      {R"({"standalone": true})", "standalone: expected a string, got true"},
      {R"({"standalone": "yes"})", "standalone: expected allow or refuse, got \"yes\""},
      {R"({"withoutPartition": "default"})",
       "withoutPartition: expected allow or refuse, got \"default\""},
      {R"({"rdmaNetns": "Exclusive"})",
       "rdmaNetns: expected exclusive, shared or keep, got \"Exclusive\""},
      {R"({"sweepSeconds": 4})",
       "sweepSeconds: expected a whole number from 5 to 3600, got the number 4"},
      {R"({"sweepSeconds": "60"})", "sweepSeconds: expected a whole number, got the string \"60\""},
      {R"({"sweepSeconds": 6.5})", "sweepSeconds: expected a whole number, got the number 6.5"},
      {R"({"logLevel": "loud"})", "logLevel: expected debug, info, warning or error, got \"loud\""},
      {R"({"pfs": {}})", "pfs: expected a list, got an object"},
      {R"({"pfs": [{}, "mlx5_0"]})", "pfs[1]: expected an object, got the string \"mlx5_0\""},
      {R"({"resourceList": "all"})", "resourceList: expected a list, got the string \"all\""},
      {R"({"resourcePrefix": "a/b"})", R"(resourcePrefix: "a/b" is not a DNS subdomain)"},
      {R"({"resourcePrefix": "x.kubernetes.io"})",
       R"(resourcePrefix: "x.kubernetes.io" is reserved for Kubernetes)"},
      {R"({"resourcePrefix": "requests.a"})", R"(resourcePrefix: "requests.a" begins with)"},
      {R"({"resourcePrefix": ")" + long_prefix + "\"}",
       "resourcePrefix: \"" + long_prefix + "\" is not a DNS subdomain"},
  });
}

TEST_CASE("a bad section is refused with its place, the value and what would be right") {
  check_refused({
      {R"({"sections": {}})", "sections: expected a list, got an object"},
      {R"({"sections": [7]})", "sections[0]: expected an object, got the number 7"},
      {R"({"sections": [{"settings": {}}]})", "sections[0]: the key \"nodes\" is missing"},
      {R"({"sections": [{"nodes": ["a"]}]})", "sections[0]: the key \"settings\" is missing"},
      {R"({"sections": [{"nodes": [], "settings": {}}]})",
       "sections[0].nodes: expected at least one pattern such as \"gpu-*\", got []"},
      {R"({"sections": [{"nodes": "a", "settings": {}}]})",
       "sections[0].nodes: expected a list, got the string \"a\""},
      {R"({"sections": [{"nodes": ["GPU*"], "settings": {}}]})",
       "sections[0].nodes[0]: expected a pattern for node names (lowercase letters"},
      {R"({"sections": [{"nodes": ["a"], "priority": -1, "settings": {}}]})",
       "sections[0].priority: expected a whole number from 0 to 1000, got the number -1"},
      {R"({"sections": [{"nodes": ["a"], "prio": 1, "settings": {}}]})",
       "sections[0].prio: unknown key, expected one of nodes, priority, settings"},
      {R"({"sections": [{"nodes": ["a"], "cdi": true, "settings": {}}]})",
       "sections[0].cdi: not allowed here: put it under \"settings\""},
      {R"({"sections": [{"nodes": ["a"], "settings": []}]})",
       "sections[0].settings: expected an object, got a list"},
      {R"({"sections": [{"nodes": ["a"], "settings": {"sections": []}}]})",
       "sections[0].settings.sections: unknown key"},
  });
}

TEST_CASE("what is odd is a warning") {
  const auto warnings = [](const char* text) { return read_config(text, "").findings.warnings; };
  CHECK(warnings(R"({"metricsAddress": ":9464"})").size() == 1);
  CHECK(warnings(R"({"cdi": false, "cdiDir": "/x"})").size() == 1);
  CHECK(warnings(R"({"kubelet": false, "resourceList": []})").size() == 1);
  CHECK(warnings("{}").empty());
}

TEST_CASE("the judge sees what each node would get, and its findings are told once") {
  const ConfigCheck check = [](const Config& config, Findings& findings) {
    const auto list = config.pfs.elements().value();
    for (const json::Value& pf : list) findings.error(pf.wrong("no such PF").text());
  };
  const std::string text = R"({"pfs": [{}], "sections": [
    {"nodes": ["a"], "settings": {"pfs": [{}]}}, {"nodes": ["b"], "settings": {"cdi": true}}]})";
  const ParsedConfig result = read_config(text, "n", check);
  CHECK(result.findings.errors ==
        std::vector<std::string>{"pfs[0]: no such PF", "sections[0].settings.pfs[0]: no such PF"});
}

TEST_CASE("a file is checked for all nodes") {
  const TempFolder folder;
  const Path file = folder.write("agent.json", R"({"cdi": 1})");
  CHECK(check_config(file, "").errors.size() == 1);
  CHECK(check_config(folder.path() / "none", "").errors ==
        std::vector<std::string>{"open " + (folder.path() / "none").string() +
                                 ": No such file or directory"});
}

}  // namespace
}  // namespace ibpod::agent::config
