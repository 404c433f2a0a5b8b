// Random requests, sweeps, observations, failures and restarts, against a model of the ports' own
// tables: no port is ever in a partition without a membership.
#include "tests/support/registry_fixture.h"

#include <algorithm>
#include <random>

namespace ibpod::sm::bindings {
namespace {

using namespace test;

using Keys = std::set<uint16_t>;
using Partitions = std::shared_ptr<const std::vector<fabric::PartitionDefinition>>;

void add(Keys& keys, ib::PKey pkey, Membership membership) {
  if (membership != kFull) keys.insert(pkey.partition());
  if (membership != kLimited) keys.insert(static_cast<uint16_t>(pkey.partition() | 0x8000));
}

// All tables as a subnet manager writes them.
std::map<ib::Guid, Keys> tables_of(const std::vector<fabric::PartitionDefinition>& definitions) {
  std::map<ib::Guid, Keys> tables;
  for (const fabric::PartitionDefinition& definition : definitions)
    for (const fabric::Member& member : definition.members)
      if (!member.port.group()) add(tables[member.port.guid()], definition.pkey, member.membership);
  return tables;
}

// An observation of a port, which may be reported much later.
struct Look {
  ib::Guid guid;
  uint64_t version;
  Proof proof;
};

struct Promise {
  ib::Guid guid;
  Memberships shares;
  bool operator==(const Promise&) const = default;
};
using Promises = std::map<fabric::Attachment, Promise>;

const std::vector<std::string> kPartitions{"blue", "red", "green", "auto"};
constexpr size_t kMostOfNode = 3, kMostOfAll = 6;
const ib::Guid kChoices[] = {vf(0x2000), vf(0x2001)};  // GUIDs for pods to request

class World {
 public:
  explicit World(uint32_t seed) : random_(seed), bed_(partitions(), rules()) { commit(); }

  void step() {
    switch (pick(16)) {
      case 0:
        return partition();
      case 1:
      case 2:
      case 3:
      case 4:
        return bind();
      case 5:
      case 6:
        return unbind();
      case 7:
        return sync();
      case 8:
        return expire();
      case 9:
        return allocate();
      case 10:
        return rarely(20, [&] { forget(); });
      case 11:
        return sweep();
      case 12:
        return look();
      case 13:
        return tell();
      case 14:
        return rarely(4, [&] { restart(); });
      default:
        return trouble();
    }
  }

  // The store either keeps all staged changes, or fails.
  void commit() {
    if (pick(12) == 0) bed_.store.fail_at(0, static_cast<FakeStore::Failure>(pick(3)));
    const size_t at = bed_.store.commits();
    const Status done = bed_.registry->journal.commit(bed_.now).status;
    bed_.store.fail_no_more();
    if (done) {
      promised_ = wanted_;
    } else {
      REQUIRE(bed_.store.commits() == at + 1);
      // No caller got a success, but the changes may be in the store.
      promised_ = wanted_ = found();
    }
    check();
    engine_ = bed_.registry->partitions.view().definitions();
    engine_version_ = bed_.registry->journal.version();
  }

  // All ports answer, and there are no requests.
  void come_to_rest() {
    down_.clear();
    looks_.clear();
    for (int i = 0; i < 6; ++i) {
      bed_.commit();
      engine_ = bed_.registry->partitions.view().definitions();
      engine_version_ = bed_.registry->journal.version();
      sweep();
      bed_.registry->partitions.note_swept(swept_);
      const std::set<ib::Guid> unsettled = bed_.registry->bindings.unsettled();
      for (const ib::Guid guid : unsettled) {
        looks_.clear();
        look_at(guid, Proof::port);
        REQUIRE(looks_.size() == 1);
        tell();
      }
    }
    bed_.commit();
    promised_ = wanted_ = found();
    check();
    CHECK(bed_.registry->bindings.unsettled().empty());
    for (const fabric::Binding& binding : all()) {
      CHECK((binding.state == BindingState::verified || binding.condition.reason == Reason::lease));
      CHECK(binding.applied == binding.desired);
      CHECK_FALSE(bed_.registry->nodes.find(binding.attachment.node)->forgetting());
    }
    for (const auto& status : bed_.registry->partitions.view().list({}).value().items)
      CHECK(status.state != PartitionState::deleting);
  }

  size_t bound = 0, refused = 0, too_many = 0, verified = 0, stale = 0, released = 0;

