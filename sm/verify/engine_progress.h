// EngineProgress: which version of the partitions the subnet manager had put in place, and which a
// sweep had applied, at each time; and whether tables prove anything, and may be repaired.
#pragma once

#include "sm/engine/subnet_manager.h"
#include "sm/verify/version_history.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ibpod::sm::verify {

// The versions that were in force when a table was read.
struct ForcedVersions {
  uint64_t applied = 0;  // in place: EngineStatus::placed
  uint64_t swept = 0;    // the last one that a sweep had applied
  bool operator==(const ForcedVersions&) const = default;
};

class EngineProgress {
 public:
  using Time = VersionHistory::Time;

  // `epoch`: unique to this process; part of the stamps.
  explicit EngineProgress(const std::string& epoch) : applied_(epoch), swept_(epoch) {}

  struct Change {
    bool tables_lost = false;  // other partitions may have been in force: nothing is verified
    bool has_swept = false;    // a sweep has applied a newer version
    bool first_sweep = false;  // earlier readings may be of another subnet manager
  };
  // Read `now` after `status`: a table that was read earlier may be of an older version. Earlier
  // readings and stamps count for nothing after other partitions may have been in force, an edit by
  // hand, and a return to an older version.
  Change update(const engine::EngineStatus& status, const engine::Capabilities& capabilities,
                Time now);
  // The health, which may change without an update().
  void set_health(engine::Health health) { health_ = health; }

  // The newest versions; 0: none.
  uint64_t applied() const { return applied_.newest(); }
  uint64_t swept() const { return swept_.newest(); }
  // 0: none, or not known.
  ForcedVersions at(Time time) const { return {applied_.at(time), swept_.at(time)}; }
  // The name of the present versions. A node reads its tables after it has received the stamp, and
  // returns it with the report.
  std::string stamp() const { return applied_.stamp() + "/" + swept_.stamp(); }
  // The versions when the stamp was made; 0 if it is not from this object, or out of date.
  ForcedVersions at(std::string_view stamp) const;

  // False before anything of ours is in force: tables may be another subnet manager's.
  bool tables_prove_something() const;
  // False if the tables are another subnet manager's, or only the subnet manager may write them.
  bool may_repair() const;
  const engine::Capabilities& capabilities() const { return capabilities_; }

 private:
  uint64_t losses_ = 0;     // times that tables were lost
  uint64_t rollbacks_ = 0;  // times that the subnet manager returned to an older version
  engine::Capabilities capabilities_;
  engine::Health health_ = engine::Health::starting;
  VersionHistory applied_, swept_;
};

}  // namespace ibpod::sm::verify
