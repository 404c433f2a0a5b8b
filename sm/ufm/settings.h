// ClientSettings, EngineSettings: how ibpod-sm reaches UFM, and what it does there ("ufm" in the
// configuration of ibpod-sm).
#pragma once

#include "lib/base/clock.h"
#include "lib/base/files.h"
#include "sm/pool/pkey_pool.h"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace ibpod::sm::ufm {

// Each file is read again when it has changed. Its mode must keep other users out, as that of every
// key file (docs/ibpod-sm.md).
struct BasicAuth {
  std::string user;
  Path password_file;
};
struct TokenAuth {
  Path token_file;
};
struct CertificateAuth {
  Path certificate, key;
};

struct ClientSettings {
  // "https://HOST[:PORT]". With several, an HA pair without a virtual IP, the one that answers as
  // master is used.
  std::vector<std::string> addresses;
  std::variant<BasicAuth, TokenAuth, CertificateAuth> auth;
  Path ca = {};              // PEM; empty: the system's
  Duration timeout{10'000};  // of one call, from connecting to the last byte
};

// A member that UFM has in a partition of ours, and ibpod-sm did not put there.
enum class ForeignMembers { report, remove };

struct EngineSettings {
  pool::PKeyPool pkeys;  // ours: nothing outside is ever written
  ForeignMembers foreign_members = ForeignMembers::report;
  Duration read_interval{60'000};  // between two readings of all partitions
  // From UFM's answer to the sweep of its OpenSM: before, a member that is gone in UFM may still
  // be written into a table.
  Duration effect{60'000};
  // UFM's mapping of physical to virtual GUIDs is kept: it accepts the GUID of a bound VF only
  // behind its PF. False: what ibpod-sm has put there before is removed.
  bool map_vfs = false;
  Path folder;  // of the record of the members and groups that ibpod-sm has put into UFM
  bool covers(ib::PKey pkey) const { return pkeys.covers({pkey.partition()}).ok(); }
};

}  // namespace ibpod::sm::ufm
