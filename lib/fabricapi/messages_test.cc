#include "lib/fabricapi/messages.h"

#include "lib/base/utf8.h"
#include "lib/fabricapi/fields.h"
#include "lib/fabricapi/test_values.h"

#include <cmath>
#include <functional>

#include <doctest/doctest.h>

namespace ibpod::fabricapi {
namespace {

// Every value of each enum.
TEST_CASE("messages: each word of a binding comes back as itself") {
  fabric::Binding binding = test_binding();
  const auto same = [&] { return from_message(to_message(binding)).value() == binding; };
  CHECK(same());
  for (const auto kind : {fabric::Kind::vf, fabric::Kind::child}) {
    binding.kind = kind;
    CHECK(same());
  }
  for (int i = 0; i <= static_cast<int>(fabric::BindingState::unknown); ++i) {
    binding.state = static_cast<fabric::BindingState>(i);
    CHECK(same());
  }
  for (int i = 0; i <= static_cast<int>(fabric::Reason::lease); ++i) {
    binding.condition.reason = static_cast<fabric::Reason>(i);
    CHECK(same());
  }
  for (int i = 0; i <= static_cast<int>(fabric::Proof::node); ++i) {
    binding.proof = static_cast<fabric::Proof>(i);
    CHECK(same());
  }
  for (int i = 0; i <= static_cast<int>(fabric::Enforcement::leaf); ++i) {
    binding.enforcement = static_cast<fabric::Enforcement>(i);
    CHECK(same());
  }
  binding.desired.clear();
  binding.keys.clear();
  binding.applied.clear();
  CHECK(same());
}

TEST_CASE("messages: that there is no binding any more comes back as that, and nothing less does") {
  fabric::Binding none;
  none.attachment = {"n1", "c1", "net1"};
  none.state = fabric::BindingState::released;
  v1::Binding message = to_message(none);
  const Result<fabric::Binding> read = from_message(message);
  REQUIRE(read);
  CHECK(*read == none);
  message.set_state("verified");
  CHECK_FALSE(from_message(message));
}

TEST_CASE("messages: a partition comes back as itself, with all that it may leave out") {
  fabric::PartitionStatus status = test_status();
  CHECK(from_message(to_message(status)).value() == status);
  status = {};
  status.spec.name = "bare";
  CHECK(from_message(to_message(status)).value() == status);
  status.spec.ipoib = false;
  for (int i = 0; i <= static_cast<int>(fabric::PartitionState::error); ++i) {
    status.state = static_cast<fabric::PartitionState>(i);
    CHECK(from_message(to_message(status)).value() == status);
  }
  CHECK(read_partition(to_message(test_partition())).value() == test_partition());
}

TEST_CASE("messages: what came from the subnet reaches no terminal as it is") {
  CHECK(cleaned("node-7 mlx5_0") == "node-7 mlx5_0");
  CHECK(cleaned("Gebäude € 😀") == "Gebäude € 😀");
  CHECK(cleaned("\x1b[2J\n\x7f") == "?[2J??");
  CHECK(cleaned("a\xff\xc3z\xc0\x80\xed\xa0\x80\xf5") == "a??z??????");
  CHECK(cleaned("\xc2\x80\xc2\x9b[2J\xc2\x9f\xc2\xa0") == "??[2J?\xc2\xa0");
  CHECK(cleaned("cut \xe2\x82") == "cut ??");
  CHECK(is_utf8("Gebäude € 😀"));
  for (const char* bad : {"\xff", "\xc3(", "\xc0\x80", "\xed\xa0\x80", "\xe2\x82",
                          "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xe0\x80\x80"})
    CHECK_FALSE(is_utf8(bad));
  v1::PlanResponse plan = test_plan_answer();
  plan.mutable_ports(0)->set_description("\x1b]0;x");
  plan.add_notes("\n");
  const v1::PlanResponse clean = to_message(plan);
  CHECK(clean.ports(0).description() == "?]0;x");
  CHECK(clean.notes(1) == "?");
  v1::FabricHealthResponse health = test_health();
  for (const auto spoil : {&v1::FabricHealthResponse::Finding::mutable_subject,
                           &v1::FabricHealthResponse::Finding::mutable_text,
                           &v1::FabricHealthResponse::Finding::mutable_remedy})
    *(health.mutable_findings(0)->*spoil)() = "\x7f";
  health.set_engine("\x7f");
  const v1::FabricHealthResponse sent = to_message(health);
  CHECK(sent.findings(0).subject() + sent.findings(0).text() + sent.findings(0).remedy() == "???");
  CHECK(sent.engine() == "?");
}

// The field in the error of a valid request that `spoil` has changed.
template <typename Message>
void refuses(const Message& right, const std::string& field,
             const std::function<void(Message&)>& spoil) {
  CAPTURE(field);
  REQUIRE(from_message(right));
  Message message = right;
  spoil(message);
  const auto read = from_message(message);
  REQUIRE_FALSE(read);
  CHECK(read.error().code() == Code::invalid);
  CHECK(read.error().text().starts_with(field + ": "));
}

// Other programs assign odd GUIDs and names: one of them must not make a node's whole message
// invalid.
TEST_CASE("messages: an existing object is accepted with values that ibpod never assigns") {
  const ib::Guid odd(0x59cabb009792745f);
  BindRequest bind = test_bind();
  bind.guid = odd;
  bind.pf_guid = odd;
  bind.pf = "größe0";
  bind.attachment.interface = "netz-ü";
  CHECK(from_message(to_message(bind)).value() == bind);
  ObserveRequest observe{"n1", "", {{odd, {ib::PKey(0x7fff)}}, {ib::Guid(2), {}}}};
  CHECK(from_message(to_message(observe)).value().ports.size() == 2);
  v1::ObserveResponse observed;
  observed.add_wanted(odd.value());
  CHECK(check_answer(observed));
  BindingFilter filter;
  filter.guid = odd;
  CHECK(from_message(to_message(filter)).value().guid == odd);
  fabric::Partition partition = test_partition();
  partition.members = {{odd, fabric::Membership::full, ""}};
  CHECK(read_partition(to_message(partition)).value() == partition);
  const SyncRequest sync{"n1", {{"c1", "netz-ü"}, {"c2", "net1"}}};
  CHECK(from_message(to_message(sync)).value().attachments.size() == 2);
}

TEST_CASE("messages: a node and a namespace may have their cluster in front, a pod may not") {
  fabric::Binding binding = test_binding();
  binding.attachment.node = "dev/" + binding.attachment.node;
  binding.pod.name_space = "dev/" + binding.pod.name_space;
  CHECK(from_message(to_message(binding)).value() == binding);
  BindRequest bind = test_bind();
  bind.attachment = binding.attachment;
  bind.pod = binding.pod;
  CHECK(from_message(to_message(bind)).value() == bind);
  bind.pod.name = "dev/" + bind.pod.name;
  CHECK(from_message(to_message(bind)).error().text().starts_with("pod.name: "));
  const BindingFilter filter{"dev/n1", "", "dev/team-a", "", {}, {}};
  CHECK(from_message(to_message(filter)).value() == filter);
  CHECK(from_message(to_message(SyncRequest{"dev/n1", {}}))->node == "dev/n1");
  CHECK(from_message(to_message(ObserveRequest{"dev/n1", "", {}}))->node == "dev/n1");
  CHECK(from_message(to_message(ForgetRequest{"dev/n1"}))->node == "dev/n1");
  AllocateRequest allocate = test_allocate();
  allocate.node = "dev/n1";
  CHECK(from_message(to_message(allocate)).value() == allocate);
  fabric::Partition partition = test_partition();
  partition.allowed = {"team-a", "dev/team-a", "dev/*", "*/shared", "*/*"};
  partition.nodes = {"dev/gpu-*", "*/n1"};
  CHECK(read_partition(to_message(partition)).value() == partition);
  const ExplainRequest explain{{"dev/team-a/web-0", "team-a/web-0"}};
  CHECK(from_message(to_message(explain)).value() == explain);
  v1::ListNodesResponse nodes;
  nodes.add_nodes()->set_name("dev/n1");
  CHECK(check_answer(nodes));
}

TEST_CASE("messages: a cluster that none can be called is named with its field") {
  v1::BindRequest bind = to_message(test_bind());
  bind.mutable_attachment()->set_node("Dev/n1");
  CHECK(from_message(bind).error().text() ==
        R"(attachment.node: expected the name of a node, or CLUSTER/NAME, got "Dev/n1")");
  bind = to_message(test_bind());
  bind.mutable_pod()->set_namespace_("a/b/c");
  CHECK(from_message(bind).error().text() ==
        R"(pod.namespace: expected a namespace, or CLUSTER/NAMESPACE, got "a/b/c")");
  v1::Partition partition = to_message(test_partition());
  partition.add_allowed("Dev/*");
  CHECK(read_partition(partition).error().text() ==
        R"(allowed: expected CLUSTER/NAMESPACE, each of which may be *, got "Dev/*")");
}

TEST_CASE("messages: whatever is wrong in a Bind is refused, and named") {
  using M = v1::BindRequest;
  const auto wrong = [](const std::string& field, const std::function<void(M&)>& spoil) {
    refuses<M>(to_message(test_bind()), field, spoil);
  };
  wrong("attachment.node", [](M& m) { m.clear_attachment(); });
  wrong("attachment.node", [](M& m) { m.mutable_attachment()->set_node("N7"); });
  wrong("attachment.node", [](M& m) { m.mutable_attachment()->set_node("a..b"); });
  wrong("attachment.node", [](M& m) { m.mutable_attachment()->set_node(std::string(254, 'a')); });
  wrong("attachment.container", [](M& m) { m.mutable_attachment()->clear_container(); });
  for (const char* container : {"a b", "a/b", "a\n"})
    wrong("attachment.container", [&](M& m) { m.mutable_attachment()->set_container(container); });
  wrong("attachment.container",
        [](M& m) { m.mutable_attachment()->set_container(std::string(257, 'c')); });
  wrong("attachment.interface", [](M& m) { m.mutable_attachment()->clear_interface(); });
  for (const char* name :
       {"..", "a/b", "a:b", "sixteen-bytes-xx", "a\n", "a b", "\xff", "\xc2\x80"})
    wrong("attachment.interface", [&](M& m) { m.mutable_attachment()->set_interface(name); });
  for (const uint64_t guid : {uint64_t{0}, UINT64_MAX})
    wrong("guid", [&](M& m) { m.set_guid(guid); });
  wrong("kind", [](M& m) { m.set_kind("pf"); });
  wrong("pf", [](M& m) { m.clear_pf(); });
  for (const char* pf : {"ib 0", "ib/0", "sixteen-bytes-xx"})
    wrong("pf", [&](M& m) { m.set_pf(pf); });
  for (const char* device : {"3b:00.2", "../../x", ""})
    wrong("device", [&](M& m) { m.set_device(device); });
  wrong("pod.namespace", [](M& m) { m.clear_pod(); });
  wrong("pod.namespace", [](M& m) { m.mutable_pod()->set_namespace_("a.b"); });
  for (const char* pod : {"a_b", "\x1b[31m", ""})
    wrong("pod.name", [&](M& m) { m.mutable_pod()->set_name(pod); });
  wrong("pod.uid", [](M& m) { m.mutable_pod()->set_uid(std::string(129, 'u')); });
  wrong("pod.uid", [](M& m) { m.mutable_pod()->set_uid("a b"); });
  wrong("pod.uid", [](M& m) { m.mutable_pod()->set_uid("a/b"); });
  wrong("partitions", [](M& m) { m.clear_partitions(); });
  wrong("partitions", [](M& m) { *m.add_partitions() = m.partitions(0); });
  wrong("partitions.partition", [](M& m) { m.mutable_partitions(0)->clear_partition(); });
  wrong("partitions.partition", [](M& m) { m.mutable_partitions(0)->set_partition("a b"); });
  wrong("partitions.partition",
        [](M& m) { m.mutable_partitions(0)->set_partition(std::string(32, 'a')); });
  wrong("partitions.membership", [](M& m) { m.mutable_partitions(0)->set_membership("Full"); });
  wrong("partitions.pkey", [](M& m) { m.mutable_partitions(0)->set_pkey(1); });
  for (const uint32_t pkey : {0x7fffU, 0x8001U, 0x10001U})
    wrong("partitions.pkey", [&](M& m) {
      m.mutable_partitions(0)->clear_partition();
      m.mutable_partitions(0)->set_pkey(pkey);
    });
  M by_pkey = to_message(test_bind());
  by_pkey.mutable_partitions(0)->clear_partition();
  by_pkey.mutable_partitions(0)->set_pkey(0x7ffe);
  const auto read = from_message(by_pkey);
  REQUIRE(read);
  CHECK(read->partitions.front().pkey == ib::PKey(0x7ffe));
  CHECK(to_message(*read).SerializeAsString() == by_pkey.SerializeAsString());
  wrong("partitions", [](M& m) {
    for (int i = 0; i < kMostMemberships; ++i) m.add_partitions()->set_partition(std::to_string(i));
  });
}

TEST_CASE("messages: whatever is wrong in a kept binding is refused, and named") {
  using M = v1::Binding;
  const auto wrong = [](const std::string& field, const std::function<void(M&)>& spoil) {
    refuses<M>(to_message(test_binding()), field, spoil);
  };
  wrong("kind", [](M& m) { m.clear_kind(); });
  wrong("shares.membership", [](M& m) { m.mutable_shares(0)->clear_membership(); });
  wrong("held.partition", [](M& m) { m.mutable_held(0)->clear_partition(); });
  wrong("state", [](M& m) { m.set_state("bound"); });
  wrong("reason", [](M& m) { m.clear_reason(); });
  wrong("proof", [](M& m) { m.set_proof("sa"); });
  wrong("enforcement", [](M& m) { m.clear_enforcement(); });
}

TEST_CASE("messages: whatever is wrong in a filter, a Sync or an AllocateGuids is refused") {
  using F = v1::BindingFilter;
  const F filter = to_message(test_filter());
  refuses<F>(filter, "filter.node", [](F& m) { m.set_node("A"); });
  refuses<F>(filter, "filter.partition", [](F& m) { m.set_partition("a b"); });
  refuses<F>(filter, "filter.namespace", [](F& m) { m.set_namespace_("A"); });
  refuses<F>(filter, "filter.pod", [](F& m) { m.set_pod("/"); });
  refuses<F>(filter, "filter.guid", [](F& m) { m.set_guid(UINT64_MAX); });
  refuses<F>(filter, "filter: state", [](F& m) { m.set_state("bound"); });
  using S = v1::SyncRequest;
  const S sync = to_message(test_sync());
  refuses<S>(sync, "node", [](S& m) { m.clear_node(); });
  refuses<S>(sync, "attachments.container",
             [](S& m) { m.mutable_attachments(0)->clear_container(); });
  refuses<S>(sync, "attachments.interface",
             [](S& m) { m.mutable_attachments(1)->set_interface("a/b"); });
  refuses<S>(sync, "attachments", [](S& m) {
    for (int i = 0; i < kMostAttachments; ++i) *m.add_attachments() = m.attachments(0);
  });
  refuses<S>(sync, "boot", [](S& m) { m.set_boot(std::string(65, 'b')); });
  refuses<S>(sync, "vfs", [](S& m) {
    for (int i = 0; i < kMostPorts; ++i) m.add_vfs(1);
  });
  refuses<S>(sync, "pfs", [](S& m) {
    for (int i = 0; i < kMostPorts; ++i) m.add_pfs(1);
  });
  using A = v1::AllocateGuidsRequest;
  const A allocate = to_message(test_allocate());
  refuses<A>(allocate, "node", [](A& m) { m.set_node(" "); });
  refuses<A>(allocate, "pf", [](A& m) { m.set_pf("ib0"); });
  refuses<A>(allocate, "vfs", [](A& m) { m.add_vfs(7); });
  refuses<A>(allocate, "vfs", [](A& m) { m.add_vfs(65536); });
  refuses<A>(allocate, "vfs", [](A& m) {
    for (uint32_t i = 0; i < kMostVfs; ++i) m.add_vfs(100 + i);
  });
}

TEST_CASE("messages: whatever is wrong in an Observe, a Plan or an Explain is refused") {
  using O = v1::ObserveRequest;
  const O observe = to_message(test_observe());
  refuses<O>(observe, "node", [](O& m) { m.clear_node(); });
  refuses<O>(observe, "stamp", [](O& m) { m.set_stamp(std::string(257, 's')); });
  refuses<O>(observe, "ports.guid", [](O& m) { m.mutable_ports(0)->set_guid(0); });
  refuses<O>(observe, "ports.guid", [](O& m) { *m.add_ports() = m.ports(0); });
  refuses<O>(observe, "ports.table", [](O& m) { m.mutable_ports(0)->add_table(65536); });
  refuses<O>(observe, "ports.table", [](O& m) {
    for (int i = 0; i < kMostTableEntries; ++i) m.mutable_ports(0)->add_table(0);
  });
  refuses<O>(observe, "ports.table", [](O& m) {
    for (uint64_t port = 1; port <= 1 + kMostReportedTableEntries / kMostTableEntries; ++port) {
      v1::PortTable& table = *m.add_ports();
      table.set_guid(test_guid(100).value() + port);
      for (int i = 0; i < kMostTableEntries; ++i) table.add_table(0);
    }
  });
  refuses<O>(observe, "ports", [](O& m) {
    for (int i = 0; i < kMostPorts; ++i) m.add_ports()->set_guid(test_guid(100).value());
  });
  using P = v1::PlanRequest;
  const P plan = to_message(test_plan());
  refuses<P>(plan, "without", [](P& m) { m.set_without("blue"); });
  refuses<P>(plan, "partition: name", [](P& m) { m.mutable_partition()->clear_name(); });
  refuses<P>(plan, "without", [](P& m) {
    m.clear_partition();
    m.clear_update();
    m.set_without("a b");
  });
  refuses<P>(plan, "update", [](P& m) {
    m.clear_partition();
    m.set_update(true);
  });
  using E = v1::ExplainFabricRequest;
  const E explain = to_message(test_explain());
  refuses<E>(explain, "subjects", [](E& m) { m.clear_subjects(); });
  refuses<E>(explain, "subjects", [](E& m) { m.add_subjects("a/b"); });
  for (const char* bad :
       {"pod", "a/", "/b", "A/b", "A/b/c", "*/b/c", "/b/c", "a//c", "a/b/c/d", ""})
    refuses<E>(explain, "subjects", [&](E& m) { m.set_subjects(0, bad); });
}

TEST_CASE("messages: whatever is wrong in a partition is refused, and named") {
  using M = v1::Partition;
  const auto wrong = [](const std::string& field, const std::function<void(M&)>& spoil) {
    CAPTURE(field);
    M message = to_message(test_partition());
    REQUIRE(read_partition(message));
    spoil(message);
    const auto read = read_partition(message);
    REQUIRE_FALSE(read);
    CHECK(read.error().code() == Code::invalid);
    CHECK(read.error().text().starts_with(field + ": "));
    CHECK(cleaned(read.error().text()) == read.error().text());
  };
  wrong("name", [](M& m) { m.clear_name(); });
  wrong("name", [](M& m) { m.set_name("Default"); });
  wrong("name", [](M& m) { m.set_name("a;b"); });
  for (const uint32_t pkey : {0x7fffu, 0x8001u, 0x10001u, UINT32_MAX})
    wrong("pkey", [&](M& m) { m.set_pkey(pkey); });
  wrong("membership", [](M& m) { m.set_membership("none"); });
  for (const uint32_t mtu : {0u, 6u, 4096u, 257u}) wrong("mtu", [&](M& m) { m.set_mtu(mtu); });
  for (const uint32_t rate : {0u, 1u, 23u, 258u}) wrong("rate", [&](M& m) { m.set_rate(rate); });
  for (const uint32_t sl : {16u, 256u}) wrong("sl", [&](M& m) { m.set_sl(sl); });
  for (const char* bad : {"A", "", "a.b", "-a", "\x1b[2J", "**", "/a", "a/", "A/b", "a/b/c"})
    wrong("allowed", [&](M& m) { m.add_allowed(bad); });
  for (const char* bad : {"A", "", "/a", "a/", "A/b", "a*/b", "a/b/c", "-a", "\x1b[2J", "**"})
    wrong("nodes", [&](M& m) { m.add_nodes(bad); });
  wrong("proof", [](M& m) { m.set_proof("other"); });
  wrong("proof", [](M& m) { m.set_proof("sa"); });
  wrong("members.guid", [](M& m) { m.mutable_members(0)->set_guid(0); });
  wrong("members.membership", [](M& m) { m.mutable_members(0)->clear_membership(); });
  wrong("members.comment", [](M& m) { m.mutable_members(0)->set_comment("\xff"); });
  wrong("members", [](M& m) { *m.add_members() = m.members(0); });
}

TEST_CASE("messages: a plan that takes a time which is no number is refused") {
  v1::PlanResponse message = test_plan_answer();
  REQUIRE(check_answer(message));
  for (const double seconds : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    message.set_seconds(seconds);
    CHECK(check_answer(message).error().text().starts_with("seconds: expected a number"));
  }
}

// An answer that is right, but for what `spoil` does to it.
template <typename Message>
void refuses_answer(const Message& right, const std::string& field,
                    const std::function<void(Message&)>& spoil) {
  CAPTURE(field);
  REQUIRE(check_answer(right));
  Message message = right;
  spoil(message);
  const Status checked = check_answer(message);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code() == Code::invalid);
  CHECK(checked.error().text().starts_with(field + ": "));
}

TEST_CASE("messages: whatever is wrong in an answer is refused, and named") {
  using O = v1::ObserveResponse;
  refuses_answer<O>(test_observe_answer(), "stamp", [](O& m) { m.set_stamp("a b"); });
  refuses_answer<O>(test_observe_answer(), "wanted", [](O& m) { m.add_wanted(0); });
  using A = v1::AllocateGuidsResponse;
  refuses<A>(to_message(test_allocated()), "guids.vf",
             [](A& m) { m.mutable_guids(0)->set_vf(65536); });
  refuses<A>(to_message(test_allocated()), "guids.guid",
             [](A& m) { m.mutable_guids(0)->set_guid(UINT64_MAX); });
  using N = v1::ListNodesResponse;
  refuses_answer<N>(test_nodes(), "nodes: name", [](N& m) { m.mutable_nodes(1)->clear_name(); });
}

TEST_CASE("messages: a refusal quotes no more than a line, and nothing that a terminal obeys") {
  const Error error = wrong("node", "\x1b" + std::string(500, 'x'), "a name");
  CHECK(error.text() == "node: expected a name, got \"?" + std::string(79, 'x') + "\"...");
  CHECK(wrong("node", "", "a name").text() == "node: expected a name, got nothing");
}

}  // namespace
}  // namespace ibpod::fabricapi
