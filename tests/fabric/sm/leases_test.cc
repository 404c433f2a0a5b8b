// A node that is not heard of any more: nothing is verified by silence, and nothing is given away.
#include "tests/fabric/sm/secure_fixture.h"

#include <doctest/doctest.h>

namespace ibpod {
namespace {

using fabric::State;
using fabricapi::BindingChange;
using fabricapi::Client;

constexpr auto kLease = R"("leaseSeconds": 10)";
const ib::PKey kBlue(0x8001);

// Waits until the attachment's binding is so, or gone.
BindingChange until(SecureBed& bed, const fabric::Attachment& attachment,
                    const std::function<bool(const BindingChange&)>& so) {
  BindingChange seen;
  fabricapi::BindingFilter filter;
  filter.node = attachment.node;
  const Status watched = bed.client().watch_bindings(
      filter,
      [&](const BindingChange& change) {
        if (change.binding.attachment == attachment) seen = change;
        return change.binding.attachment != attachment || !so(change);
      },
      SmBed::patience(Duration(60000)));
  REQUIRE_MESSAGE(watched, watched.error().text());
  return seen;
}

BindingChange until(SecureBed& bed, const fabric::Attachment& attachment, State state) {
  return until(bed, attachment,
               [&](const BindingChange& change) { return change.binding.state == state; });
}

fabricapi::SyncRequest naming(const fabric::Attachment& attachment) {
  return {attachment.node, {{attachment.container, attachment.interface}}};
}

// Bound and verified, by what its node says: what it has read when the sweep was over counts, and
// it tells what it reads again and again.
void bind_unseen(SecureBed& bed, Client& node, const fabricapi::BindRequest& request) {
  REQUIRE(node.bind(request, SmBed::patience(Duration(3000))));
  const std::string& name = request.attachment.node;
  std::string newest;
  bed.until([&] {
    const auto answer = node.observe({name, newest, {{request.guid, {ib::PKey(0x7fff), kBlue}}}},
                                     SmBed::patience());
    REQUIRE(answer);
    newest = answer->stamp;
    return node.get_binding(request.attachment, SmBed::patience())->state == State::verified;
  });
}

TEST_CASE("a silent node's bindings are unknown and nobody else's, until it is heard of again") {
  SecureBed bed(std::string(kLease) + ", " + SecureBed::with_pool());
  bed.partition("blue");
  Client n1 = bed.node(1), n2 = bed.node(2), n3 = bed.node(3);
  const fabricapi::BindRequest first = SmBed::request(1, "blue"),
                               second = SmBed::request(2, "blue");
  const fabricapi::BindRequest unseen = bed.unseen_request(3, "blue");
  bind_unseen(bed, n3, unseen);
  REQUIRE(bed.bind(2, "blue") == "verified");
  REQUIRE(n1.bind(first, SmBed::patience()));

  const BindingChange lost = until(bed, first.attachment, State::unknown);
  CHECK(lost.binding.standing.reason == fabric::Reason::lease);
  until(bed, second.attachment, State::unknown);
  CHECK(until(bed, unseen.attachment, State::unknown).binding.standing.reason ==
        fabric::Reason::lease);
  CHECK_MESSAGE(ib::find_in(bed.table(1), kBlue), "its key is held");
  // Its port goes to no other pod, whoever asks.
  check_refused(n1.bind(SmBed::request(1, "blue", "c2"), SmBed::patience(Duration(3000))),
                Code::busy, {guid_of(1).text()});
  fabricapi::BindRequest taken = SmBed::request(2, "blue", "c2");
  taken.guid = guid_of(1);
  check_refused(n2.bind(taken, SmBed::patience(Duration(3000))), Code::denied,
                {guid_of(1).text(), "n2"});
  check_refused(bed.administrator().bind(taken, SmBed::patience(Duration(3000))), Code::busy,
                {guid_of(1).text()});
  check_refused(bed.administrator().delete_partition("blue", SmBed::patience()), Code::busy);

  // It comes back with the one, and says that it has not got the other any more.
  const auto heard = n1.sync(naming(first.attachment), SmBed::patience());
  REQUIRE(heard);
  CHECK(heard->bindings.size() == 1);
  CHECK(until(bed, first.attachment, State::verified).binding.proof == fabric::Proof::port);
  CHECK(ib::find_in(bed.table(1), kBlue));
  const auto without = n2.sync({"n2", {}}, SmBed::patience());
  REQUIRE(without);
  CHECK(without->not_named.size() == 1);
  bed.until([&] { return !ib::find_in(bed.table(2), kBlue); });
  REQUIRE(n3.sync(naming(unseen.attachment), SmBed::patience()));
  bind_unseen(bed, n3, unseen);
}

TEST_CASE(
    "where a lease's end revokes, a silent node's key leaves the table, and comes back asked") {
  SecureBed bed(std::string(kLease) + R"(, "leaseEnd": "revoke")");
  bed.partition("blue");
  Client n1 = bed.node(1);
  const fabricapi::BindRequest request = SmBed::request(1, "blue");
  REQUIRE(n1.bind(request, SmBed::patience())->state == State::verified);
  REQUIRE(ib::find_in(bed.table(1), kBlue));
  until(bed, request.attachment, [](const BindingChange& change) { return change.gone; });
  CHECK_FALSE(ib::find_in(bed.table(1), kBlue));
  const auto heard = n1.sync(naming(request.attachment), SmBed::patience());
  REQUIRE(heard);
  CHECK(heard->bindings.empty());
  CHECK(heard->not_bound == naming(request.attachment).attachments);
  const auto again = n1.bind(request, SmBed::patience());
  REQUIRE_MESSAGE(again, again.error().text());
  CHECK(again->state == State::verified);
  CHECK(ib::find_in(bed.table(1), kBlue));
  const std::string log = bed.end();
  CHECK(log.find(R"("by":"lease")") != std::string::npos);
}

}  // namespace
}  // namespace ibpod
