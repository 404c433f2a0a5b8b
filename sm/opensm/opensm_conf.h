// opensm.conf: the options of an OpenSM that ibpod-sm starts.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/ib/guid.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::sm::opensm {

// Each file holds one number in C's hexadecimal form: 0x and up to 16 digits. Empty: OpenSM's
// default (m_key 0, which protects nothing; sm_key and sa_key 1, which are public).
struct KeyFiles {
  Path m_key;
  Path sm_key;
  Path sa_key;
  bool operator==(const KeyFiles&) const = default;
};

struct OpenSmSettings {
  std::optional<ib::Guid> port;  // OpenSM's own port; nothing: the first active one
  unsigned priority = 0;  // 0 to 15; the highest on the subnet is master, then the lowest GUID
  unsigned max_wire_smps = 16;   // packets on the wire at once; OpenSM's default is 4
  unsigned sweep_interval = 10;  // seconds between light sweeps
  // A standby takes over after this many unanswered polls, and one or two more.
  unsigned polling_timeout = 1000;  // ms
  unsigned polling_retries = 2;
  // M_KeyProtectBits (IBA 1.4, volume 1, 14.2.4.1), for requests without the M_Key: 0 and 1 allow
  // reads, and 1 hides the key; 2 and 3 allow nothing.
  unsigned m_key_protection = 0;
  unsigned log_megabytes = 64;  // size at which OpenSM starts a new log
  bool qos = false;
  // True: a port may be limited and full in one partition; false: `both` is refused. If true, full
  // members have no IPoIB (docs/opensm-notes.md#full-members-without-ipoib).
  bool allow_both_pkeys = false;
  KeyFiles keys;
  Path more;  // the administrator's own options, one per line; they come last; empty: none
  bool operator==(const OpenSmSettings&) const = default;
};

// The paths of OpenSM's files, all in one folder, which is made.
struct OpenSmPaths {
  explicit OpenSmPaths(const Path& folder);
  Path partitions, conf, modules, log, cache;
};

// invalid if OpenSM could not read a path in an option: opensm.conf has no quotes.
Status check(const OpenSmPaths& paths);

// The options with which OpenSM reads partitions.conf. The one for `both` cannot change while
// OpenSM runs.
fabric::OpenSmOptions options_of(const OpenSmSettings& settings);

// The text of opensm.conf. It has secrets; errors do not. invalid for a number that OpenSM would
// not accept, a key file without a key or with a public one, and an administrator's option that
// ibpod-sm has to set itself.
Result<std::string> render_opensm_conf(const OpenSmSettings& settings, const OpenSmPaths& paths);

// Checks the file of the administrator's own options (OpenSmSettings::more): invalid with every
// line that must be removed.
Status check_more_options(const Path& path);

// The text of OpenSM's per_module_logging_file: it enables the messages that LogReader needs.
// OpenSM reads it at its start and at every heavy sweep.
std::string opensm_modules();

}  // namespace ibpod::sm::opensm
