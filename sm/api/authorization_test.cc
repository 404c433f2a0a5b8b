// Each method of the service is authorized by role, and for a node by the node of its request. This
// is the only place where that is checked: what passes has reached the fabric.
#include "sm/api/test_service.h"

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

struct Served {
  explicit Served(const Caller& caller)
      : fixture({}, [caller](const rpc::Peer&) -> Result<Caller> { return caller; }) {
    fixture.fabric.has({{test_binding(), false}});
  }

  // True if the call reached the fabric; false if it was denied and did not.
  template <typename Answer>
  bool may(const Answer& answer) {
    const size_t reached = fixture.fabric.calls() - std::exchange(calls, fixture.fabric.calls());
    CHECK((answer ? reached == 1 : answer.error().code() == Code::denied && reached == 0));
    return answer.ok();
  }
  bool bind(const std::string& node) {
    BindRequest request = test_bind();
    request.attachment.node = node;
    return may(fixture.client.bind(request, soon()));
  }
  bool list(const BindingFilter& filter) {
    return may(fixture.client.list_bindings(filter, {}, soon()));
  }

  ServiceFixture fixture;
  Client& client = fixture.client;
  size_t calls = 0;
};

TEST_CASE("authorization: each method, by role and by node") {
  const struct {
    Caller caller;
    bool administers, owns, others, sees_own, sees_others, lists;
  } cases[] = {
      {kRoot, true, true, true, true, true, true},
      {{Role::node, "n1", "node"}, false, true, false, true, false, false},
      {{Role::reader, "", "reader"}, false, false, false, true, true, true},
  };
  for (const auto& who : cases) {
    CAPTURE(std::string(name(who.caller.role)));
    Served served(who.caller);
    Client& client = served.client;
    CHECK(served.may(client.create_partition(test_partition(), soon())) == who.administers);
    CHECK(served.may(client.update_partition(test_partition(), soon())) == who.administers);
    CHECK(served.may(client.delete_partition("blue", soon())) == who.administers);
    CHECK(served.may(client.delete_partition("blue", soon(), true)) == who.administers);
    CHECK(served.may(client.forget_node({"n1"}, soon())) == who.administers);
    CHECK(served.may(client.list_partitions({}, soon())) == who.lists);
    CHECK(served.may(client.list_nodes(soon())) == who.lists);
    CHECK(served.may(client.plan({}, soon())) == who.lists);
    CHECK(served.may(client.explain(test_explain(), soon())) == who.lists);
    CHECK(served.may(client.health(soon())) == who.lists);
    for (const std::string node : {"n1", "n2"}) {
      CAPTURE(node);
      const bool owns = node == "n1" ? who.owns : who.others;
      const bool sees = node == "n1" ? who.sees_own : who.sees_others;
      CHECK(served.bind(node) == owns);
      CHECK(served.may(client.unbind({node, "c1", "net1"}, soon())) == owns);
      CHECK(served.may(client.sync({node, {}}, soon())) == owns);
      CHECK(served.may(client.observe({node, "", {}}, soon())) == owns);
      CHECK(served.may(client.allocate_guids({node, "0000:01:00.0", {0}}, soon())) == owns);
      CHECK(served.may(client.get_binding({node, "c1", "net1"}, soon())) == sees);
      CHECK(served.list(filter_of_node(node)) == sees);
    }
    // Not of all nodes, whatever else is named.
    BindingFilter in_blue;
    in_blue.partition = "blue";
    CHECK(served.list({}) == who.sees_others);
    CHECK(served.list(in_blue) == who.sees_others);
  }
}

TEST_CASE("authorization: a watch is of what may be listed") {
  for (const Caller& caller : {Caller{Role::node, "n1", "node"}, Caller{Role::reader, "", "r"}}) {
    CAPTURE(std::string(name(caller.role)));
    const bool of_all = caller.role == Role::reader;
    Served served(caller);
    const auto watch = [&](const BindingFilter& filter) {
      const size_t before = served.fixture.fabric.begun_watches();
      const Status watched = served.client.watch_bindings(
          filter, [](const BindingChange&) { return false; }, soon());
      const size_t begun = served.fixture.fabric.begun_watches() - before;
      CHECK((watched ? begun == 1 : watched.error().code() == Code::denied && begun == 0));
      return watched.ok();
    };
    CHECK(watch(filter_of_node("n1")));
    CHECK(watch(filter_of_node("n2")) == of_all);
    CHECK(watch({}) == of_all);
  }
}

}  // namespace
}  // namespace ibpod::sm::api
