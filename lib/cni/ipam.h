// IPAM: address management delegated to another plugin (CNI specification, section 4).
#pragma once

#include "lib/base/clock.h"
#include "lib/base/process.h"
#include "lib/base/result.h"
#include "lib/cni/request.h"
#include "lib/cni/result.h"

#include <optional>
#include <string>
#include <vector>

namespace ibpod::cni {

// One network's IPAM plugin and how it is called. A failure keeps the plugin's own message and
// code, and the end of what it wrote to stderr in the details. It is unavailable where the plugin
// says so (codes 11 and 50) or is too slow; denied where it refuses in words, with which it tells
// that it has done nothing; else internal (it crashed, or its answer cannot be read). The latter
// two are reported as 105 (errors.h). The
// plugin dies with the calling thread, and is killed at the deadline (lib/base/process.h).
class Ipam {
 public:
  struct Invocation {
    std::string type;           // the program's name, without '/'
    std::vector<Path> path;     // where to look for it
    Environment environment;    // of the call; CNI_COMMAND is set here
    std::string configuration;  // its standard input, exactly as the network's own
    Version version;            // the configuration's
  };
  // not_found, naming the type and the folders looked in, where there is no such program. Which
  // types cannot serve a network at all ("dhcp") is for the plugin's own configuration to say.
  static Result<Ipam> find(Invocation invocation);

  // The versions it answers VERSION with. One that does not know VERSION speaks 0.1.0. It is asked
  // once; what it has answered holds for this object and its copies.
  Result<std::vector<Version>> versions(Deadline deadline) const;
  Result<bool> speaks(Version version, Deadline deadline) const;
  // unsupported, naming the version and the list, reported as 1, unless it speaks the
  // configuration's.
  Status check_version(Deadline deadline) const;

  // Interfaces in the result are the IPAM's own idea: the caller points the addresses at its own.
  Result<AddResult> add(Deadline deadline) const;
  Status del(Deadline deadline) const;
  Status check(Deadline deadline) const;
  // For both, the caller first makes sure that it speaks 1.1.0: an older plugin knows neither.
  Status gc(Deadline deadline) const;
  // Reported as 50, or 51 if the plugin says so.
  Status status(Deadline deadline) const;

 private:
  Ipam(Invocation invocation, Path program)
      : invocation_(std::move(invocation)), program_(std::move(program)) {}
  Result<Finished> run_verb(Verb verb, std::string_view input, Deadline deadline) const;
  Result<std::string> call(Verb verb, Deadline deadline) const;
  Error failure(const Finished& finished) const;
  Result<std::vector<Version>> ask_versions(Deadline deadline) const;
  Invocation invocation_;
  Path program_;
  mutable std::optional<std::vector<Version>> versions_;  // once it has answered
};

// The answer to VERSION. What is no version is left out of the list.
Result<std::vector<Version>> parse_versions(const std::string& output);

// The answer to ADD. One without a version has the configuration's (libcni's reading); "null" is an
// empty one.
Result<AddResult> parse_answer(const std::string& output, Version configured);

}  // namespace ibpod::cni
