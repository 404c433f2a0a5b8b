#include "sm/controller/postponed_binds.h"

#include <doctest/doctest.h>

namespace ibpod::sm::controller {
namespace {

constexpr ib::Guid kVf1{0x11}, kVf2{0x12};

PostponedBinds::Time at(int ms) { return PostponedBinds::Time(std::chrono::milliseconds(ms)); }

PostponedBind bind(const std::string& container, ib::Guid guid, int until) {
  PostponedBind made{.caller = {},
                     .request = {},
                     .context = fabricapi::CallContext(Deadline::at(at(until))),
                     .until = at(until),
                     .done = {}};
  made.request.attachment = {"n1", container, "net1"};
  made.request.guid = guid;
  return made;
}

std::vector<std::string> names(const std::vector<PostponedBind>& binds) {
  std::vector<std::string> all;
  for (const PostponedBind& one : binds) all.push_back(one.request.attachment.container);
  return all;
}
using Names = std::vector<std::string>;

TEST_CASE("Binds of a released port are ready, in the order of their calls") {
  PostponedBinds binds;
  binds.add(bind("a", kVf1, 100));
  binds.add(bind("b", kVf2, 200));
  binds.add(bind("c", kVf1, 300));
  CHECK(binds.take_ready().empty());
  binds.port_released(kVf1);
  CHECK(names(binds.take_ready()) == Names{"a", "c"});
  CHECK_MESSAGE(binds.take_ready().empty(), "a release counts once");
  CHECK(binds.size() == 1);
  CHECK(binds.due() == at(200));
}

TEST_CASE("a Bind expires at its deadline") {
  PostponedBinds binds;
  CHECK_FALSE(binds.due());
  binds.add(bind("a", kVf1, 200));
  binds.add(bind("b", kVf1, 100));
  CHECK(binds.due() == at(100));
  CHECK(binds.take_expired(at(99)).empty());
  CHECK(names(binds.take_expired(at(100))) == Names{"b"});
  CHECK(names(binds.take_expired(at(1000))) == Names{"a"});
  CHECK(binds.size() == 0);
}

TEST_CASE("the Binds of an attachment can be taken") {
  PostponedBinds binds;
  for (const char* const name : {"a", "b", "a"}) binds.add(bind(name, kVf1, 100));
  CHECK(names(binds.take({"n1", "a", "net1"})) == Names{"a", "a"});
  CHECK(names(binds.take({"n2", "b", "net1"})).empty());
  binds.port_released(kVf1);
  CHECK(names(binds.take_ready()) == Names{"b"});
}

}  // namespace
}  // namespace ibpod::sm::controller
