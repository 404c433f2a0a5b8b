// ManagerWords: the parts of findings that depend on the owner of the subnet manager's
// configuration: its logs and files, and the keys of ibpod-sm's configuration that have an effect.
#pragma once

#include <string_view>

namespace ibpod::sm::diagnose {

// The owner of the subnet manager's configuration; a remedy depends on it.
enum class SmOwner {
  ours,      // ibpod-sm writes opensm.conf
  external,  // another program writes it; ibpod-sm writes only partitions.conf
  observed,  // ibpod-sm writes nothing
  ufm        // UFM writes it, and gets the partitions from ibpod-sm
};

// Each is a remedy, or the part of one that its comment names.
struct ManagerWords {
  std::string_view starting;       // it has not applied anything yet
  std::string_view fault;          // it does not serve
  std::string_view other_manager;  // there is another one
  std::string_view unknown_key;    // reason why ibpod-sm does not know a key
  std::string_view key_place;      // where the keys are set
  std::string_view own_key;        // before the name of the key's setting; empty: there is none
  std::string_view protection;     // the level of M_Key protection is too low
  std::string_view enforcement;    // a switch does not enforce partitions
  std::string_view default_rule;   // every port is a full member of the default partition
  std::string_view default_full;   // some ports are
  std::string_view both;           // a partition has members that are limited and full
};
const ManagerWords& words_of(SmOwner owner);

}  // namespace ibpod::sm::diagnose
