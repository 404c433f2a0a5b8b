// The whole agent on a node with a fabric on which nothing can be bound: the mark, devices,
// doctor's findings and the metrics tell it, and the configuration changes it.
#include "agent/agent.h"
#include "agent/test_agent_fixture.h"
#include "lib/attach/agent_required_file.h"
#include "lib/nodeapi/client.h"
#include "lib/rpc/unix_address.h"
#include "tests/support/in_time.h"

#include <thread>

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

namespace ibpod::agent {
namespace {

const std::string kPool =
    R"({"resourceName": "vfs", "isolation": false, "selectors": {"vendors": ["15b3"]}})";

struct Node : AgentFixture {
  explicit Node(const std::string& keys) {
    tree.set_port(pf, "gids/0", "fe80:0000:0000:0001:0002:c903:0000:0001");
    tree.remove_netdevs();
    configure_with(keys);
    config::Reloader reloader =
        config::Reloader::start(configuration(), "node", check_sections).value();
    agent = Agent::open(std::move(reloader), log).value();
    running = std::thread([this] { CHECK(agent->run().ok()); });
  }
  ~Node() {
    agent->stop();
    running.join();
    agent->shut_down();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void configure_with(const std::string& keys) const { configure(kPool + "], " + keys); }
  // On another subnet than the PF's, with a certificate that is not there.
  static std::string fabric(const std::string& more = "") {
    return more + R"("fabrics": [{"service": "127.0.0.1:9", "certificate": "/nonexistent/tls.crt",
      "key": "/nonexistent/tls.key", "ca": "/nonexistent/ca.crt", "subnetPrefix": "fe80:0000:0000:0009"})";
  }
  bool refuses_without_partition() const {
    const auto needs = attach::AgentRequiredFile(state()).needs_partition();
    return needs && *needs;
  }
  std::string reason() const {
    const auto devices = nodeapi::connect(socket())->devices(Deadline::in(Duration(20'000)));
    if (!devices) return "not there";
    for (const v1::Device& device : devices->devices())
      if (device.address() == vf.text()) return device.reason();
    return "not there";
  }
  bool finds(const std::string& subject, const std::string& text) const {
    const auto health = nodeapi::connect(socket())->health(Deadline::in(Duration(20'000)));
    if (!health) return false;
    for (const v1::HealthResponse::Finding& one : health->findings())
      if (one.subject() == subject && one.text().find(text) != std::string::npos) return true;
    return false;
  }
  bool shows(const std::string& line) const {
    const auto at = rpc::connect_socket(folder.path() / "metrics.sock");
    const std::string request = "GET /metrics HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n";
    if (!at || ::write(at->get(), request.data(), request.size()) < 0) return false;
    std::string page, part(4096, ' ');
    pollfd waits{at->get(), POLLIN, 0};
    for (ssize_t got = 1; got > 0 && ::poll(&waits, 1, 20'000) == 1;) {
      got = ::read(at->get(), part.data(), part.size());
      if (got > 0) page.append(part, 0, static_cast<size_t>(got));
    }
    return page.find("\n" + line + "\n") != std::string::npos;
  }

  ib::PciAddress pf = tree.add_pf(), vf = tree.add_vf(pf);
  log::Log log{log::Level::error};
  std::unique_ptr<Agent> agent;
  std::thread running;
};

TEST_CASE("a fabric on which nothing can be bound is told wherever one may look") {
  if (!may_announce()) return;
  Node node(Node::fabric());
  CHECK(in_time([&] { return node.refuses_without_partition(); }));
  CHECK(in_time(
      [&] { return node.reason().find("not on fe80:0000:0000:0009") != std::string::npos; }));
  CHECK(in_time([&] { return node.finds(node.pf.text(), "no partition can be bound: "); }));
  CHECK(node.finds("certificate", "/nonexistent/tls.crt"));
  CHECK(in_time([&] { return node.finds("sm-service", "cannot be reached: "); }));
  CHECK(node.shows(R"(ibpod_unhealthy_devices{pool="example.com/vfs",reason="wrongSubnet"} 1)"));
  CHECK(node.shows(R"(ibpod_node_certificate_usable{fabric="default"} 0)"));
  // It is no matter of what is promised where a network may do without a partition.
  node.configure_with(Node::fabric(R"("withoutPartition": "allow", )"));
  CHECK(in_time([&] { return !node.refuses_without_partition(); }));
  CHECK(in_time([&] { return node.reason().empty(); }));
  CHECK(node.finds(node.pf.text(), "no partition can be bound: "));
}

TEST_CASE("without a fabric no network has to name a partition") {
  if (!may_announce()) return;
  Node node(R"("standalone": "refuse", "pfs": [)");
  const attach::AgentRequiredFile mark(node.state());
  REQUIRE(in_time([&] { return mark.read() && *mark.read(); }));
  CHECK_FALSE(node.refuses_without_partition());
  CHECK(in_time([&] { return node.reason().empty(); }));
}

}  // namespace
}  // namespace ibpod::agent
