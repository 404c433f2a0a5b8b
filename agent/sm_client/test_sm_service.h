// A modelled SM service behind a socket, a node's records, and a Link between them.
#pragma once

#include "agent/sm_client/sm_session.h"
#include "lib/fabricapi/test_fake_service.h"
#include "lib/rpc/server.h"
#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace ibpod::agent::sm_client {

// Every binding is verified at once, unless a test sets it otherwise. It knows blue, limited, and
// red, full.
class FakeSmService : public fabricapi::FakeService {
 public:
  using Name = fabric::Attachment;

  explicit FakeSmService(ib::Guid pool = ib::Guid(0x0200'0000'0000'0000)) : pool_(pool) {}

  // Binds are answered with what is written, until this is false.
  void hold_back(bool so) {
    const std::scoped_lock lock(mutex_);
    held_back_ = so;
  }
  // Verified is only what the node has told of its port's table.
  void accept_nodes_only() {
    const std::scoped_lock lock(mutex_);
    by_node_ = true;
  }
  void forget_all() {
    const std::scoped_lock lock(mutex_);
    bindings_.clear();
  }
  void has(const fabric::Binding& binding) {
    const std::scoped_lock lock(mutex_);
    bindings_[binding.attachment] = binding;
  }
  // From the next Sync on, and that happens during it.
  void set_lease(Duration lease, std::function<void()> meanwhile) {
    const std::scoped_lock lock(mutex_);
    lease_ = lease;
    meanwhile_ = std::move(meanwhile);
  }
  // "bind c1", "unbind c1", in the order in which they came.
  std::vector<std::string> received() const {
    const std::scoped_lock lock(mutex_);
    return received_;
  }
  std::optional<fabric::Binding> binding(const std::string& container) const {
    const std::scoped_lock lock(mutex_);
    const auto found = bindings_.find({"n1", container, "net1"});
    return found == bindings_.end() ? std::nullopt : std::optional(found->second);
  }
  size_t syncs() const {
    const std::scoped_lock lock(mutex_);
    return syncs_;
  }
  // Sets which ports of a Sync are unknown.
  void set_unknown(std::set<ib::Guid> ports) {
    const std::scoped_lock lock(mutex_);
    unknown_ = std::move(ports);
  }
  // The last Sync.
  fabricapi::SyncRequest synced() const {
    const std::scoped_lock lock(mutex_);
    return synced_;
  }
  std::vector<fabricapi::SyncRequest::AttachmentId> named() const {
    const std::scoped_lock lock(mutex_);
    return named_;
  }

  Reactor* Bind(Context* context, const v1::BindRequest* request, v1::Binding* response) override {
    return answer(context, request, response, [&]() -> Result<fabric::Binding> {
      const fabricapi::BindRequest asked = TRY(fabricapi::from_message(*request));
      return bind(asked);
    });
  }
  Reactor* Unbind(Context* context, const v1::UnbindRequest* request,
                  v1::Binding* response) override {
    return answer(context, request, response, [&]() -> Result<fabric::Binding> {
      fabric::Binding none;
      none.attachment = TRY(fabricapi::from_message(request->attachment()));
      none.state = fabric::BindingState::released;
      const std::scoped_lock lock(mutex_);
      received_.push_back("unbind " + none.attachment.container);
      bindings_.erase(none.attachment);
      return none;
    });
  }
  Reactor* Sync(Context* context, const v1::SyncRequest* request,
                v1::SyncResponse* response) override {
    return answer(context, request, response, [&]() -> Result<fabricapi::SyncAnswer> {
      const fabricapi::SyncRequest asked = TRY(fabricapi::from_message(*request));
      return sync(asked);
    });
  }
  // The first GUID of its pool, and the number of the VF.
  Reactor* AllocateGuids(Context* context, const v1::AllocateGuidsRequest* request,
                         v1::AllocateGuidsResponse* response) override {
    return answer(context, request, response,
                  [&]() -> Result<std::vector<fabricapi::AllocatedGuid>> {
                    const std::scoped_lock lock(mutex_);
                    received_.push_back("guid of " + request->pf());
                    std::vector<fabricapi::AllocatedGuid> given;
                    for (const uint32_t vf : request->vfs())
                      given.push_back({vf, ib::Guid(pool_.value() + vf)});
                    return given;
                  });
  }
  Reactor* Observe(Context* context, const v1::ObserveRequest* request,
                   v1::ObserveResponse* response) override {
    return answer(context, request, response, [&]() -> Result<v1::ObserveResponse> {
      const fabricapi::ObserveRequest asked = TRY(fabricapi::from_message(*request));
      return observe(asked);
    });
  }

 private:
  std::function<void()> meanwhile() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(meanwhile_, {});
  }
  fabricapi::SyncAnswer sync(fabricapi::SyncRequest asked) {
    fabricapi::SyncAnswer answer;
    if (const auto happens = meanwhile()) happens();
    const std::scoped_lock lock(mutex_);
    answer.lease = lease_;
    named_ = asked.attachments;
    synced_ = asked;
    for (const auto* const ports : {&asked.vfs, &asked.pfs})
      for (const ib::Guid port : *ports)
        if (unknown_.contains(port)) answer.unknown.push_back(port);
    ++syncs_;
    for (const auto& [name, binding] : bindings_) {
      const bool known = std::erase(asked.attachments, fabricapi::SyncRequest::AttachmentId{
                                                           name.container, name.interface}) != 0;
      (known ? answer.bindings : answer.not_named).push_back(binding);
    }
    answer.not_bound = asked.attachments;
    return answer;
  }
  v1::ObserveResponse observe(const fabricapi::ObserveRequest& asked) {
    v1::ObserveResponse answer;
    answer.set_stamp("stamp");
    const std::scoped_lock lock(mutex_);
    for (auto& [name, binding] : bindings_) {
      const bool seen =
          asked.stamp == "stamp" &&
          std::any_of(asked.ports.begin(), asked.ports.end(), [&](const auto& port) {
            return port.guid == binding.guid && ib::find_in(port.table, binding.keys.front());
          });
      if (seen) binding.state = fabric::BindingState::verified;
      if (binding.state != fabric::BindingState::verified) answer.add_wanted(binding.guid.value());
    }
    return answer;
  }
  Result<fabric::Binding> bind(const fabricapi::BindRequest& asked) {
    const std::scoped_lock lock(mutex_);
    received_.push_back("bind " + asked.attachment.container);
    fabric::Binding binding;
    binding.attachment = asked.attachment;
    binding.guid = asked.guid;
    binding.guid_requested = asked.guid_requested;
    binding.pf = asked.pf;
    binding.device = asked.device;
    binding.pod = asked.pod;
    for (const auto& [name, value] : {std::pair{"blue", 0x0001}, std::pair{"red", 0x8002}}) {
      const ib::PKey key(static_cast<uint16_t>(value));
      const bool wished =
          std::any_of(asked.partitions.begin(), asked.partitions.end(), [&](const auto& wish) {
            return wish.pkey ? wish.pkey->same_partition(key) : wish.partition == name;
          });
      if (!wished) continue;
      binding.desired.push_back({name, fabric::Membership::limited});
      binding.keys.push_back(key);
    }
    if (binding.desired.size() < asked.partitions.size())
      return Error(Code::denied, "not for namespace " + asked.pod.name_space);
    const auto present = bindings_.find(asked.attachment);
    const bool was =
        present != bindings_.end() && present->second.state == fabric::BindingState::verified;
    const bool waits = held_back_ || (by_node_ && !was);
    binding.state = waits ? fabric::BindingState::written : fabric::BindingState::verified;
    binding.proof = by_node_ ? fabric::Proof::node : fabric::Proof::port;
    bindings_[asked.attachment] = binding;
    return binding;
  }

  mutable std::mutex mutex_;
  std::map<Name, fabric::Binding> bindings_;
  std::vector<fabricapi::SyncRequest::AttachmentId> named_;
  std::vector<std::string> received_;
  std::set<ib::Guid> unknown_;
  fabricapi::SyncRequest synced_;
  size_t syncs_ = 0;
  Duration lease_{300};
  std::function<void()> meanwhile_;
  bool held_back_ = false, by_node_ = false;
  const ib::Guid pool_;
};

inline node::Record test_record(const std::string& container,
                                const std::vector<node::PartitionRequest>& partitions) {
  node::Record record;
  record.plugin = "ib-sriov";
  record.container_id = container;
  record.ifname = "net1";
  record.pod = {"lab", "trainer-0", "6f1c"};
  record.device = ib::PciAddress::parse("0000:3b:00.2").value();
  record.spec.guids = node::Guids{ib::Guid(0x0200000000000a01), ib::Guid(0x0200000000000a01)};
  record.spec.partitions = partitions;
  return record;
}

struct SmSessionFixture {
  TempFolder folder;
  Path socket = folder.path() / "sm.sock";
  node::Records records{folder.path()};
  FakeSmService service;
  std::unique_ptr<rpc::Server> server;
  ib::PKeyTable table;  // of every port of the node
  std::mutex mutex;
  SmStatus sm_status;  // the latest
  std::unique_ptr<SmSession> session;

