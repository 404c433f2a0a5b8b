#include "sm/diagnose/manager_words.h"

namespace ibpod::sm::diagnose {
namespace {

constexpr ManagerWords kOurs{
    .starting = "wait for its first sweep; if none comes, check ibpod-sm's log and OpenSM's",
    .fault =
        "check ibpod-sm's log and OpenSM's; when the cause is corrected, ibpod-sm continues by "
        "itself",
    .other_manager =
        "stop it (opensm on that host; on a switch, the command that disables its subnet "
        "manager), or set opensm.mKeyFile in ibpod-sm's configuration: a port with our M_Key "
        "refuses its requests",
    .unknown_key = "which did not start this OpenSM",
    .key_place = "OpenSM's configuration",
    .own_key = "; if ibpod-sm shall know it, let ibpod-sm start OpenSM and name the key's file as ",
    .protection = "set opensm.mKeyProtection to 2 in ibpod-sm's configuration and restart ibpod-sm",
    .enforcement =
        "wait: OpenSM enables enforcement at its next heavy sweep. A switch that stays so has no "
        "P_Key tables for its ports and cannot enforce: give its hosts to one tenant only",
    .default_rule =
        "set defaultPartition.others to limited in ibpod-sm's configuration when no host needs "
        "the default partition to reach another host",
    .default_full =
        "set defaultPartition.others to limited in ibpod-sm's configuration if it is not; "
        "ibpod-sm then removes the key after its next full scan (look.scanSeconds). If the key "
        "comes back, another program writes tables: see the findings about m_key and other subnet "
        "managers",
    .both =
        "set opensm.allowBothPkeys to true in ibpod-sm's configuration and restart it, or make the "
        "members limited or full",
};

constexpr ManagerWords external() {
  ManagerWords words = kOurs;
  words.other_manager =
      "stop it (opensm on that host; on a switch, the command that disables its subnet manager), "
      "or set an m_key in OpenSM's configuration: a port with that M_Key refuses its requests";
  words.protection =
      "set m_key_protection_level 2 and an m_key of your own in OpenSM's configuration and restart "
      "it; name a file with the same m_key as opensm.mKeyFile in ibpod-sm's configuration and "
      "restart ibpod-sm";
  words.enforcement =
      "set part_enforce both in the subnet manager's configuration and restart it; a switch whose "
      "ports have no P_Key table cannot enforce: give its hosts to one tenant only";
  words.both =
      "set allow_both_pkeys TRUE in opensm.conf and restart OpenSM, or make the members limited or "
      "full";
  return words;
}

constexpr ManagerWords observed() {
  ManagerWords words = external();
  words.starting =
      "wait for the first scan that finds a master; if there is none, check ibpod-sm's log and the "
      "subnet manager's";
  words.fault =
      "check ibpod-sm's log and the subnet manager's; when the cause is corrected, ibpod-sm "
      "continues by itself";
  words.other_manager =
      "stop it (opensm on that host; on a switch, the command that disables its subnet manager), "
      "or set an m_key in the configuration of the right one: a port with that M_Key refuses the "
      "other one's requests";
  words.key_place = "the configuration of the subnet manager";
  words.protection =
      "set m_key_protection_level 2 and an m_key of your own in the configuration of the subnet "
      "manager and restart it";
  words.default_rule =
      "when no host needs the default partition to reach another host, make every port but the "
      "subnet manager's a limited member of it in the subnet manager's configuration";
  words.default_full =
      "make these ports limited members of the default partition in the subnet manager's "
      "configuration: ibpod-sm only observes and removes no key";
  return words;
}

constexpr ManagerWords ufm() {
  ManagerWords words = external();
  words.starting =
      "wait for UFM's first answers; if none come, check ibpod-sm's log and UFM's "
      "(/opt/ufm/files/log/rest_api.log)";
  words.fault =
      "check ibpod-sm's log and UFM's (rest_api.log and opensm.log in /opt/ufm/files/log); when "
      "the cause is corrected, ibpod-sm continues by itself";
  words.other_manager =
      "stop it (opensm on that host; on a switch, the command that disables its subnet manager), "
      "unless it is UFM's own standby or external subnet manager; an m_key in UFM's opensm.conf "
      "keeps others out: a port with "
      "that M_Key refuses their requests";
  words.unknown_key = "because UFM configures its OpenSM";
  words.key_place = "UFM's opensm.conf";
  words.own_key = "";
  words.protection =
      "set m_key_protection_level 2 and an m_key of your own in UFM's opensm.conf and restart UFM; "
      "name a file with the same m_key as opensm.mKeyFile in ibpod-sm's configuration and restart "
      "ibpod-sm";
  words.enforcement =
      "set part_enforce both in UFM's opensm.conf and restart UFM; a switch whose ports have no "
      "P_Key table cannot enforce: give its hosts to one tenant only";
  words.default_rule =
      "set default_membership = limited in UFM's gv.cfg when no host needs the default partition "
      "to reach another host, restart UFM, and remove defaultPartition.others from ibpod-sm's "
      "configuration";
  words.default_full =
      "set default_membership = limited in UFM's gv.cfg and restart UFM, or remove these ports "
      "from UFM's members of 0x7fff: ibpod-sm does not write UFM's default partition";
  words.both = "make the members limited or full: a port has one membership in a partition of UFM";
  return words;
}

constexpr ManagerWords kExternal = external(), kObserved = observed(), kUfm = ufm();

}  // namespace

const ManagerWords& words_of(SmOwner owner) {
  switch (owner) {
    case SmOwner::external:
      return kExternal;
    case SmOwner::observed:
      return kObserved;
    case SmOwner::ufm:
      return kUfm;
    case SmOwner::ours:
      break;
  }
  return kOurs;
}

}  // namespace ibpod::sm::diagnose
