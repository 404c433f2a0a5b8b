#include "cni/ib-sriov/config.h"

#include "tests/support/configuration.h"

#include <doctest/doctest.h>

namespace ibpod::ib_sriov {
namespace {

const ib::Guid kFirst(0x0200000000000001);

using attach::a_call;

// A node that lets networks set the node's own keys (allowInNetworks).
attach::NodeConfig lenient() {
  attach::NodeConfig node;
  node.allow_in_networks = true;
  return node;
}

cni::Network network(const std::string& keys) { return attach::a_network("ib-sriov", keys); }

using Read = attach::Accepted<Config>;

Result<Read> parse(const cni::Call& call, const cni::Network& network,
                   const attach::NodeConfig& node) {
  return attach::accepted(parse_config(call, network.document, node));
}
Result<Read> read(const std::string& keys) {
  const std::string device = R"("deviceID":"0000:3b:00.1")";
  return parse(a_call(), network(device + (keys.empty() ? "" : ",") + keys), lenient());
}
Read good(const std::string& keys) { return read(keys).value(); }

TEST_CASE("a device is all that a network needs, and the rest has its defaults") {
  const Read config = good("");
  CHECK(config.vf.device.text() == "0000:3b:00.1");
  CHECK(config.vf.spec.ifname == "net1");
  CHECK_FALSE(config.vf.spec.guids);
  CHECK_FALSE(config.vf.spec.policy);
  CHECK_FALSE(config.vf.spec.mtu);
  CHECK_FALSE(config.vf.spec.pkey);
  CHECK_FALSE(config.vf.spec.isolation);
  CHECK_FALSE(config.vf.vfio);
  CHECK_FALSE(config.vf.ib_kubernetes);
  CHECK(config.timeout == Duration(30'000));
  CHECK(config.log_level == log::Level::info);
  CHECK(config.log_file.empty());
  CHECK(config.state_folder == attach::kStateFolder);
  CHECK(config.warnings.empty());
}

TEST_CASE("every key is read") {
  const Read config = good(R"("link_state":"disable","rdmaIsolation":true,"pkey":"0x8001",
    "ibKubernetesEnabled":true,"vfioPciMode":true,"mtu":4092,"logLevel":"debug","logFile":"/var/log/x",
    "timeoutSeconds":110,"stateDir":"/run/state","guid":"02:00:00:00:00:00:00:01",
    "capabilities":{"infinibandGUID":true},"runtimeConfig":{"CNIDeviceInfoFile":"/var/run/k8s.cni.cncf.io/devinfo/cni/x"},
    "args":{"cni":{"mellanox.infiniband.app":"configured","odd":[1,{"a":null}]}})");
  CHECK(config.vf.spec.policy == node::LinkPolicy::disable);
  CHECK(config.vf.spec.isolation);
  CHECK(config.vf.spec.pkey == ib::PKey(0x8001));
  CHECK(config.vf.spec.mtu == 4092U);
  CHECK(config.vf.spec.guids == node::Guids{kFirst, kFirst});
  CHECK(config.vf.vfio);
  CHECK(config.timeout == Duration(110'000));
  CHECK(config.vf.device_info == "/var/run/k8s.cni.cncf.io/devinfo/cni/x");
  CHECK(config.vf.ib_kubernetes);
  CHECK(config.vf.ib_kubernetes_configured);
  CHECK(config.log_level == log::Level::debug);
  CHECK(config.log_file == "/var/log/x");
  CHECK(config.state_folder == "/run/state");
  CHECK(config.warnings.empty());
}

TEST_CASE("link states are those of ib-sriov-cni") {
  CHECK(good(R"("link_state":"auto")").vf.spec.policy == node::LinkPolicy::automatic);
  CHECK(good(R"("link_state":"enable")").vf.spec.policy == node::LinkPolicy::enable);
  CHECK_FALSE(good(R"("link_state":"")").vf.spec.policy);
  CHECK_FALSE(good(R"("link_state":null)").vf.spec.policy);
}

TEST_CASE("a key that differs by case is taken, with a warning") {
  const Read config = good(R"("rdmaisolation":true,"PKEY":"0x0001")");
  CHECK(config.vf.spec.isolation);
  CHECK(config.vf.spec.pkey == ib::PKey(0x0001));
  CHECK(config.warnings ==
        std::vector<std::string>{"rdmaisolation is read as rdmaIsolation", "PKEY is read as pkey"});
  const Read nested = good(R"("runtimeConfig":{"infinibandguid":"02:00:00:00:00:00:00:01"})");
  CHECK(nested.vf.spec.guids);
  CHECK(nested.warnings ==
        std::vector<std::string>{"runtimeConfig.infinibandguid is read as infinibandGUID"});
}

TEST_CASE("an unknown key is a warning; the state of ib-sriov-cni is none of the configuration's") {
  const Read config = good(R"("Master":"ib9","HostIFGUID":"02:00:00:00:00:00:00:09","vlan":3)");
  CHECK(config.warnings == std::vector<std::string>{"the key \"Master\" is unknown and ignored",
                                                    "the key \"HostIFGUID\" is unknown and ignored",
                                                    "the key \"vlan\" is unknown and ignored"});
  CHECK_FALSE(config.vf.spec.guids);
}

TEST_CASE("a GUID may be asked for in three places, and all must mean the same") {
  const std::string runtime = R"("runtimeConfig":{"infinibandGUID":"02:00:00:00:00:00:00:01"})";
  const std::string args = R"("args":{"cni":{"guid":"0200:0000:0000:0001"}})";
  const std::string top = R"("guid":"0x0200000000000001")";
  for (const std::string& keys : {runtime, args, top, runtime + "," + args + "," + top}) {
    CAPTURE(keys);
    CHECK(good(keys).vf.spec.guids == node::Guids{kFirst, kFirst});
  }
  const std::string other = R"("guid":"02:00:00:00:00:00:00:02")";
  CHECK(read(runtime + "," + other).error().text() ==
        "guid: 02:00:00:00:00:00:00:02 differs from runtimeConfig.infinibandGUID: "
        "02:00:00:00:00:00:00:01");
  CHECK_FALSE(good(R"("runtimeConfig":{"infinibandGUID":""})").vf.spec.guids);
  // A GUID as other tools draw it at random; the kernel accepts it.
  const ib::Guid odd(0x59cabb009792745f);
  CHECK(good(R"("guid":"59:ca:bb:00:97:92:74:5f")").vf.spec.guids == node::Guids{odd, odd});
}

TEST_CASE("P_Keys are read with a base, or as JSON numbers") {
  struct Case {
    const char* value;
    uint16_t key;
  };
  for (const Case& one : {Case{R"("0x8001")", 0x8001},
                          {R"("0x1")", 1},
                          {R"("0X7ffe")", 0x7ffe},
                          {R"("0x7fff")", 0x7fff},
                          {R"("0xffff")", 0xffff},
                          {R"("6")", 6},
                          {"1000", 1000},
                          {"32769", 0x8001}}) {
    CAPTURE(one.value);
    CHECK(good("\"pkey\":" + std::string(one.value)).vf.spec.pkey == ib::PKey(one.key));
  }
  CHECK_FALSE(good(R"("pkey":"")").vf.spec.pkey);
}

// Otherwise the pod would be in the default partition, or have a port that is DOWN, for no visible
// reason.
TEST_CASE("ADD refuses a key that is a sure slip of another, and says which") {
  const struct {
    const char* keys;
    const char* told;
  } table[] = {
      {R"("linkState":"enable")", "linkState: unknown key; did you mean \"link_state\"?"},
      {R"("rdma_isolation":true)", "rdma_isolation: unknown key; did you mean \"rdmaIsolation\"?"},
      {R"("partitoin":"blue")", "partitoin: unknown key; did you mean \"partition\"?"},
      {R"("P_Key":"0x1")", "P_Key: unknown key; did you mean \"pkey\"?"},
      {R"("args":{"cni":{"parttion":"blue"}})",
       "args.cni.parttion: unknown key; did you mean \"partition\"?"},
  };
  for (const auto& one : table) CHECK(read(one.keys).error().text() == one.told);
  cni::Call check = a_call();
  check.verb = cni::Verb::check;
  const auto kept =
      parse(check, network(R"("deviceID":"0000:3b:00.1","linkState":"enable")"), lenient());
  REQUIRE(kept);
  CHECK(kept->warnings == std::vector<std::string>{"the key \"linkState\" is unknown and ignored; "
                                                   "did you mean \"link_state\"?"});
}

TEST_CASE("the device may come from runtimeConfig alone, and GC and STATUS need none") {
  const auto injected = network(R"("runtimeConfig":{"deviceID":"0000:3B:00.1"})");
  CHECK(parse(a_call(), injected, lenient())->vf.device.text() == "0000:3b:00.1");
  CHECK_FALSE(parse(a_call(), network(""), lenient()));
  for (const cni::Verb verb : {cni::Verb::gc, cni::Verb::status}) {
    CHECK(parse(a_call(verb), network(""), lenient()));
  }
}

TEST_CASE("two spellings of one address are one device") {
  const auto read_both = [](const std::string& device, const std::string& injected) {
    return parse(a_call(),
                 network(R"("deviceID":")" + device + R"(","runtimeConfig":{"deviceID":")" +
                         injected + "\"}"),
                 lenient());
  };
  CHECK(read_both("0000:3B:00.2", "0000:3b:00.2")->vf.device.text() == "0000:3b:00.2");
  CHECK(read_both("0000:3b:00.2", "0000:3B:00.2")->vf.device.text() == "0000:3b:00.2");
  CHECK(read_both("0000:3B:00.1", "0000:3b:00.2").error().text() ==
        "deviceID: \"0000:3b:00.1\" and runtimeConfig.deviceID: \"0000:3b:00.2\" differ: both must "
        "name the same device");
  CHECK(read_both("0000:3b:00.1", "x").error().text() ==
        "runtimeConfig.deviceID: \"x\" is not a PCI address: expected a form such as 0000:3b:00.2");
}

TEST_CASE("the case of args.cni matters as little as any other key's") {
  const std::string guid = R"({"guid":"02:00:00:00:00:00:00:01"})";
  const Read config = good(R"("args":{"CNI":)" + guid + "}");
  CHECK(config.vf.spec.guids == node::Guids{kFirst, kFirst});
  CHECK(config.warnings == std::vector<std::string>{"args.CNI is read as cni"});
  const Read outer = good(R"("Args":{"cni":{"GUID":"02:00:00:00:00:00:00:01"}})");
  CHECK(outer.vf.spec.guids == node::Guids{kFirst, kFirst});
  CHECK(outer.warnings ==
        std::vector<std::string>{"Args is read as args", "args.cni.GUID is read as guid"});
  const std::string both = R"({"name":"n","args":{"cni":{},"CNI":)" + guid + "}}";
  CHECK(cni::parse_network(cni::parse_document(both).value(), both).error().text() ==
        "args.CNI: the keys \"cni\" and \"CNI\" differ only in case: keep \"cni\"");
}

// DEL reads a configuration even if it has errors.
Read parse_for_del(const json::Value& document, const attach::NodeConfig& node) {
  attach::ParsedConfig<Config> parsed = parse_config(a_call(cni::Verb::del), document, node);
  return {{std::move(parsed.config)}, std::move(parsed.warnings)};
}
Read parse_anyway(const std::string& keys) {
  return parse_for_del(json::Value::parse("{" + keys + "}").value(), lenient());
}

TEST_CASE("for DEL, and for the log of a refusal, each key is read as far as it can be") {
  const Read rest = parse_anyway(R"("logLevel":"loud","stateDir":"/run/state","timeoutSeconds":5,
                 "deviceID":"0000:3b:00.1","pkey":"junk","ipam":{"type":"dhcp"})");
  CHECK(rest.vf.device.text() == "0000:3b:00.1");
  CHECK(rest.state_folder == "/run/state");
  CHECK(rest.timeout == Duration(5'000));
  CHECK(rest.warnings.size() == 1);
  const Read nothing = parse_anyway(R"("deviceID":"../x","stateDir":"x")");
  CHECK(nothing.vf.device.empty());
  CHECK(nothing.state_folder == attach::kStateFolder);
  CHECK(nothing.warnings.size() == 2);
}

TEST_CASE("for DEL, what the node keeps to itself is a warning, and stays") {
  const Read rest = parse_for_del(
      json::Value::parse(R"({"stateDir":"/x","logFile":"/x","logLevel":"debug"})").value(), {});
  CHECK(rest.state_folder == attach::kStateFolder);
  CHECK(rest.log_file.empty());
  CHECK(rest.log_level == log::Level::info);
  CHECK(rest.warnings.size() == 3);
}

TEST_CASE("a device-info file is one of the node's folder, by either of its paths") {
  const auto read_info = [](const std::string& folder, const std::string& file) {
    attach::NodeConfig node;
    node.device_info_folder = folder;
    return parse(a_call(),
                 network(R"("deviceID":"0000:3b:00.1","runtimeConfig":{"CNIDeviceInfoFile":")" +
                         file + "\"}"),
                 node);
  };
  for (const char* folder : {"/var/run/dev", "/run/dev", "/run/dev/"}) {
    CAPTURE(folder);
    CHECK(read_info(folder, "/var/run/dev/a_net1"));
    CHECK(read_info(folder, "/run/dev/a_net1"));
    CHECK_FALSE(read_info(folder, "/run/dev/b/a_net1"));
    CHECK_FALSE(read_info(folder, "/etc/a_net1"));
  }
}

TEST_CASE("a network may say what the node says") {
  CHECK(parse(a_call(),
              network(R"("deviceID":"0000:3b:00.1","stateDir":"/var/lib/ibpod","logLevel":"info")"),
              {}));
}

TEST_CASE("no key keeps the remains from the next one") {
  const Read rest =
      parse_anyway(R"("args":7,"ARGS":7,"stateDir":7,"timeoutSeconds":7.5,"logLevel":7,
      "logFile":"/log","runtimeConfig":{"deviceID":"0000:3b:00.2"})");
  CHECK(rest.log_file == "/log");
  CHECK(rest.vf.device.text() == "0000:3b:00.2");
  CHECK(rest.warnings.size() == 3);
  CHECK(parse_anyway(R"("runtimeConfig":7,"deviceID":"0000:3b:00.1")").vf.device.text() ==
        "0000:3b:00.1");
}

}  // namespace
}  // namespace ibpod::ib_sriov