  SmSessionFixture() {
    REQUIRE(records.make_folder());
    serve();
    session = std::make_unique<SmSession>(fabricapi::Client::over_unix(socket), deps());
  }
  SmSessionDeps deps() {
    return {records, "n1",
            [](const ib::PciAddress&) -> Result<PfIdentity> {
              return PfIdentity{"ib0", ib::Guid(0x10)};
            },
            [this](const std::vector<ib::Guid>& ports) {
              const std::scoped_lock lock(mutex);
              std::vector<fabricapi::ObserveRequest::PortTable> seen;
              for (const ib::Guid port : ports) seen.push_back({port, table});
              return seen;
            },
            [this](const SmStatus& result) {
              const std::scoped_lock lock(mutex);
              sm_status = result;
            }};
  }
  void serve() { server = rpc::Server::serve(socket, {&service}).value(); }
  void leave() { server.reset(); }
  SmStatus now() {
    const std::scoped_lock lock(mutex);
    return sm_status;
  }
  void attach(const std::string& container, const std::vector<node::PartitionRequest>& partitions) {
    REQUIRE(records.write(test_record(container, partitions)));
  }
  // As a plugin writes it down before it takes anything back. What is only unbound, the next Sync
  // binds again.
  void begin_end(node::Record record) {
    record.stage = node::Stage::ending;
    REQUIRE(records.write(record));
  }
  Result<nodeapi::Binding> bind(const std::string& container,
                                nodeapi::Node::Wait wait = nodeapi::Node::Wait::verified,
                                Duration timeout = Duration(20'000)) const {
    return session->bind({container, "net1", ""}, wait, Deadline::in(timeout));
  }
  Result<nodeapi::Binding> unbind(const std::string& container,
                                  Duration timeout = Duration(20'000)) const {
    return session->unbind({container, "net1", ""}, Deadline::in(timeout));
  }
};

}  // namespace ibpod::agent::sm_client
