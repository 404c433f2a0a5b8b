// Random changes of partitions, each planned, made, and compared with what the ports then hold.
#pragma once

#include "tests/fabric/sm/sm_fixture.h"

#include <random>
#include <string>
#include <vector>

namespace ibpod {

// One change of one partition, as ibpodctl asks for it.
struct PlannedChange {
  enum class Kind { create, update, remove };
  Kind kind = Kind::create;
  fabric::Partition partition;  // of one that is removed only the name
  std::string text;             // for messages: "update p3 index0"

  fabricapi::PlanRequest plan() const;
  // Empty: it is done.
  std::string make(const SmFixture& fixture) const;
};

class RandomChanges {
 public:
  RandomChanges(unsigned seed, bool both) : random_(seed), both_(both) {}
  // The next change of these partitions.
  PlannedChange next(const std::vector<fabric::PartitionStatus>& partitions);
  // Pods between two changes: a host comes into a partition, or leaves its own.
  void stir(SmFixture& fixture, const std::vector<fabric::PartitionStatus>& partitions);
  unsigned below(unsigned end) { return static_cast<unsigned>(random_() % end); }

 private:
  bool once_in(unsigned times) { return below(times) == 0; }
  fabric::Membership membership();
  void change(fabric::Partition& partition, std::string& text);
  void change_members(fabric::Partition& partition, std::string& text);

  std::mt19937 random_;
  bool both_;
};

// Returns when the desired keys are in the tables, and ibpod-sm has read all tables since.
void until_settled(SmFixture& fixture);

// The differences to the plan; empty: none.
std::string difference(const v1::PlanResponse& plan, const std::vector<ib::PKeyTable>& before,
                       const std::vector<ib::PKeyTable>& after);

}  // namespace ibpod