 private:
  static std::vector<Partition> partitions() {
    return {make_partition("blue", 0x100), make_partition("red", 0x101), make_partition("auto", 0)};
  }
  static Policy rules() {
    Policy rules = policy();
    rules.pkeys = pool::PKeyPool::make({{0x10, 0x11, pool::RangeUse::automatic},
                                        {0x100, 0x101, pool::RangeUse::by_request}})
                      .value();
    rules.guids =
        pool::GuidPool::make({{vf(0x1000), vf(0x1007)}, {kChoices[0], kChoices[1], {"*"}}}).value();
    rules.lease = std::chrono::seconds(60);
    rules.pfs_by_first_claim = true;
    rules.limits.memberships_of_node = kMostOfNode;
    rules.limits.memberships = kMostOfAll;
    return rules;
  }

  size_t pick(size_t below) { return std::uniform_int_distribution<size_t>(0, below - 1)(random_); }
  template <typename Body>
  void rarely(size_t one_in, const Body& body) {
    if (pick(one_in) == 0) body();
  }
  static bool is_for_choice(ib::Guid guid) { return guid == kChoices[0] || guid == kChoices[1]; }
  std::string any_node() { return "n" + std::to_string(1 + pick(3)); }
  Membership any_membership() { return static_cast<Membership>(pick(3)); }
  ib::Guid any_guid() {
    const std::vector<ib::Guid> guids{vf(1),  vf(2),      vf(11),     vf(21),      pf(1),
                                      pf(2),  vf(0x1000), vf(0x1001), vf(0x1002),  pf(11),
                                      pf(12), storage(1), storage(2), kChoices[0], kChoices[1]};
    return guids[pick(guids.size())];
  }
  // A GUID that the node may usually bind.
  ib::Guid any_guid_of(const std::string& node) {
    const auto number = static_cast<uint64_t>(node.back() - '0');
    if (pick(4) == 0) return any_guid();
    return pick(2) == 0 ? pf(number) : vf((number - 1) * 10 + 1 + pick(3));
  }

  void partition() {
    Partition partition = test::make_partition(kPartitions[pick(kPartitions.size())], 0);
    const size_t what = pick(4);
    if (what == 0 && pick(3) == 0)
      return (void)bed_.registry->partitions.remove(partition.name);  // or refused
    if (partition.name != "auto") partition.pkey = ib::PKey(static_cast<uint16_t>(0x100 + pick(2)));
    partition.index0 = pick(4) == 0;
    partition.membership = any_membership();
    if (pick(4) == 0) partition.proof = Proof::port;
    if (pick(4) == 0) partition.nodes = {pick(2) == 0 ? "n1" : "n*"};
    for (uint64_t i = 1; i <= 2; ++i)
      if (pick(4) == 0) partition.members.push_back({storage(i), any_membership(), ""});
    if (pick(8) == 0) partition.members.push_back({pf(1), any_membership(), ""});
    if (pick(8) == 0) partition.members.push_back({kChoices[1], any_membership(), ""});
    if (bed_.registry->partitions.create(partition)) return;
    partition.pkey.reset();
    (void)bed_.registry->partitions.update(partition, bed_.now);  // or refused
  }

  void bind() {
    const std::string node = any_node();
    const std::string container(1, static_cast<char>('a' + pick(4)));
    const auto present = wanted_.find({node, container, "net1"});
    const bool again = present != wanted_.end() && pick(8) != 0;
    const ib::Guid guid = again ? present->second.guid : any_guid_of(node);
    const bool of_pf = guid.value() >> 56 == 0;
    BindRequest asked = request(node, container, guid, {});
    if (of_pf) asked.kind = fabric::Kind::child;
    asked.guid_requested = !of_pf && pick(10) < (is_for_choice(guid) ? 9 : 1);
    for (const std::string& name : kPartitions)
      if (pick(3) == 0)
        asked.partitions.push_back({name, pick(10) == 0 ? any_membership() : kLimited});
    const auto answer = bed_.try_bind(asked);
    ++(answer ? bound : refused);
    if (!answer && answer.error().text().find("memberships") != std::string::npos) ++too_many;
    if (!answer) return;
    check_node(asked, present == wanted_.end() ? Memberships{} : present->second.shares,
               answer->desired);
    if (!again) REQUIRE(asked.guid_requested == is_for_choice(guid));
    for (const auto& [attachment, promise] : wanted_) {
      if (promise.guid != guid || attachment == asked.attachment) continue;
      REQUIRE(of_pf);
      REQUIRE(attachment.node == node);
    }
    wanted_[asked.attachment] = {guid, answer->desired};
  }

  // New memberships must be in partitions that allow the node.
  void check_node(const BindRequest& asked, const Memberships& before,
                  const Memberships& after) const {
    for (const fabric::PartitionMembership& membership : state::only_in_first(after, before)) {
      const Partition partition = bed_.registry->partitions.view().find(membership.partition)->spec;
      REQUIRE(fabric::allows_node(partition, asked.attachment.node));
    }
  }

