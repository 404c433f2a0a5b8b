#include "sm/controller/namespace_history.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller {
namespace {

TEST_CASE("namespaces: a node's first pod of one that other nodes have is reported once") {
  NamespaceHistory history;
  CHECK_MESSAGE(history.add("n1", "team").others == 0, "no other node has it");
  CHECK(history.add("n2", "team").others == 1);
  CHECK(history.add("n2", "team").others == 0);
  CHECK(history.add("n3", "team").others == 2);
  CHECK(history.add("n3", "other").others == 0);
  history.forget("n2");
  history.forget("n2");
  CHECK(history.add("n2", "team").others == 2);
  CHECK(history.add("n1", "team").others == 0);
}

TEST_CASE("namespaces: a node that names more than it can have takes no more memory for them") {
  NamespaceHistory history;
  for (size_t n = 0; n < NamespaceHistory::kMostOfNode; ++n)
    history.add("n1", "ns" + std::to_string(n));
  history.add("n2", "more");
  for (int n = 0; n < 2; ++n) {
    const NamespaceHistory::Added seen = history.add("n1", "more");
    CHECK_MESSAGE(seen.full, "it is not remembered, so that it is new each time");
    CHECK(seen.others == 1);
  }
  CHECK_FALSE(history.add("n1", "ns0").full);
  CHECK(history.take_full("n1"));
  CHECK_FALSE(history.take_full("n1"));
  history.forget("n1");
  CHECK(history.take_full("n1"));
  CHECK(history.add("n1", "more").others == 1);
}

}  // namespace
}  // namespace ibpod::sm::controller
