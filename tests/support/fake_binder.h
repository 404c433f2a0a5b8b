// FakeBinder: the cluster's SM service as the plugins see it through their node's agent: it puts
// ports into partitions and removes them. It reads what to bind from the record, as the agent does.
#pragma once

#include "lib/node/records.h"
#include "lib/nodeapi/node.h"
#include "tests/support/fake_kernel.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ibpod::fake {

class FakeBinder {
 public:
  using Name = nodeapi::AttachmentName;
  using Binding = nodeapi::Binding;

  FakeBinder(FakeKernel& kernel, const Path& state) : kernel_(kernel), records_(state) {}

  std::map<std::string, ib::PKey> partitions{{"blue", ib::PKey(0x8001)}, {"red", ib::PKey(0x8002)}};
  std::optional<Error> away;                // what every question is answered with
  bool stuck = false;                       // no port's table changes
  bool silent = false;                      // the SM service has not answered yet
  std::set<ib::Guid> taken;                 // GUIDs that nobody may choose
  std::string proof = "port";               // of what is verified
  std::function<void()> meanwhile = [] {};  // happens while an Unbind is answered
  int calls = 0;
  // The process that asks is killed by its n-th question, before or after the effect.
  std::optional<int> kill_at;
  bool kill_after = false;

  Result<Binding> bind(const Name& name, nodeapi::Node::Wait wait) {
    return within_reach([&]() -> Result<Binding> {
      const Result<node::Record> record = recorded(name);
      if (!record) return record.error();
      if (record->stage != node::Stage::attached) return Error(Code::invalid, "its end has begun");
      std::vector<ib::PKey> keys;
      for (const node::PartitionRequest& request : record->spec.partitions) {
        const auto known = std::find_if(partitions.begin(), partitions.end(), [&](const auto& one) {
          return request.pkey ? request.pkey->same_partition(one.second)
                              : request.name == one.first;
        });
        if (known == partitions.end())
          return Error(Code::denied, "partition " + request.label() + " is not for this namespace");
        keys.push_back(known->second);
      }
      const ib::Guid port = node::port_of(*record);
      if (silent) return Binding{"requested", "waiting", "no answer yet", {}, "", ""};
      if (taken.contains(port)) return Error(Code::denied, port.text() + " cannot be chosen");
      bound_[{name.container_id, name.ifname, ""}] = port;
      ib::PKeyTable table = keys;
      table.emplace_back(0x7fff);
      ib::PKeyTable& now = kernel_.fabric.pkeys[port];
      if (!stuck && wait == nodeapi::Node::Wait::verified) now = table;
      if (now != table)
        return Binding{"written", "waiting", "the subnet manager has not swept yet", {}, "",
                       "",        true};
      return Binding{"verified", "none", "", keys, proof, "hca", true};
    });
  }

  Result<Binding> unbind(const Name& name) {
    return within_reach([&]() -> Result<Binding> {
      const auto found = bound_.find({name.container_id, name.ifname, ""});
      if (found != bound_.end() && stuck)
        return Binding{"releasing", "timeout", "the port does not answer", {}, "", ""};
      if (found != bound_.end()) kernel_.fabric.pkeys[found->second] = {ib::PKey(0x7fff)};
      if (found != bound_.end()) bound_.erase(found);
      meanwhile();
      return Binding{"released", "none", "", {}, "", ""};
    });
  }

  // A line for each.
  std::string leftovers() const {
    std::string text;
    for (const auto& [name, guid] : bound_)
      text += "+ binding " + name.container_id + ":" + name.ifname + "\n";
    return text;
  }

 private:
  Result<node::Record> recorded(const Name& name) const {
    const auto names = records_.of_attachment(name.container_id, name.ifname);
    if (!names) return names.error();
    if (names->empty()) return Error(Code::unavailable, "no record of " + name.container_id);
    Result<node::Record> record = records_.read(names->front());
    if (record && record->attempt != name.attempt) return Error(Code::unavailable, "another one");
    return record;
  }
  template <typename Work>
  Result<Binding> within_reach(Work work) {
    const bool killed = kill_at == calls++;
    if (killed && !kill_after) throw Killed();
    if (away) return *away;
    Result<Binding> done = work();
    if (killed) throw Killed();
    return done;
  }

  FakeKernel& kernel_;
  node::Records records_;
  std::map<Name, ib::Guid> bound_;
};

}  // namespace ibpod::fake
