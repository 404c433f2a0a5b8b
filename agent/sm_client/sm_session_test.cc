#include "agent/sm_client/sm_session.h"

#include "agent/sm_client/test_sm_service.h"
#include "lib/base/files.h"

namespace ibpod::agent::sm_client {
namespace {

using Names = std::vector<std::string>;
using Wait = nodeapi::Node::Wait;

TEST_CASE_FIXTURE(SmSessionFixture,
                  "a plugin begins, waits, and is told the keys in its own order") {
  attach("c1", {{"red"}, {"blue"}});
  const auto begun = bind("c1", Wait::no);
  REQUIRE(begun);
  const auto bound = bind("c1");
  REQUIRE_MESSAGE(bound.ok(), bound.error().text());
  CHECK(bound->verified());
  CHECK(bound->keys == std::vector{ib::PKey(0x8002), ib::PKey(0x0001)});
  CHECK(bound->proof == "port");
  CHECK(service.binding("c1")->pod == fabric::Pod{"lab", "trainer-0", "6f1c"});
  CHECK(service.received() == Names{"bind c1"});
  begin_end(test_record("c1", {{"red"}, {"blue"}}));
  REQUIRE(unbind("c1"));
  CHECK(unbind("c1")->released());
  CHECK_FALSE(service.binding("c1"));
}

TEST_CASE_FIXTURE(SmSessionFixture, "a partition is asked for by its P_Key, too") {
  attach("c1", {{"", "full", ib::PKey(0x0002)}, {"blue"}});
  const auto bound = bind("c1");
  REQUIRE_MESSAGE(bound.ok(), bound.error().text());
  CHECK(bound->keys == std::vector{ib::PKey(0x8002), ib::PKey(0x0001)});
}

TEST_CASE("the service is told of a GUID that is not the VF's own") {
  node::Record record = test_record("c1", {{"blue"}});
  CHECK(make_bind_request(record, "n1", {}).value().guid_requested);
  record.original.guids = record.spec.guids;
  CHECK_FALSE(make_bind_request(record, "n1", {}).value().guid_requested);
  record.spec.guids.reset();
  CHECK_FALSE(make_bind_request(record, "n1", {}).value().guid_requested);
}

// Not granted: either nothing has failed yet, or the service is away.
bool waits_for_service(const Result<nodeapi::Binding>& bound) {
  return bound ? !bound->granted : bound.error().code() == Code::unavailable;
}

TEST_CASE_FIXTURE(SmSessionFixture, "nothing is granted before the service has answered") {
  service.hold_back(true);
  leave();
  attach("c1", {{"blue"}});
  const auto begun = bind("c1", Wait::no);
  CHECK(waits_for_service(begun));
  CHECK(in_time([&] {
    const auto early = bind("c1", Wait::granted, Duration(100));
    CHECK(waits_for_service(early));
    return !early;
  }));
  serve();
  const auto granted = bind("c1", Wait::granted);
  REQUIRE_MESSAGE(granted.ok(), granted.error().text());
  CHECK(granted->granted);
  CHECK_FALSE(granted->verified());
  attach("c2", {{"green"}});
  CHECK(bind("c2", Wait::granted).error().code() == Code::denied);
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "what is no attachment, has ended or names no partition is refused") {
  CHECK(bind("c1").error().code() == Code::unavailable);
  attach("c1", {});
  CHECK(bind("c1").error().code() == Code::invalid);
  begin_end(test_record("c1", {{"blue"}}));
  CHECK(bind("c1").error().code() == Code::invalid);
  CHECK(service.received().empty());
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "a refusal of the service is reported at once, and the next caller asks again") {
  attach("c1", {{"green"}});
  const auto refused = bind("c1");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Code::denied);
  CHECK(refused.error().text().find("not for namespace lab") != std::string::npos);
  attach("c1", {{"blue"}});
  CHECK(bind("c1")->verified());
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "a service that is away is waited for, and named at the deadline") {
  attach("c1", {{"blue"}});
  leave();
  CHECK(in_time([&] {
    const auto unanswered = bind("c1", Wait::verified, Duration(300));
    return !unanswered && unanswered.error().code() == Code::unavailable;
  }));
  CHECK(in_time([&] { return !now().reached && !now().error.empty(); }));
  CHECK(in_time([&] {
    const auto away = unbind("c1", Duration(300));
    return !away && away.error().code() == Code::unavailable;
  }));
  serve();
  CHECK(bind("c1")->verified());
  CHECK(in_time([&] { return now().reached && now().verified == 1; }));
}

TEST_CASE_FIXTURE(SmSessionFixture, "at the deadline it is told how far it is") {
  service.hold_back(true);
  attach("c1", {{"blue"}});
  CHECK(in_time([&] {
    const auto written = bind("c1", Wait::verified, Duration(300));
    return written && written->state == "written" && written->keys.empty();
  }));
  service.hold_back(false);
  CHECK(bind("c1")->verified());
}

TEST_CASE_FIXTURE(SmSessionFixture, "an Unbind during a Bind comes behind it") {
  service.hold_back(true);
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1", Wait::no));
  begin_end(test_record("c1", {{"blue"}}));
  CHECK(unbind("c1")->released());
  CHECK_FALSE(service.binding("c1"));
  CHECK(service.received().back() == "unbind c1");
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "an attachment that has begun to end is not bound, not even by a Sync") {
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1"));
  begin_end(test_record("c1", {{"blue"}}));
  REQUIRE(unbind("c1"));
  const size_t syncs = service.syncs();
  CHECK(in_time([&] { return service.syncs() >= syncs + 3; }));
  CHECK_FALSE(service.binding("c1"));
  CHECK(service.received().back() == "unbind c1");
}

TEST_CASE_FIXTURE(SmSessionFixture, "the end of one attempt is not that of the next") {
  node::Record record = test_record("c1", {{"blue"}});
  record.attempt = "second";
  REQUIRE(records.write(record));
  REQUIRE(bind("c1"));
  const Deadline soon = Deadline::in(Duration(20'000));
  CHECK(session->unbind({"c1", "net1", "first"}, soon)->released());
  CHECK(service.binding("c1"));
  CHECK(session->bind({"c1", "net1", "first"}, Wait::verified, soon).error().code() ==
        Code::unavailable);
  begin_end(record);
  CHECK(session->unbind({"c1", "net1", "second"}, soon)->released());
  CHECK_FALSE(service.binding("c1"));
}

TEST_CASE_FIXTURE(SmSessionFixture, "a Bind whose record has gone is taken back") {
  service.hold_back(true);
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1", Wait::no));
  REQUIRE(in_time([&] { return service.binding("c1").has_value(); }));
  REQUIRE(records.remove(name_of(test_record("c1", {}))));
  CHECK(
      in_time([&] { return !service.binding("c1") && service.received().back() == "unbind c1"; }));
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "it names all that may be bound, and binds again what the service lost") {
  attach("c1", {{"blue"}});
  attach("c2", {});
  REQUIRE(bind("c1"));
  service.forget_all();
  CHECK(in_time([&] { return service.binding("c1").has_value(); }));
  CHECK(service.named() == std::vector<fabricapi::SyncRequest::AttachmentId>{{"c1", "net1"}});
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "a binding without a record is ended, one with a record never") {
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1"));
  fabric::Binding left = *service.binding("c1");
  left.attachment.container = "c9";
  service.has(left);
  CHECK(in_time([&] { return !service.binding("c9"); }));
  CHECK(service.binding("c1"));
}

// As an editor leaves a copy: the service would refuse a Sync that names it, with all the others.
TEST_CASE_FIXTURE(SmSessionFixture,
                  "a file that names no attachment keeps no other's binding from renewal") {
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1"));
  const Path device = records.folder() / test_record("c1", {}).device.text();
  for (const char* const stray : {"c1 (copy):net1.json", "c2:n\xff.json"})
    REQUIRE(write_file_atomically(device / stray, "{}"));
  attach("c3", {{"blue"}});
  REQUIRE(bind("c3"));
  CHECK(in_time([&] { return service.named().size() == 2; }));
  CHECK(now().error.empty());
}

TEST_CASE_FIXTURE(SmSessionFixture, "a missing folder of records ends no binding, and is told") {
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1"));
  const Path hidden = records.folder().parent_path() / "unmounted";
  std::filesystem::rename(records.folder(), hidden);
  CHECK(in_time([&] { return now().error.find("is missing") != std::string::npos; }));
  CHECK(service.binding("c1"));
  std::filesystem::rename(hidden, records.folder());
  CHECK(in_time([&] { return now().reached; }));
  CHECK(service.binding("c1"));
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "what comes while a Sync is underway is named at once by the next") {
  attach("c1", {{"blue"}});
  REQUIRE(bind("c1"));
  fabric::Binding second = *service.binding("c1");
  second.attachment.container = "c2";
  service.set_lease(Duration(3'600'000), [&] {
    attach("c2", {{"blue"}});
    service.has(second);
  });
  CHECK(in_time([&] { return service.named().size() == 2; }));
  CHECK(service.binding("c2"));
}

TEST_CASE_FIXTURE(SmSessionFixture, "of two records of one name each attempt has its own") {
  node::Record first = test_record("c1", {{"blue"}});
  first.attempt = "first";
  node::Record second = test_record("c1", {});
  second.attempt = "second";
  second.device = ib::PciAddress::parse("0000:3b:00.1").value();  // comes before the other
  REQUIRE(records.write(first));
  REQUIRE(records.write(second));
  const Deadline soon = Deadline::in(Duration(20'000));
  REQUIRE(session->bind({"c1", "net1", "first"}, Wait::verified, soon));
  begin_end(first);
  CHECK(session->unbind({"c1", "net1", "first"}, soon)->released());
  CHECK_FALSE(service.binding("c1"));
}

TEST_CASE_FIXTURE(SmSessionFixture,
                  "the service gets the port's table when it has been read again") {
  service.accept_nodes_only();
  attach("c1", {{"blue"}});
  CHECK_FALSE(bind("c1", Wait::verified, Duration(1500))->verified());
  {
    const std::scoped_lock lock(mutex);
    table = {ib::PKey(0x7fff), ib::PKey(0x0001)};
  }
  const auto bound = bind("c1");
  REQUIRE(bound);
  CHECK(bound->verified());
  CHECK(bound->proof == "node");
}

}  // namespace
}  // namespace ibpod::agent::sm_client