  void unbind() {
    const std::vector<fabric::Binding> there = all();
    if (there.empty()) return;
    const fabric::Attachment attachment = there[pick(there.size())].attachment;
    REQUIRE(bed_.registry->bindings.unbind(attachment, bed_.now));
    wanted_.erase(attachment);
  }

  // Drops the bindings that were forgotten, not named, or expired.
  void drop_released() {
    const Promises there = found();
    for (auto at = wanted_.begin(); at != wanted_.end();)
      at = there.contains(at->first) ? std::next(at) : wanted_.erase(at);
  }

  void sync() {
    fabricapi::SyncRequest request{any_node(), {}};
    for (const fabric::Binding& binding : all())
      if (binding.attachment.node == request.node && pick(8) != 0)
        request.attachments.push_back({binding.attachment.container, "net1"});
    REQUIRE(bed_.registry->nodes.sync(request, bed_.now));
    drop_released();
  }

  void expire() {
    bed_.advance(std::chrono::seconds(pick(15)));
    REQUIRE(bed_.registry->bindings.expire(bed_.now));
    drop_released();
  }

  void allocate() {
    const std::string name = any_node();
    (void)bed_.registry->nodes.allocate({name, "0000:01:00.0", {0, 1}});  // or no GUID is free
  }

  void forget() {
    (void)bed_.registry->nodes.forget({any_node(), true},
                                      bed_.now);  // or the node is unknown
    drop_released();
  }

  // The subnet manager writes the last definitions to all ports that it reaches.
  void sweep() {
    if (!engine_) return;
    std::map<ib::Guid, Keys> next = tables_of(*engine_);
    for (auto& [guid, keys] : tables_)
      if (!down_.contains(guid)) keys.clear();
    for (auto& [guid, keys] : next)
      if (!down_.contains(guid)) tables_[guid] = std::move(keys);
    swept_ = engine_version_;
    in_force_ = tables_of(*engine_);
    bed_.registry->bindings.note_written(engine_version_, bed_.now);
    bed_.registry->partitions.note_swept(swept_);
  }

  void look() { look_at(any_guid(), pick(3) == 0 ? Proof::node : Proof::port); }
  void look_at(ib::Guid guid, Proof proof) {
    if (down_.contains(guid) || tables_[guid] != in_force_[guid]) return;
    looks_.push_back({guid, swept_, proof});
  }

  void tell() {
    if (looks_.empty()) return;
    const size_t which = pick(looks_.size());
    const Look look = looks_[which];
    looks_.erase(looks_.begin() + static_cast<ptrdiff_t>(which));
    const size_t before = bed_.registry->journal.records().bindings.size();
    const bool meant = pick(3) == 0 ? bed_.registry->bindings.note_clean(look.guid, look.version,
                                                                         look.proof, bed_.now)
                                    : bed_.registry->bindings.note_verified(
                                          look.guid, look.version, look.proof, {}, bed_.now);
    ++(meant ? verified : stale);
    released += before - bed_.registry->journal.records().bindings.size();
  }

  void trouble() {
    const ib::Guid guid = any_guid();
    if (pick(2) == 0)
      down_.insert(guid);
    else
      down_.erase(guid);
    bed_.registry->bindings.set_condition(guid, {Reason::timeout, ""}, bed_.now);
  }

  // Starts another process: uncommitted changes and observations are lost.
  void restart() {
    bed_.start();
    looks_.clear();
    engine_ = bed_.registry->partitions.view().definitions();
    engine_version_ = bed_.registry->journal.version();
    swept_ = 0;
    wanted_ = promised_;
  }

  std::vector<fabric::Binding> all() const {
    return bed_.registry->bindings.list({}, {}).value().items;
  }
  Promises found() const {
    Promises found;
    for (const fabric::Binding& binding : all())
      if (binding.state != BindingState::releasing)
        found[binding.attachment] = {binding.guid, binding.desired};
    return found;
  }

  void check() {
    REQUIRE(found() == promised_);
    check_tables();
    check_told();
    check_guids();
    check_sizes();
  }

  // Checks the limits of memberships, which bound partitions.conf.
  void check_sizes() const {
    std::set<std::pair<ib::Guid, std::string>> memberships;
    std::map<std::string, size_t> of_node;
    for (const fabric::Binding& binding : all()) {
      if (binding.state == BindingState::releasing) continue;
      for (const fabric::PartitionMembership& membership : binding.desired)
        if (memberships.emplace(binding.guid, membership.partition).second)
          ++of_node[binding.attachment.node];
    }
    REQUIRE(memberships.size() <= kMostOfAll);
    for (const auto& [node, count] : of_node) REQUIRE(count <= kMostOfNode);
  }

