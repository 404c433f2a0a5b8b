// Session: one command line of ibpodctl, from what was typed to what is printed.
#pragma once

#include "ctl/command.h"
#include "ctl/machine.h"
#include "ctl/service.h"
#include "lib/json/value.h"
#include "lib/nodeapi/node.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ibpod::ctl {

// The address of the cluster's SM service, and the credentials for it.
struct SmAddress {
  std::string address = "unix:/run/ibpod/sm.sock";  // or HOST:PORT
  bool given = false;                               // it was typed, or is in the environment
  Path certificate, key, ca;                        // PEM; for HOST:PORT
  std::string fabric = "default";
};

// Exit codes of all commands. `doctor` has 1 for warnings and 2 for what is wrong.
inline constexpr int kNotYet = 1;       // it was asked for, and is not so by now
inline constexpr int kFailed = 3;       // any other failure
inline constexpr int kNotFound = 4;     // who was asked says that there is no such thing
inline constexpr int kDenied = 5;       // not permitted to who asks
inline constexpr int kUnavailable = 6;  // no answer, or a temporary failure: try again later
inline constexpr int kOwnFiles = 7;     // certificate, key or CA cannot be used: nothing was sent
inline constexpr int kOtherFabric = 8;  // the service has another fabric: it does not know ours
inline constexpr int kUsage = 105;      // wrong usage: nothing was sent
// The number that the error is reported_as(), or else the number of its code.
int exit_code(const Error& error);

struct Session {
  // The services that the commands use.
  std::function<Result<std::unique_ptr<Service>>(const SmAddress&)> connect;
  std::function<std::unique_ptr<nodeapi::Node>(const Path&)> agent;

  // The arguments of the command line.
  bool json = false;
  unsigned seconds = 30;
  SmAddress sm;
  MachinePaths paths;

  Result<std::unique_ptr<Service>> service() const { return connect(sm); }
  Deadline deadline() const { return Deadline::in(std::chrono::seconds(seconds)); }

  // As JSON where that was asked for.
  template <typename Text>
  Answer answer(const json::Value& value, Text text, int exit = 0) const {
    return {json ? value.pretty() + "\n" : text(), exit};
  }
};

// The commands, a noun each. They refer to the session, which outlives them.
Command devices_command(Session& session);
Command attachments_command(Session& session);
Command partition_command(Session& session);
Command binding_command(Session& session);
Command node_command(Session& session);
Command explain_command(Session& session);
Command plan_command(Session& session);
Command doctor_command(Session& session);
// Needs no service: it reads and writes files.
Command convert_command();

// Does what `words` (without the program's name) ask for. What is wrong goes to `err`: wrong usage,
// with an exit code above 100, and failures. So do notes.
struct Outcome {
  std::string out, err;
  int exit = 0;
};
Outcome run(const std::vector<std::string>& words, Session& session);

}  // namespace ibpod::ctl
