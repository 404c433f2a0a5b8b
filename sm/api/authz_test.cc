#include "sm/api/authz.h"

#include "lib/base/files.h"

#include <array>

#include <doctest/doctest.h>

namespace ibpod::sm::api {
namespace {

using fabricapi::Caller;
using fabricapi::Role;

const Caller kAdministrator{Role::administrator, "", "unix socket"};
const Caller kNode{Role::node, "n7", "CN=system:node:n7"};
const Caller kReader{Role::reader, "", "CN=grafana"};

TEST_CASE("authorize: each call has the roles of this table") {
  const struct {
    Call call;
    bool node, reader;
  } table[] = {
      {Call::create_partition, false, false},
      {Call::update_partition, false, false},
      {Call::delete_partition, false, false},
      {Call::list_partitions, false, true},
      {Call::bind, true, false},
      {Call::unbind, true, false},
      {Call::get_binding, true, true},
      {Call::list_bindings, true, true},
      {Call::watch_bindings, true, true},
      {Call::sync, true, false},
      {Call::observe, true, false},
      {Call::allocate_guids, true, false},
      {Call::list_nodes, false, true},
      {Call::forget_node, false, false},
      {Call::plan, false, true},
      {Call::explain, false, true},
      {Call::health, false, true},
  };
  REQUIRE(std::size(table) == kCalls);
  for (const auto& [call, node, reader] : table) {
    CAPTURE(std::string(name(call)));
    for (const std::string about : {"", "n7", "n8"}) {
      CHECK(authorize(kAdministrator, call, about));
      CHECK(authorize(kReader, call, about).ok() == reader);
      CHECK(authorize(kNode, call, about).ok() == (node && about == "n7"));
    }
  }
}

TEST_CASE("authorize: the document has this table") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  for (size_t n = 0; n < kCalls; ++n) {
    const Call call = static_cast<Call>(n);
    const std::string row = "\n| " + std::string(name(call)) + " | " +
                            (authorize(kNode, call, "n7") ? "its own" : "no") + " | " +
                            (authorize(kReader, call) ? "yes" : "no") + " |\n";
    CAPTURE(row);
    CHECK(document.find(row) != document.npos);
  }
}

TEST_CASE("authorize: a call that changes or lists something has a name in the audit log") {
  for (size_t n = 0; n < kCalls; ++n) {
    const Call call = static_cast<Call>(n);
    CAPTURE(std::string(name(call)));
    CHECK(action(call).empty() == authorize(kReader, call).ok());
  }
}

TEST_CASE("authorize: a refusal names the caller, the call and the node that is allowed") {
  CHECK(authorize(kReader, Call::bind, "n7").error().text() == "CN=grafana, reader, may not bind");
  CHECK(authorize(kNode, Call::plan).error().text() == "CN=system:node:n7, node, may not plan");
  CHECK(authorize(kNode, Call::sync, "n8").error().text() ==
        "CN=system:node:n7, node, may not sync for node n8, only for n7");
  CHECK(authorize(kNode, Call::list_bindings).error().text() ==
        "CN=system:node:n7, node, may not list bindings for all nodes, only for n7");
  CHECK(authorize(kNode, Call::sync, "n8").error().code() == Code::denied);
}

TEST_CASE("authorize: a node without a name has nothing of its own") {
  CHECK_FALSE(authorize({Role::node, "", "CN=x"}, Call::sync, ""));
}

}  // namespace
}  // namespace ibpod::sm::api
