#include "sm/diagnose/checks.h"

#include <array>

namespace ibpod::sm::diagnose {
namespace {

struct Key {
  std::string name;
  std::string setting;  // in ibpod-sm's configuration
  std::optional<bool> ours;
  std::string default_value;
  std::string meaning;
};

void check_key(const Key& key, const ManagerWords& words, HealthChecks& checks) {
  if (key.ours == true) return;
  const std::string remedy =
      "write 0x and 16 random hex digits into a file that only root can read (openssl rand -hex 8 "
      "prints the digits), name it as " +
      key.setting +
      " in ibpod-sm's configuration, and restart ibpod-sm: it restarts OpenSM with the key";
  if (key.ours)
    return add(
        checks, Issue::keys, 1,
        {key.name, "is OpenSM's default (" + key.default_value + "): " + key.meaning, remedy});
  add(checks, Issue::keys, 1,
      {key.name,
       "is not known to ibpod-sm, " + std::string(words.unknown_key) + ". If it is the default (" +
           key.default_value + "): " + key.meaning,
       "check " + key.name + " in " + std::string(words.key_place) +
           (words.own_key.empty() ? "" : std::string(words.own_key) + key.setting)});
}

// ibpod-sm's own keys have no effect if another program writes the subnet manager's configuration.
std::string protection_remedy(const SmSettings& settings) {
  if (settings.owner == SmOwner::ours && settings.m_key_protection > 1)
    return "wait: the configuration has level " + std::to_string(settings.m_key_protection) +
           ", and OpenSM sets it at its next heavy sweep. A port that stays so has another M_Key: "
           "reset its adapter";
  return std::string(words_of(settings.owner).protection);
}

}  // namespace

void check_keys(const SmSettings& settings, HealthChecks& checks) {
  const std::array<Key, 3> keys{{
      {"m_key", "opensm.mKeyFile", settings.m_key, "0, which protects nothing",
       "root on any node can write any port's P_Key table and so join every partition"},
      {"sm_key", "opensm.smKeyFile", settings.sm_key, "1, which is public",
       "a subnet manager that root on any node starts is accepted as one of ours and may become "
       "master with its own partitions"},
      {"sa_key", "opensm.saKeyFile", settings.sa_key, "1, which is public",
       "any tenant can query the subnet manager for what only trusted clients should get: all "
       "P_Key tables, all multicast members"},
  }};
  for (const Key& key : keys) check_key(key, words_of(settings.owner), checks);
}

void check_m_key_protection(const FabricSnapshot& snapshot, const SmSettings& settings,
                            HealthChecks& checks) {
  // Without an M_Key there is nothing to protect: check_keys() reports that.
  if (settings.m_key == false) return;
  std::vector<std::string> shown, readable;
  for (const fabric::Port& port : snapshot.topology.ports()) {
    if (port.state == ib::PortState::unknown || port.m_key_protection > 1) continue;
    (port.m_key_protection == 0 ? shown : readable)
        .push_back(described(snapshot.topology, port.guid));
  }
  const std::string remedy = protection_remedy(settings);
  const std::string at = seen_at(snapshot.discovery_began);
  add(checks, Issue::m_key_shown, shown.size(),
      {"M_Key protection",
       counted(shown.size(), "port") +
           " at level 0, which shows the M_Key in every answer: root on any node can read it there "
           "and then write any P_Key table: " +
           some(shown) + at,
       remedy});
  add(checks, Issue::readable, readable.size(),
      {"M_Key protection",
       counted(readable.size(), "port") +
           " at level 1, which prevents writing but not reading: any tenant with access to "
           "management packets sees the fabric, its nodes and their P_Keys: " +
           some(readable) + at,
       remedy});
}

}  // namespace ibpod::sm::diagnose
