// Agents of two clusters behind the service, of which both have a node n7.example.
#include "sm/api/test_service.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

const std::string kNode = test_attachment().node;

Caller node_named(const std::string& name) { return {Role::node, name, "agent of " + name}; }

// The service, called by this caller; its fabric has the bindings of `cluster`.
struct Called {
  explicit Called(const Caller& caller, const std::string& cluster = "")
      : fixture({}, [caller](const rpc::Peer&) -> Result<Caller> { return caller; }) {
    fixture.fabric.serves_cluster(cluster);
    fixture.fabric.has({{fixture.fabric.binding(), false}});
  }
  TestFabric::LastRequests last() const { return fixture.fabric.last_requests(); }

  ServiceFixture fixture;
  Client& client = fixture.client;
};

TEST_CASE("agent names: a request has the names of the agent's cluster when it is made") {
  for (const std::string cluster : {"", "dev"}) {
    CAPTURE(cluster);
    const std::string node = fabric::with_cluster(cluster, kNode);
    const std::string name_space = fabric::with_cluster(cluster, test_bind().pod.name_space);
    Called called(node_named(node), cluster);
    REQUIRE(called.client.bind(test_bind(), soon()));
    CHECK(called.last().bound.attachment.node == node);
    CHECK(called.last().bound.pod.name_space == name_space);
    CHECK(called.last().bound.pod.name == test_bind().pod.name);
    REQUIRE(called.client.unbind(test_attachment(), soon()));
    CHECK(called.last().attachment.node == node);
    REQUIRE(called.client.get_binding(test_attachment(), soon()));
    CHECK(called.last().attachment.node == node);
    REQUIRE(called.client.sync(test_sync(), soon()));
    CHECK(called.last().synced.node == node);
    CHECK(called.last().synced.attachments == test_sync().attachments);
    REQUIRE(called.client.observe(test_observe(), soon()));
    CHECK(called.last().observed.node == node);
    REQUIRE(called.client.allocate_guids(test_allocate(), soon()));
    CHECK(called.last().allocated.node == node);
    BindingFilter filter = filter_of_node(kNode);
    filter.name_space = "lab";
    REQUIRE(called.client.list_bindings(filter, {}, soon()));
    CHECK(called.last().filter.node == node);
    CHECK(called.last().filter.name_space == name_space);
  }
}

TEST_CASE("agent names: an answer has the names that the agent knows") {
  for (const std::string cluster : {"", "dev"}) {
    CAPTURE(cluster);
    Called called(node_named(fabric::with_cluster(cluster, kNode)), cluster);
    Client& client = called.client;
    CHECK(client.bind(test_bind(), soon()).value() == test_binding());
    CHECK(client.unbind(test_attachment(), soon()).value() == test_binding());
    CHECK(client.get_binding(test_attachment(), soon()).value() == test_binding());
    CHECK(client.sync(test_sync(), soon()).value() == test_sync_answer());
    CHECK(client.list_bindings(filter_of_node(kNode), {}, soon()).value().items ==
          std::vector{test_binding()});
    std::vector<fabric::Binding> watched;
    REQUIRE(client.watch_bindings(
        filter_of_node(kNode),
        [&](const BindingChange& change) {
          watched.push_back(change.binding);
          return false;
        },
        soon()));
    CHECK(watched == std::vector{test_binding()});
    CHECK(called.last().filter.node == fabric::with_cluster(cluster, kNode));
  }
}

TEST_CASE("agent names: administrators and readers write and read whole names") {
  for (const Caller& caller : {kRoot, Caller{Role::reader, "", "reader"}}) {
    Called called(caller, "dev");
    const fabric::Binding whole = called.fixture.fabric.binding();
    CHECK(whole.attachment.node == "dev/" + kNode);
    CHECK(called.client.get_binding(whole.attachment, soon()).value() == whole);
    CHECK(called.last().attachment == whole.attachment);
    BindingFilter filter = filter_of_node("dev/" + kNode);
    filter.name_space = "dev/lab";
    CHECK(called.client.list_bindings(filter, {}, soon()).value().items == std::vector{whole});
    CHECK(called.last().filter == filter);
    CHECK(called.client.list_bindings(filter_of_node(kNode), {}, soon()));
    CHECK(called.last().filter.node == kNode);
  }
  Called called(kRoot);
  REQUIRE(called.client.forget_node({"dev/" + kNode}, soon()));
  CHECK(called.last().forgotten.node == "dev/" + kNode);
}

TEST_CASE("agent names: no agent gets at another cluster's node, however it names it") {
  const struct {
    std::string caller, named;
  } table[] = {{kNode, "dev/" + kNode},
               {"dev/" + kNode, "prod/" + kNode},
               {"dev/" + kNode, "lab/" + kNode},
               {"dev/" + kNode, "n8"},
               {kNode, "n8"},
               {"dev/" + kNode, "dev/n8"}};
  for (const auto& [caller, named] : table) {
    CAPTURE(caller + " " + named);
    Called called(node_named(caller));
    Client& client = called.client;
    const auto denied = [](const auto& answer) {
      return !answer && answer.error().code() == Code::denied;
    };
    BindRequest bind = test_bind();
    bind.attachment.node = named;
    CHECK(denied(client.bind(bind, soon())));
    CHECK(denied(client.unbind(bind.attachment, soon())));
    CHECK(denied(client.get_binding(bind.attachment, soon())));
    CHECK(denied(client.sync({named, {}}, soon())));
    CHECK(denied(client.observe({named, "", {}}, soon())));
    CHECK(denied(client.allocate_guids({named, "0000:01:00.0", {0}}, soon())));
    CHECK(denied(client.list_bindings(filter_of_node(named), {}, soon())));
    CHECK(denied(client.list_bindings({}, {}, soon())));
    CHECK(denied(client.watch_bindings(
        filter_of_node(named), [](const BindingChange&) { return false; }, soon())));
    CHECK(called.fixture.fabric.calls() == 0);
    CHECK(called.fixture.fabric.begun_watches() == 0);
  }
}

TEST_CASE("agent names: a refusal is logged with the whole name") {
  Called called(node_named("dev/" + kNode));
  REQUIRE_FALSE(called.client.sync({"n8", {}}, soon()));
  const std::lock_guard lock(called.fixture.mutex);
  CHECK(called.fixture.refused ==
        std::vector<std::string>{"sync dev/n8: agent of dev/n7.example, node, may not sync for "
                                 "node dev/n8, only for dev/n7.example"});
}

}  // namespace
}  // namespace ibpod::sm::api
