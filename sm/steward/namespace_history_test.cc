#include "sm/steward/namespace_history.h"

#include <doctest/doctest.h>

namespace ibpod::sm {
namespace {

TEST_CASE("namespaces: a node's first pod of one that other nodes have is told, once") {
  NamespaceHistory history;
  CHECK_MESSAGE(history.add("n1", "team") == 0, "nobody else has it");
  CHECK(history.add("n2", "team") == 1);
  CHECK(history.add("n2", "team") == 0);
  CHECK(history.add("n3", "team") == 2);
  CHECK(history.add("n3", "other") == 0);
  history.forget("n2");
  history.forget("n2");
  CHECK(history.add("n2", "team") == 2);
  CHECK(history.add("n1", "team") == 0);
}

TEST_CASE("namespaces: a node that names more than it can have takes no more memory for them") {
  NamespaceHistory history;
  for (size_t n = 0; n < NamespaceHistory::kMostOfNode; ++n)
    history.add("n1", "ns" + std::to_string(n));
  history.add("n2", "more");
  CHECK(history.add("n1", "more") == 0);
  history.forget("n1");
  CHECK(history.add("n1", "more") == 1);
}

}  // namespace
}  // namespace ibpod::sm
