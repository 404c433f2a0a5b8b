// RestSettings: the forms in which releases of UFM answer, and what a site has set. They change no
// partition.
#pragma once

#include "lib/ib/pkey.h"

#include <chrono>
#include <optional>
#include <string>

namespace ibpod::fake_ufm {

// GET /resources/pkeys without arguments.
enum class PlainList {
  pkeys,    // ["0x5", "0x7fff"]
  objects,  // [{"pkey": "0x5", "partition": ...}]
  map,      // {"0x5": {"partition": ...}}
};
// The same with guids_data.
enum class GuidsList {
  map,      // {"0x5": {"partition": ..., "guids": [...]}}
  objects,  // [{"pkey": "0x5", "partition": ..., "guids": [...]}]
  ignored,  // as without arguments: only the answer for one P_Key has members
};
// The same with guids_data and qos_conf, which UFM cannot do on the list.
enum class BothArguments { refused, without_guids, complete };
// Both without a zone.
enum class TimeFormat {
  unix_date,  // "Thu Sep  3 11:42:39 UTC 2020", whatever the zone is
  numeric,    // "03-09-2020, 11:42:39"
};

struct RestSettings {
  PlainList plain_list = PlainList::pkeys;
  BothArguments both_arguments = BothArguments::refused;
  GuidsList guids_list = GuidsList::map;
  bool pads_pkeys = false;      // 0x0005 for 0x5
  bool upper_case = false;      // of hex digits
  bool prefixes_guids = false;  // 0x in front of GUIDs
  bool accepts_trailing_slash = true;
  bool serves_guid_removal = true;    // DELETE /resources/pkeys/{pkey}/guids/{list}
  bool serves_removal_action = true;  // the deprecated /actions/remove_guids_from_pkey
  bool serves_guid_groups = true;     // /app/smconf/physical_virtual_mapping: since 6.16
  bool shows_membership = true;       // of members
  bool shows_index0 = true;
  bool shows_management_membership = true;  // since 6.19
  bool shows_default_membership = true;     // in smconf
  bool shows_m_key_per_port = true;
  TimeFormat time_format = TimeFormat::unix_date;
  std::chrono::minutes utc_offset{0};  // of the times that are shown

  std::string version = "6.19.1-5";
  ib::Membership default_membership = ib::Membership::limited;  // of 0x7fff, in gv.cfg
  bool m_key_per_port = false;
  bool has_default_keys = true;  // the keys of the subnet manager are those of an installation
  std::chrono::milliseconds job_duration{0};  // that a job is shown as running
};

}  // namespace ibpod::fake_ufm
