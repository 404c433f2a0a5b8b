// A modelled subnet: nodes with links between their ports, which answer management packets as
// agents of adapters and switches do, by LID and by directed route. It is asked one thing at a
// time.
#pragma once

#include "lib/mad/node_info.h"
#include "lib/mad/pkey_table.h"
#include "lib/mad/port_info.h"
#include "lib/mad/sm_info.h"
#include "lib/mad/smp.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ibpod {

struct FakeSubnetNode;

struct FakeLinkEnd {
  FakeSubnetNode* node = nullptr;
  uint8_t port = 0;
};

struct FakeSubnetPort {
  ib::Guid guid;  // of an adapter's
  mad::PortInfo info;
  ib::PKeyTable pkeys;  // as many as the port has places
  FakeLinkEnd peer;
  bool unplugged = false;
};

struct FakeSubnetNode {
  mad::NodeInfo info;
  std::string description;
  std::optional<mad::SwitchInfo> switch_info;  // of a switch
  std::optional<mad::SmInfo> manager;          // that runs at it
  std::map<uint8_t, FakeSubnetPort> ports;     // an adapter's from 1, a switch's from 0
  mad::MKey m_key = mad::MKey::none;
  uint8_t protection = 0;               // 2: a Get needs the M_Key, too
  bool silent = false;                  // answers nothing
  uint16_t refuses_with = 0;            // this status, whatever is asked
  std::optional<mad::Attribute> lacks;  // as if there were none such
  int questions = 0;                    // it has seen so many
  int silent_after = -1;                // silent from so many questions on
  bool invents = false;                 // reports another of its kind at each port that has no link
  // Asked before each answer; what it changes, the next answer shows.
  std::function<void(mad::Attribute)> before_answer;
};

class FakeSubnet {
 public:
  // An adapter with ports that have tables of so many places, the default partition in the first.
  // Its first port has the LID, the next one the next. Without links it answers by LID alone.
  FakeSubnetNode& add_adapter(ib::Lid lid, uint16_t partition_cap, uint8_t ports = 1);
  // A switch with external ports that have tables of so many places.
  FakeSubnetNode& add_switch(ib::Lid lid, uint8_t ports, uint16_t partition_cap);
  void connect(FakeLinkEnd one, FakeLinkEnd other);
  // The ends of the link are down, and an adapter is not reached by its LID.
  void unplug(FakeLinkEnd one);
  // Directed routes begin here; by default at the first port of the adapter that was added first.
  void start_from(FakeLinkEnd end) { start_ = end; }

  // By the LID that it had when it was added.
  FakeSubnetNode& at(ib::Lid lid) { return *nodes_.at(lid); }
  ib::Guid port_guid(ib::Lid lid) { return at(lid).ports.begin()->second.guid; }
  // Nothing: there is nobody, or it keeps silent.
  std::optional<mad::Mad> answer(const mad::Mad& question, const mad::Route& route);

 private:
  FakeSubnetNode& keep(ib::Lid lid, FakeSubnetNode node);
  FakeLinkEnd end_of(const mad::Route& route);
  FakeLinkEnd end_with(ib::Lid lid);
  FakeLinkEnd beyond(FakeLinkEnd end);
  FakeLinkEnd invented_behind(FakeLinkEnd end);
  std::map<ib::Lid, std::unique_ptr<FakeSubnetNode>> nodes_;
  std::vector<std::unique_ptr<FakeSubnetNode>> invented_;
  FakeLinkEnd start_;
};

}  // namespace ibpod
