#include "ctl/session.h"

#include "ctl/unknown_word.h"
#include "lib/base/printable.h"

#include <sstream>

#include <CLI/CLI.hpp>

namespace ibpod::ctl {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 done; 1 not (yet) done; 3 failed; 4 not found; 5 permission denied; 6 no\n"
    "answer, or a temporary failure: try again later; 7 the certificate, key or CA cannot be\n"
    "used: nothing was sent; 8 the service has another fabric; above 100 wrong usage.\n"
    "doctor: 0 no problems; 1 warnings; 2 problems; 3 the check failed.";

std::vector<Option> options_of(Session& session) {
  SmAddress& sm = session.sm;
  return {
      {"--json", &session.json, "print JSON"},
      {"--timeout", &session.seconds, "how long to wait for an answer, in seconds"},
      {"--socket", &session.paths.agent, "the agent's socket, for commands about this node"},
      {"--sm", &sm.address,
       "address of the SM service: unix:PATH, or HOST:PORT with the next three options",
       "IBPOD_SM"},
      {"--certificate", &sm.certificate, "client certificate (PEM)", "IBPOD_CERTIFICATE"},
      {"--key", &sm.key, "private key of the client certificate (PEM)", "IBPOD_KEY"},
      {"--ca", &sm.ca, "CA of the service's certificate (PEM)", "IBPOD_CA"},
      {"--fabric", &sm.fabric, "fabric that the service must manage", "IBPOD_FABRIC"},
  };
}

// Adds the arguments to the target of the option.
struct Adding {
  CLI::App& app;
  const Option& option;

  CLI::Option* operator()(std::string* text) const { return valued(*text); }
  CLI::Option* operator()(Path* path) const { return valued(*path); }
  CLI::Option* operator()(unsigned* number) const {
    return valued(*number)->check(CLI::Range(1, 86400));
  }
  CLI::Option* operator()(bool* flag) const {
    return app.add_flag(option.name, *flag, option.help);
  }
  CLI::Option* operator()(std::optional<bool>* flag) const {
    const auto add = [&](const std::string& name, const std::string& help, bool value) {
      return app.add_flag_function(
          name, [flag, value](int64_t) { *flag = value; }, help);
    };
    CLI::Option* yes = add(option.name, option.help, true);
    return add("--no-" + option.name.substr(2), "unset " + option.name, false)->excludes(yes);
  }
  CLI::Option* operator()(std::vector<std::string>* texts) const {
    CLI::Option* added = app.add_option(option.name, *texts, option.help);
    return option.name.front() == '-' ? added->expected(1)->take_all() : added->expected(1, 2);
  }

  template <typename Value>
  CLI::Option* valued(Value& value) const {
    CLI::Option* added = app.add_option(option.name, value, option.help);
    return option.name.front() == '-' ? added->capture_default_str() : added;
  }
};

void add(CLI::App& app, const Option& option) {
  CLI::Option* added = std::visit(Adding{app, option}, option.target);
  if (!option.environment.empty()) added->envname(option.environment);
  added->required(option.name.front() != '-');
}

using Run = std::function<Result<Answer>()>;

// `chosen` is the one that is to run. CLI11 tells a command after those below it.
void add(CLI::App& parent, const Command& command, Run& chosen) {
  CLI::App* app = parent.add_subcommand(command.name, command.help);
  for (const Option& option : command.options) add(*app, option);
  for (const Command& below : command.commands) add(*app, below, chosen);
  if (!command.run) return void(app->require_subcommand(1));
  app->callback([&chosen, run = command.run] {
    if (!chosen) chosen = run;
  });
}

std::string line(const char* kind, const std::string& text) {
  return kind + (": " + printable(text)) + "\n";
}

Outcome outcome_of(const Result<Answer>& answer) {
  if (!answer) return {"", line("error", answer.error().text()), exit_code(answer.error())};
  Outcome outcome{answer->text, "", answer->exit};
  for (const std::string& warning : answer->warnings) outcome.err += line("warning", warning);
  if (!answer->note.empty()) outcome.err += line("note", answer->note);
  return outcome;
}

// CLI11's message for a wrong command line, with the wrong word if it is known; or the help of the
// command that lacks a subcommand.
Outcome wrong_usage(const std::vector<std::string>& words, const Command& program,
                    const std::string& said, CLI::App& app) {
  const UnknownWord unknown = find_unknown_word(words, program);
  if (!unknown.word.empty()) return {"", "error: " + printable(unknown.text()) + "\n", kUsage};
  if (!unknown.incomplete) return {"", said, kUsage};
  const CLI::App* part = &app;
  for (const std::string& name : unknown.path) part = part->get_subcommand(name);
  return {part->help(), "error: " + unknown.text() + "\n", kUsage};
}

}  // namespace

int exit_code(const Error& error) {
  if (error.reported() != 0) return error.reported();
  switch (error.code()) {
    case Code::not_found:
      return kNotFound;
    case Code::denied:
      return kDenied;
    case Code::unavailable:
    case Code::busy:
      return kUnavailable;
    case Code::invalid:
    case Code::exists:
    case Code::unsupported:
    case Code::internal:
      break;
  }
  return kFailed;
}

Outcome run(const std::vector<std::string>& words, Session& session) {
  CLI::App app("Shows ibpod on this node, and shows and changes the cluster's partitions.",
               "ibpodctl");
  app.set_version_flag("--version", IBPOD_VERSION);
  app.require_subcommand(1);
  // Before there are commands: each takes it over, and leaves what it does not know to its parent.
  app.fallthrough();
  app.footer(kFooter);
  Run chosen;
  const std::vector<Option> options = options_of(session);
  const std::vector<Command> commands{
      partition_command(session),   binding_command(session), node_command(session),
      explain_command(session),     plan_command(session),    devices_command(session),
      attachments_command(session), doctor_command(session),  convert_command()};
  for (const Option& option : options) add(app, option);
  for (const Command& command : commands) add(app, command, chosen);
  try {
    // It takes the words from behind.
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& end) {
    std::ostringstream out, err;
    const int exit = app.exit(end, out, err);
    if (exit == 0) return {out.str(), err.str(), exit};
    return wrong_usage(words, {.name = {}, .help = {}, .options = options, .commands = commands},
                       err.str(), app);
  }
  session.sm.given = app.count("--sm") > 0;
  return outcome_of(chosen());
}

}  // namespace ibpod::ctl
