// EngineFinding: a fault that an engine has found at its subnet manager, for `ibpodctl doctor`.
#pragma once

#include <cstddef>
#include <string>

namespace ibpod::sm::engine {

struct EngineFinding {
  // Each comment says what is counted.
  enum class Kind {
    release,         // 1 if the subnet manager's release is too old, or not known
    no_right,        // calls that the subnet manager denies to ibpod-sm's user
    default_full,    // 1 if the subnet manager makes ports full members of the default partition
    per_port_m_key,  // 1 if each port has an M_Key that only the subnet manager knows
    no_port,         // 1 if the subnet manager knows no port
    unread_setting,  // settings that the subnet manager does not show, so that they are not checked
    foreign_member,  // members of our partitions that another client has put there
    unwritten_pkey,  // P_Keys that are not written: another client's, or in no range any more
    other_ipoib,     // partitions with IPoIB although that is not desired, or without it
    widened,         // limited members that the subnet manager has made full, as last seen
    unconfined_vf,   // VFs whose GUID the subnet manager accepts behind any port, despite the
                     // setting
  };
  Kind kind = Kind::release;
  size_t count = 1;
  std::string subject;  // "UFM"
  std::string text;     // the fault and its consequence for tenants
  std::string remedy;
  bool operator==(const EngineFinding&) const = default;
};
inline constexpr EngineFinding::Kind kLastEngineFinding = EngineFinding::Kind::unconfined_vf;

}  // namespace ibpod::sm::engine
