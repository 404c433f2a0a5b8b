// opensm.conf: the options that OpenSM is started with where ibpod-sm starts it.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/fabric/partitions_conf.h"
#include "lib/ib/guid.h"

#include <cstdint>
#include <optional>
#include <string>

namespace ibpod::sm::opensm {

// Each file holds one number, as C writes it in hex: 0x and up to 16 digits. Empty: OpenSM's own
// (m_key 0, which protects nothing; sm_key and sa_key 1, which everybody knows).
struct KeyFiles {
  Path m_key;
  Path sm_key;
  Path sa_key;
  bool operator==(const KeyFiles&) const = default;
};

struct OpenSmSettings {
  std::optional<ib::Guid> port;  // that OpenSM binds to; nothing: its first one that is active
  unsigned priority = 0;  // 0 to 15; the highest on the subnet is master, then the lowest GUID
  unsigned max_wire_smps = 16;   // packets on the wire at once; OpenSM's own is 4
  unsigned sweep_interval = 10;  // seconds; of light sweeps
  // A standby takes over this many lost polls and one or two more behind the last one answered.
  unsigned polling_timeout = 1000;  // ms
  unsigned polling_retries = 2;
  // M_KeyProtectBits (IBA 1.4, volume 1, 14.2.4.1), for requests without the M_Key: 0 and 1 allow
  // reads, and 1 hides the key; 2 and 3 allow nothing.
  unsigned m_key_protection = 0;
  unsigned log_megabytes = 64;  // beyond which OpenSM begins its log again
  bool qos = false;
  // True: a port may be limited and full in one partition; else `both` is refused. If true, full
  // members have no IPoIB (docs/opensm-notes.md#full-members-without-ipoib).
  bool allow_both_pkeys = false;
  KeyFiles keys;
  Path more;  // the administrator's own options, one a line: they come last; empty: none
  bool operator==(const OpenSmSettings&) const = default;
};

// Where OpenSM has its files, all in one folder, which is made.
struct OpenSmPaths {
  explicit OpenSmPaths(const Path& folder);
  Path partitions, conf, modules, log, cache;
};

// invalid where OpenSM could not take the folder in an option: it has no quotes.
Status check(const OpenSmPaths& paths);

// The options by which OpenSM reads partitions.conf with these settings. The one for `both` cannot
// change while OpenSM runs.
fabric::OpenSmOptions options_of(const OpenSmSettings& settings);

// The text of opensm.conf. It carries secrets; refusals do not. invalid: a number that OpenSM would
// not take, a key file that holds no key or a standard one, an option of the administrator's that
// ibpod-sm has to have its own way.
Result<std::string> render_opensm_conf(const OpenSmSettings& settings, const OpenSmPaths& paths);

// Checks the file of the administrator's own options (OpenSmSettings::more): invalid with every
// line that must be removed.
Status check_more_options(const Path& path);

// The text of its per_module_logging_file: what LogReader has to hear, and what OpenSM does not say
// otherwise. OpenSM reads it at its start and at every heavy sweep.
std::string opensm_modules();

}  // namespace ibpod::sm::opensm
