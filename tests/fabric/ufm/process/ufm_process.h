// UfmProcess: fake_ufm as a process with HTTPS, which writes the partitions.conf of an OpenSM.
#pragma once

#include "lib/ib/guid.h"
#include "lib/ib/pkey.h"
#include "tests/fabric/background.h"
#include "tests/support/temp_folder.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace ibpod {

inline constexpr auto kUfmUser = "ibpod";  // the user of ibpod-sm
inline constexpr auto kUfmPassword = "5ec7e7";

// A request that UFM got.
struct UfmCall {
  std::string caller, operation, membership;  // membership: empty if the call has none
  ib::PKey pkey;
  std::vector<ib::Guid> guids;
  int status = 0;
  bool changed = false;  // the partitions, or the groups of GUIDs
  std::chrono::steady_clock::time_point at;
  bool is_write() const;  // whether it changed something or not
};

class UfmProcess {
 public:
  struct Setup {
    Path partitions;  // OpenSM's partitions.conf
    pid_t opensm;
    std::vector<ib::Guid> ports = {};      // that UFM knows
    std::vector<std::string> others = {};  // more users, with the same password
  };
  using Members = std::map<ib::Guid, ib::Membership>;

  explicit UfmProcess(const Setup& setup);

  // The section "ufm" of ibpod-sm's configuration, without braces.
  std::string section(int read_seconds = 5, int effect_seconds = 1) const;
  int tls_port() const { return tls_port_; }
  // The REST interface without TLS, at 127.0.0.1.
  int plain_port() const { return plain_port_; }
  // Files: the certificate of its CA, and the password of every user.
  Path ca() const { return folder_.path() / "ca.crt"; }
  Path password_file() const { return folder_.path() / "password"; }
  // The environment by which another client finds it: UFM_ADDRESS, UFM_PORT, UFM_HTTP_SCHEMA,
  // UFM_USERNAME, UFM_PASSWORD and UFM_CERTIFICATE, as ib-kubernetes reads them.
  std::map<std::string, std::string> environment_of(const std::string& user) const;

  // By the control path (docs/ufm-stand-in.md).
  void set(const std::string& what, const std::string& body) const;
  void post(const std::string& what, const std::string& body) const;
  // As another administrator.
  void call(const std::string& body) const { post("calls", body); }
  void clear_faults() const { remove("faults"); }
  void clear_log() const { remove("log"); }
  // The stored partitions: as JSON, and the members of each partition that has any, but for 0x7fff.
  std::string partitions() const { return get("partitions"); }
  std::map<ib::PKey, Members> members() const;
  // Since clear_log().
  std::vector<UfmCall> log() const;

 private:
  Background start(const Setup& setup) const;
  std::string ready_line() const;
  std::string get(const std::string& what) const;
  void remove(const std::string& what) const;

  TempFolder folder_;
  Background process_;
  int tls_port_ = 0, plain_port_ = 0, control_port_ = 0;
};

}  // namespace ibpod
