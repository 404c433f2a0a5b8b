// A node that is not heard of any more: nothing is verified by silence, and nothing is given away.
#include "tests/fabric/sm/secure_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabric::BindingState;
using fabricapi::BindingChange;
using fabricapi::Client;

constexpr auto kLease = R"("leaseSeconds": 10)";
const ib::PKey kBlue(0x8001);

// Waits until the attachment's binding is so, or gone.
BindingChange until(SecureFixture& fixture, const fabric::Attachment& attachment,
                    const std::function<bool(const BindingChange&)>& so) {
  BindingChange seen;
  fabricapi::BindingFilter filter;
  filter.node = attachment.node;
  const Status watched = fixture.client().watch_bindings(
      filter,
      [&](const BindingChange& change) {
        if (change.binding.attachment == attachment) seen = change;
        return change.binding.attachment != attachment || !so(change);
      },
      SmFixture::deadline_in(Duration(60000)));
  REQUIRE_MESSAGE(watched, watched.error().text());
  return seen;
}

BindingChange until(SecureFixture& fixture, const fabric::Attachment& attachment,
                    BindingState state) {
  return until(fixture, attachment,
               [&](const BindingChange& change) { return change.binding.state == state; });
}

fabricapi::SyncRequest naming(const fabric::Attachment& attachment) {
  return {attachment.node, {{attachment.container, attachment.interface}}};
}

// Bound and verified, by what its node says: what it has read when the sweep was over counts, and
// it tells what it reads again and again.
void bind_unseen(SecureFixture& fixture, Client& node, const fabricapi::BindRequest& request) {
  REQUIRE(node.bind(request, SmFixture::deadline_in(Duration(3000))));
  const std::string& name = request.attachment.node;
  std::string newest;
  fixture.until([&] {
    const auto answer = node.observe({name, newest, {{request.guid, {ib::PKey(0x7fff), kBlue}}}},
                                     SmFixture::deadline_in());
    REQUIRE(answer);
    newest = answer->stamp();
    return node.get_binding(request.attachment, SmFixture::deadline_in())->state ==
           BindingState::verified;
  });
}

TEST_CASE("a silent node's bindings are unknown and nobody else's, until it is heard of again") {
  SecureFixture fixture(std::string(kLease) + ", " + SecureFixture::with_pool());
  fixture.create_partition("blue");
  Client n1 = fixture.node(1), n2 = fixture.node(2), n3 = fixture.node(3);
  const fabricapi::BindRequest first = SmFixture::request(1, "blue"),
                               second = SmFixture::request(2, "blue");
  const fabricapi::BindRequest unseen = fixture.unseen_request(3, "blue");
  bind_unseen(fixture, n3, unseen);
  REQUIRE(fixture.bind(2, "blue") == "verified");
  REQUIRE(n1.bind(first, SmFixture::deadline_in()));

  const BindingChange lost = until(fixture, first.attachment, BindingState::unknown);
  CHECK(lost.binding.condition.reason == fabric::Reason::lease);
  until(fixture, second.attachment, BindingState::unknown);
  CHECK(until(fixture, unseen.attachment, BindingState::unknown).binding.condition.reason ==
        fabric::Reason::lease);
  CHECK_MESSAGE(ib::find_in(fixture.table(1), kBlue), "its key is held");
  // Its port goes to no other pod, whoever asks.
  check_refused(
      n1.bind(SmFixture::request(1, "blue", "c2"), SmFixture::deadline_in(Duration(3000))),
      Code::busy, {guid_of(1).text()});
  fabricapi::BindRequest taken = SmFixture::request(2, "blue", "c2");
  taken.guid = guid_of(1);
  check_refused(n2.bind(taken, SmFixture::deadline_in(Duration(3000))), Code::denied,
                {guid_of(1).text(), "n2"});
  check_refused(fixture.administrator().bind(taken, SmFixture::deadline_in(Duration(3000))),
                Code::busy, {guid_of(1).text()});
  check_refused(fixture.administrator().delete_partition("blue", SmFixture::deadline_in()),
                Code::busy);

  // It comes back with the one, and says that it has not got the other any more.
  const auto heard = n1.sync(naming(first.attachment), SmFixture::deadline_in());
  REQUIRE(heard);
  CHECK(heard->bindings.size() == 1);
  CHECK(until(fixture, first.attachment, BindingState::verified).binding.proof ==
        fabric::Proof::port);
  CHECK(ib::find_in(fixture.table(1), kBlue));
  const auto without = n2.sync({"n2", {}}, SmFixture::deadline_in());
  REQUIRE(without);
  CHECK(without->not_named.size() == 1);
  fixture.until([&] { return !ib::find_in(fixture.table(2), kBlue); });
  REQUIRE(n3.sync(naming(unseen.attachment), SmFixture::deadline_in()));
  bind_unseen(fixture, n3, unseen);
}

TEST_CASE(
    "where a lease's end revokes, a silent node's key leaves the table, and comes back asked") {
  SecureFixture fixture(std::string(kLease) + R"(, "leaseEnd": "revoke")");
  fixture.create_partition("blue");
  Client n1 = fixture.node(1);
  const fabricapi::BindRequest request = SmFixture::request(1, "blue");
  REQUIRE(n1.bind(request, SmFixture::deadline_in())->state == BindingState::verified);
  REQUIRE(ib::find_in(fixture.table(1), kBlue));
  until(fixture, request.attachment, [](const BindingChange& change) { return change.gone; });
  CHECK_FALSE(ib::find_in(fixture.table(1), kBlue));
  const auto heard = n1.sync(naming(request.attachment), SmFixture::deadline_in());
  REQUIRE(heard);
  CHECK(heard->bindings.empty());
  CHECK(heard->not_bound == naming(request.attachment).attachments);
  const auto again = n1.bind(request, SmFixture::deadline_in());
  REQUIRE_MESSAGE(again, again.error().text());
  CHECK(again->state == BindingState::verified);
  CHECK(ib::find_in(fixture.table(1), kBlue));
  const std::string log = fixture.end();
  CHECK(log.find(R"("by":"lease")") != std::string::npos);
}

}  // namespace
}  // namespace ibpod
