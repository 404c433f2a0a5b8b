#include "agent/sm_client/fabrics.h"

#include "agent/sm_client/test_two_rails.h"

namespace ibpod::agent::sm_client {
namespace {

using Names = std::vector<std::string>;
using Wait = nodeapi::Node::Wait;

// True if an Unbind ends as unavailable. Until it does, it does not end as released.
template <typename Unbind>
bool is_unavailable(const Unbind& unbind) {
  return in_time([&] {
    const Result<nodeapi::Binding> ended = unbind();
    if (ended) CHECK_FALSE(ended->released());
    return !ended && ended.error().code() == Code::unavailable;
  });
}

TEST_CASE_FIXTURE(TwoRails, "what is attached is bound by the service of its PF's fabric") {
  attach("c1", vf[0]);
  attach("c2", vf[1]);
  for (const auto* container : {"c1", "c2"}) {
    const auto bound = bind(container);
    REQUIRE_MESSAGE(bound.ok(), bound.error().text());
    CHECK(bound->verified());
  }
  CHECK(east.model.received() == Names{"bind c1"});
  CHECK(west.model.received() == Names{"bind c2"});
  CHECK(west.model.binding("c2")->pf == "ib0");
  attach("c2", vf[1], node::Stage::ending);
  REQUIRE(unbind("c2"));
  CHECK(east.model.received() == Names{"bind c1"});
  CHECK(west.model.received() == Names{"bind c2", "unbind c2"});
}

TEST_CASE_FIXTURE(TwoRails,
                  "a PF's interface is named if a message can hold its name, else the PF is") {
  size_t number = 0;
  for (const std::string name : {"ib\xc3\xa4", "ib\xff", "ib\xc2\x80", ""}) {
    fabrics.reset();
    FabricsDeps deps = this->deps();
    deps.interface_of = [name](const ib::PciAddress&) { return name; };
    fabrics = Fabrics::open({east.service, west.service}, deps).value();
    fabrics->begin();
    const std::string container = "c" + std::to_string(++number);
    attach(container, vf[0]);
    REQUIRE(bind(container));
    CHECK(east.model.binding(container)->pf == (name == "ib\xc3\xa4" ? name : pf[0].text()));
    REQUIRE(unbind(container));
  }
}

TEST_CASE_FIXTURE(TwoRails, "one whose service is away keeps no call on the other waiting") {
  const auto west_is = [&](bool reached) {
    return in_time([&] { return fabrics->sm_statuses().at("west").reached == reached; });
  };
  const auto backs = [&] {
    const std::scoped_lock lock(mutex);
    return came_back["west"];
  };
  REQUIRE(west_is(true));
  REQUIRE(in_time([&] { return backs() == 1; }));
  west.leave();
  REQUIRE(west_is(false));
  CHECK_FALSE(fabrics->sm_statuses().at("west").error.empty());
  attach("c1", vf[0]);
  REQUIRE(bind("c1"));
  CHECK(unbind("c1")->released());
  CHECK(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
  west.begin();
  CHECK(in_time([&] { return backs() == 2; }));
}

TEST_CASE_FIXTURE(TwoRails, "each is told of all attachments, and binds those of its own PFs") {
  attach("c1", vf[0]);
  attach("c2", vf[1]);
  using Present = std::vector<fabricapi::SyncRequest::AttachmentId>;
  const Present both{{"c1", "net1"}, {"c2", "net1"}};
  CHECK(in_time([&] { return east.model.named() == both; }));
  CHECK(in_time([&] { return west.model.named() == both; }));
  CHECK(in_time([&] { return fabrics->sm_statuses().at("east").verified == 1; }));
  CHECK(in_time([&] { return fabrics->sm_statuses().at("west").verified == 1; }));
  CHECK(fabrics->sm_statuses().at("east").unverified == 0);
  CHECK(east.model.received() == Names{"bind c1"});
  CHECK(west.model.received() == Names{"bind c2"});
}

TEST_CASE_FIXTURE(TwoRails, "a PF that is on another subnet, or not up, is on none of them") {
  plug(pf[0], kUnmanaged);
  attach("c1", vf[0]);
  const auto elsewhere = bind("c1");
  CHECK(elsewhere.error().code() == Code::unsupported);
  CAPTURE(elsewhere.error().text());
  for (const std::string part : {"PF 0000:11:00.0", "fe80:0000:0000:0009", "east", "west"}) {
    CAPTURE(part);
    CHECK(elsewhere.error().text().find(part) != std::string::npos);
  }
  tree.set_port(pf[0], "state", "1: DOWN");
  CHECK(bind("c1").error().code() == Code::unavailable);
  tree.unbind(pf[0]);
  CHECK(bind("c1").error().code() == Code::unavailable);
  CHECK(east.model.received().empty());
  CHECK(west.model.received().empty());
}

TEST_CASE_FIXTURE(TwoRails,
                  "what is bound stays named where the PF is seen on no fabric any more") {
  attach("c1", vf[0]);
  REQUIRE(bind("c1"));
  plug(pf[0], kUnmanaged);
  const size_t syncs = east.model.syncs();
  REQUIRE(in_time([&] { return east.model.syncs() > syncs + 1; }));
  CHECK(east.model.named() == std::vector<fabricapi::SyncRequest::AttachmentId>{{"c1", "net1"}});
  CHECK(east.model.binding("c1"));
}

TEST_CASE_FIXTURE(TwoRails, "where the PF's fabric is not to be seen, all are told of an end") {
  attach("c1", vf[1]);
  REQUIRE(bind("c1"));
  tree.set_port(pf[1], "state", "1: DOWN");
  CHECK(unbind("c1")->released());
  CHECK_FALSE(west.model.binding("c1"));
  CHECK(east.model.received().back() == "unbind c1");
  for (FakeFabric* const away : {&east, &west}) {
    away->leave();
    CHECK(is_unavailable([&] { return unbind("c1", Duration(100)); }));
    away->begin();
  }
}

TEST_CASE_FIXTURE(TwoRails, "who was only asked to end it has no say in it any more") {
  attach("c1", vf[1]);
  REQUIRE(bind("c1"));
  tree.set_port(pf[1], "state", "1: DOWN");
  REQUIRE(unbind("c1")->released());
  tree.set_port(pf[1], "state", "4: ACTIVE");
  east.leave();
  CHECK(unbind("c1")->released());
}

TEST_CASE_FIXTURE(TwoRails,
                  "where the PF's cable has been moved, the fabric before is told of an end") {
  attach("c1", vf[0]);
  REQUIRE(bind("c1"));
  plug(pf[0], kWest);
  SUBCASE("by the agent that has bound it") {}
  SUBCASE("by an agent that knows it from the service") {
    fabrics.reset();
    open({east.service, west.service});
    REQUIRE(in_time([&] { return fabrics->sm_statuses().at("east").reached; }));
  }
  SUBCASE("while its service is away it is not over") {
    east.leave();
    CHECK(is_unavailable([&] { return unbind("c1", Duration(100)); }));
    east.begin();
  }
  CHECK(unbind("c1")->released());
  CHECK_FALSE(east.model.binding("c1"));
}

TEST_CASE_FIXTURE(TwoRails, "a VF's GUID is out of the pool of its PF's fabric") {
  const auto pool = fabrics->guid_allocator();
  CHECK(pool(pf[0], 3).value() == ib::Guid(0x0200'0000'0000'e003));
  CHECK(pool(pf[1], 3).value() == ib::Guid(0x0200'0000'0000'f003));
  tree.set_port(pf[1], "state", "1: DOWN");
  CHECK(pool(pf[1], 3).error().code() == Code::unavailable);
  plug(pf[0], kUnmanaged);
  CHECK(pool(pf[0], 3).error().code() == Code::unsupported);
}

TEST_CASE_FIXTURE(TwoRails, "in one preparation a service that does not answer is asked once") {
  west.leave();
  const auto pool = fabrics->guid_allocator();
  REQUIRE(pool(pf[1], 0).error().code() == Code::unavailable);
  west.begin();
  CHECK(pool(pf[1], 1).error().code() == Code::unavailable);
  CHECK(pool(pf[0], 1));
  CHECK(west.model.received().empty());
  CHECK(fabrics->guid_allocator()(pf[1], 1));
}

TEST_CASE_FIXTURE(TwoRails, "in one preparation a service is asked once for the GUID of a VF") {
  const auto pool = fabrics->guid_allocator();
  CHECK(pool(pf[1], 3).value() == ib::Guid(0x0200'0000'0000'f003));
  west.leave();
  CHECK(pool(pf[1], 3).value() == ib::Guid(0x0200'0000'0000'f003));
  CHECK(pool(pf[1], 4).error().code() == Code::unavailable);
  CHECK(pool(pf[1], 3));
}

TEST_CASE_FIXTURE(TwoRails,
                  "the only one gives GUIDs to whatever PF, and binds on its subnet alone") {
  fabrics.reset();
  open({west.service});
  CHECK(fabrics->guid_allocator()(pf[0], 3).value() == ib::Guid(0x0200'0000'0000'f003));
  tree.set_port(pf[1], "state", "1: DOWN");
  CHECK(fabrics->guid_allocator()(pf[1], 3).value() == ib::Guid(0x0200'0000'0000'f003));
  attach("c1", vf[0]);
  CHECK(bind("c1").error().code() == Code::unsupported);
  CHECK(unbind("c1")->released());
  fabrics.reset();
  west.service.subnet_prefix.reset();
  open({west.service});
  CHECK(bind("c1")->verified());
}

TEST_CASE_FIXTURE(TwoRails,
                  "of two ports with a GUID the table of the one on this fabric is told") {
  const std::string guid = ":0200:0000:0000:0e01";
  tree.set_port(vf[0], "gids/0", ib::Guid(kEast).text_in_gid() + guid);
  tree.set_port(vf[1], "gids/0", ib::Guid(kWest).text_in_gid() + guid);
  tree.set_port(vf[0], "pkeys/1", "0x800e");
  tree.set_port(vf[1], "pkeys/1", "0x800f");
  const auto result = [&](uint64_t other) {
    const auto seen = deps().read_tables({ib::Guid(0x0200'0000'0000'0e01)}, {ib::Guid(other)});
    return seen.size() == 1 ? ib::text(seen.front().table) : "";
  };
  CHECK(result(kWest).find("0x800e") != std::string::npos);
  CHECK(result(kEast).find("0x800f") != std::string::npos);
  // A cable has been moved.
  tree.unbind(vf[1]);
  CHECK(result(kEast).find("0x800e") != std::string::npos);
}

TEST_CASE_FIXTURE(TwoRails, "a PF's port is that of its device with verbs") {
  tree.add_smi(pf[0], "a_smi1");
  tree.write("class/infiniband/a_smi1/ports/1/gids/0", gid(kWest));
  CHECK(read_pf_port(sysfs, vf[0])->prefix == ib::Guid(kEast));
}

}  // namespace
}  // namespace ibpod::agent::sm_client