  // A static member's key is pending removal if its partition is deleted, but not if its membership
  // changes.
  void add_static(ib::Guid guid, Keys& known) const {
    const auto partitions = bed_.registry->partitions.view().list({}).value().items;
    for (const fabric::PartitionStatus& status : partitions)
      for (const fabric::StaticMember& member : status.spec.members)
        if (member.guid == guid) add(known, *status.spec.pkey, kBoth);
  }
  // Every key of a port is either desired or pending removal.
  void check_tables() {
    const verify::DesiredKeys desired = desired_keys(*bed_.registry);
    for (const auto& [guid, keys] : tables_) {
      const ExpectedTable expected = expected_table(*bed_.registry, guid, desired);
      Keys known;
      for (const ib::PKey key : expected.keys) known.insert(key.value());
      for (const ib::PKey key : expected.pending_removal) known.insert(key.value());
      add_static(guid, known);
      for (const uint16_t key : keys) {
        CAPTURE(guid.text());
        CAPTURE(ib::PKey(key).text());
        REQUIRE(known.contains(key));
      }
      // A new key waits until the removed one is gone.
      for (const fabric::Binding* const on_port : bed_.registry->bindings.bindings_on(guid)) {
        const fabric::Binding& binding = *on_port;
        if (binding.kind != fabric::Kind::vf || binding.state == BindingState::releasing) continue;
        for (const fabric::PartitionMembership& membership : binding.desired) {
          if (state::contains(binding.applied, membership)) continue;
          Keys gained;
          add(gained, *bed_.registry->partitions.view().find(membership.partition)->spec.pkey,
              membership.membership);
          for (const ib::PKey key : expected.pending_removal) gained.erase(key.value());
          for (const uint16_t key : gained) REQUIRE_FALSE(keys.contains(key));
        }
      }
    }
  }

  bool is_in(ib::Guid guid, const fabric::PartitionMembership& membership) const {
    for (const fabric::Binding* const binding : bed_.registry->bindings.bindings_on(guid))
      if (binding->state != BindingState::releasing &&
          state::contains(binding->applied, membership))
        return true;
    const Partition partition = bed_.registry->partitions.view().find(membership.partition)->spec;
    for (const fabric::StaticMember& member : partition.members)
      if (member.guid == guid && member.membership == membership.membership) return true;
    return false;
  }
  // The definitions have no port without a membership.
  void check_told() {
    const auto definitions = bed_.registry->partitions.view().definitions();
    for (const fabric::PartitionDefinition& definition : *definitions)
      for (const fabric::Member& member : definition.members)
        if (!member.port.group())
          REQUIRE(is_in(member.port.guid(), {definition.name, member.membership}));
    const verify::DesiredKeys desired = desired_keys(*bed_.registry);
    for (const auto& [guid, keys] : tables_of(*definitions)) {
      Keys expected;
      for (const ib::PKey key : expected_table(*bed_.registry, guid, desired).keys)
        expected.insert(key.value());
      REQUIRE(keys == expected);
    }
  }

  void check_guids() const {
    std::map<ib::Guid, fabric::Binding> seen;
    for (const fabric::Binding& binding : all()) {
      const auto [other, first] = seen.emplace(binding.guid, binding);
      if (first) continue;
      REQUIRE(binding.kind == fabric::Kind::child);
      REQUIRE(other->second.kind == fabric::Kind::child);
      REQUIRE(other->second.attachment.node == binding.attachment.node);
    }
  }

  std::mt19937 random_;
  Fixture bed_;
  Promises wanted_, promised_;  // with staged changes, and without
  std::map<ib::Guid, Keys> tables_, in_force_;
  std::set<ib::Guid> down_;
  std::vector<Look> looks_;
  Partitions engine_;
  uint64_t engine_version_ = 0, swept_ = 0;
};

TEST_CASE("after any requests and events, no port has a key without a membership") {
  size_t bound = 0, refused = 0, too_many = 0, verified = 0, stale = 0, released = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    World world(seed);
    for (int i = 0; i < 400; ++i) {
      world.step();
      if (i % 3 == 0) world.commit();
    }
    world.commit();
    world.come_to_rest();
    bound += world.bound;
    refused += world.refused;
    too_many += world.too_many;
    verified += world.verified;
    stale += world.stale;
    released += world.released;
  }
  // The run has covered all of this.
  CHECK(bound > 400);
  CHECK(refused > 1000);
  CHECK(too_many > 20);
  CHECK(verified > 100);
  CHECK(stale > 100);
  CHECK(released > 100);
  MESSAGE(bound << " bound, " << refused << " refused (" << too_many << " of them one too many), "
                << verified << " looks, " << stale << " stale ones, " << released << " released");
}

}  // namespace
}  // namespace ibpod::sm::bindings
