#include "cni/ipoib/config.h"

#include "tests/support/configuration.h"

#include <doctest/doctest.h>

namespace ibpod::ipoib {
namespace {

using attach::a_call;

// A node that lets networks set the node's own keys (allowInNetworks).
attach::NodeConfig lenient() {
  attach::NodeConfig node;
  node.allow_in_networks = true;
  return node;
}

using Read = attach::Accepted<Config>;

Result<Read> read(const std::string& keys, cni::Verb verb = cni::Verb::add) {
  return attach::accepted(
      parse_config(a_call(verb), attach::a_network("ipoib", keys).document, lenient()));
}
attach::IpoibConfig good(const std::string& keys) { return read(keys)->ipoib; }

TEST_CASE("a master is all that a network needs, and the rest is the master's or has its default") {
  const Read config = read(R"("master":"ib0")").value();
  CHECK(config.ipoib.master == "ib0");
  CHECK(config.ipoib.device.empty());
  CHECK(config.ipoib.spec.ifname == "net1");
  CHECK_FALSE(config.ipoib.spec.pkey);
  CHECK_FALSE(config.ipoib.spec.mtu);
  CHECK_FALSE(config.ipoib.mode);
  CHECK(config.ipoib.umcast);
  CHECK(config.warnings.empty());
}

TEST_CASE("every key is read") {
  const Read config = read(R"("pf":"0000:3B:00.0","pkey":"0x8001","mode":"connected",
    "umcast":false,"mtu":65520,"logLevel":"debug","logFile":"/var/log/x","timeoutSeconds":5,
    "stateDir":"/run/state","dns":{"nameservers":["10.0.0.1"]},"ipam":{"type":"static"})")
                          .value();
  CHECK(config.ipoib.master.empty());
  CHECK(config.ipoib.device.text() == "0000:3b:00.0");
  CHECK(config.ipoib.spec.pkey == ib::PKey(0x8001));
  CHECK(config.ipoib.mode == nl::IpoibMode::connected);
  CHECK_FALSE(config.ipoib.umcast);
  CHECK(config.ipoib.spec.mtu == 65520U);
  CHECK(config.log_level == log::Level::debug);
  CHECK(config.log_file == "/var/log/x");
  CHECK(config.timeout == Duration(5'000));
  CHECK(config.state_folder == "/run/state");
  CHECK(config.warnings.empty());
}

TEST_CASE("an mtu of 0 is none, as ipoib-cni has it") {
  CHECK_FALSE(good(R"("master":"ib0","mtu":0)").spec.mtu);
}

TEST_CASE("both modes have their names, and an empty one is none") {
  CHECK(good(R"("master":"ib0","mode":"datagram")").mode == nl::IpoibMode::datagram);
  CHECK_FALSE(good(R"("master":"ib0","mode":"")").mode);
  CHECK_FALSE(good(R"("master":"ib0","mode":null)").mode);
}

TEST_CASE("the device of the master may come from Multus, and master itself goes before it") {
  CHECK(good(R"("deviceID":"0000:3b:00.0")").device.text() == "0000:3b:00.0");
  CHECK(good(R"("runtimeConfig":{"deviceID":"0000:3b:00.0"})").device.text() == "0000:3b:00.0");
  // The device ID of another device plugin, unrelated to this network.
  const Read both = read(R"("master":"ib0","deviceID":"rdma-7","pciBusID":"rdma-7")").value();
  CHECK(both.ipoib.device.empty());
  CHECK(good(R"("pf":"0000:3b:00.0","deviceID":"rdma-7")").device.text() == "0000:3b:00.0");
  CHECK(both.warnings ==
        std::vector<std::string>{"deviceID is ignored: master or pf names the interface"});
}

TEST_CASE("ADD and CHECK need a master, GC and STATUS do not") {
  for (const cni::Verb verb : {cni::Verb::add, cni::Verb::check}) CHECK_FALSE(read("", verb));
  for (const cni::Verb verb : {cni::Verb::gc, cni::Verb::status}) CHECK(read("", verb));
}

TEST_CASE("for DEL everything is read as far as it can be") {
  const auto rest = parse_config(
      a_call(cni::Verb::del),
      json::Value::parse(R"({"master":7,"mode":"x","stateDir":"/run/state","mtu":[]})").value(),
      lenient());
  CHECK(rest.config.state_folder == "/run/state");
  CHECK(rest.config.ipoib.master.empty());
  CHECK(rest.warnings.empty());
  const json::Value other = json::Value::parse(R"({"master":"ib0","timeoutSeconds":"x"})").value();
  CHECK(parse_config(a_call(cni::Verb::del), other, lenient()).config.ipoib.master == "ib0");
}

}  // namespace
}  // namespace ibpod::ipoib
