#include "lib/base/join.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

struct Item {
  std::string name;
  std::string text() const { return "<" + name + ">"; }
};

TEST_CASE("a list as text") {
  CHECK(join(std::vector<std::string>{}, ", ").empty());
  CHECK(join(std::vector<std::string>{"a"}, ", ") == "a");
  CHECK(join(std::set<std::string>{"b", "a"}, ", ") == "a, b");
  CHECK(join(std::array<std::string_view, 2>{"a", "b"}, "; ") == "a; b");
  CHECK_MESSAGE(join(std::vector<std::string>{"", ""}, ",") == ",", "an empty item is one, too");
}

TEST_CASE("a list of what a projection makes of each item") {
  const std::vector<Item> items{{"a"}, {"b"}};
  CHECK(join(items, ",", &Item::name) == "a,b");
  CHECK(join(items, " ", &Item::text) == "<a> <b>");
  CHECK(join(items, " ", [](const Item& item) { return item.name + "!"; }) == "a! b!");
}

TEST_CASE("a long list is cut, and says so") {
  const std::vector<std::string> names{"a", "b", "c"};
  CHECK(join_first(3, names) == "a, b, c");
  CHECK(join_first(2, names) == "a, b and 1 more");
  CHECK(join_first(8, std::vector<std::string>{}).empty());
  CHECK(join_first(1, std::vector<Item>{{"a"}, {"b"}}, &Item::text) == "<a> and 1 more");
}

TEST_CASE("an item is added to a list") {
  std::string list;
  add_item(list, "; ", "a");
  CHECK(list == "a");
  add_item(list, "; ", "b");
  CHECK(list == "a; b");
}

}  // namespace
}  // namespace ibpod
