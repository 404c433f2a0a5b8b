// The life of one plugin process: read the request, call the verb, print the answer.
#pragma once

#include "lib/base/result.h"
#include "lib/cni/errors.h"
#include "lib/cni/request.h"
#include "lib/cni/result.h"

#include <optional>
#include <string>
#include <string_view>

namespace ibpod::cni {

// The verbs of a plugin. An Error becomes the CNI error that it is reported as, or that of its code
// (failure_of in errors.h); from configure(), unsupported is 2 (unsupported field).
class Plugin {
 public:
  virtual ~Plugin() = default;
  // Called first, before anything in the configuration is refused: opens the log that is to tell of
  // it. `document` is an object, and that is all that is known of it.
  virtual void prepare(const Call& call, const json::Value& document) = 0;
  // Reads the plugin's own keys. Called once before any verb, never for VERSION.
  virtual Status configure(const Call& call, const Network& network) = 0;
  virtual Result<AddResult> add() = 0;
  virtual Status del() = 0;
  virtual Status check() = 0;
  virtual Status gc() = 0;
  // A failure is code 50, unless it is reported as 51.
  virtual Status status() = 0;
};

// The text for stdout, and the exit code: 0, or 1 with an error in JSON.
struct Answer {
  int exit_code = 0;
  std::string output;
  std::optional<Failure> failure;  // what output says, for the log
};

// Does everything between the environment and stdout without touching either, so that tests and a
// fuzzer can run it. An exception becomes a failure with code 100: this is the one catch of a
// plugin. VERSION needs no input: a read from a terminal would wait for ever.
Answer serve(Plugin& plugin, const Environment& environment, std::string_view input);

}  // namespace ibpod::cni
