#include "ctl/convert/secret_files.h"
#include "ctl/session.h"
#include "lib/base/join.h"

#include <iostream>
#include <memory>

namespace ibpod::ctl {
namespace {

constexpr size_t kLongestInput = 4 << 20;
constexpr std::string_view kNoAgentsYet =
    "agents cannot reach ibpod-sm before \"listen\" and \"roles\" are in the file: ib-kubernetes "
    "has nothing to make them from";

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> pkeys, guids;
  Path secrets;
};

Result<std::string> read_standard_input() {
  std::string content(kLongestInput + 1, '\0');
  std::cin.read(content.data(), static_cast<std::streamsize>(content.size()));
  content.resize(static_cast<size_t>(std::cin.gcount()));
  if (content.size() <= kLongestInput) return content;
  return Error(Code::invalid, "it is larger than " + std::to_string(kLongestInput) + " bytes");
}

Result<convert::Variables> read_inputs(const std::vector<std::string>& files) {
  convert::Variables variables;
  for (const std::string& file : files) {
    const std::string content =
        TRY((file == "-" ? read_standard_input() : read_file(file, kLongestInput)).during(file));
    TRY(convert::add_variables(content, convert::is_of_ib_kubernetes, variables).during(file));
  }
  return variables;
}

std::string advice(const std::vector<convert::SecretFile>& files, const Path& folder) {
  const std::string names = join(files, " and ", &convert::SecretFile::name);
  const std::string there = convert::kUfmFolder.string();
  if (folder.empty())
    return "no secret is written: put " + names + " into " + there +
           " on the machine of ibpod-sm (mode 0600), or use --secrets";
  if (folder == convert::kUfmFolder) return "written in " + there + ": " + names;
  return "written in " + folder.string() + ": " + names + "; install them in " + there +
         " on the machine of ibpod-sm (mode 0600)";
}

Result<convert::SmConfig> make_sm_config(const Arguments& arguments,
                                         const convert::Ranges& ranges) {
  const auto variables = TRY(read_inputs(arguments.files));
  const auto from = TRY(convert::read_ib_kubernetes(variables));
  return convert::make_sm_config(from, ranges);
}

// Nothing is written before everything is read and checked.
Result<Answer> convert_ib_kubernetes(const Arguments& arguments) {
  const auto ranges =
      TRY(convert::read_ranges(arguments.pkeys, arguments.guids).reported_as(kUsage));
  const auto made = TRY(make_sm_config(arguments, ranges).reported_as(kFailed));
  if (!arguments.secrets.empty())
    TRY(convert::write_secrets(arguments.secrets, made.files)
            .during("--secrets")
            .reported_as(kFailed));
  Answer answer{.text = made.document.pretty() + "\n", .warnings = made.warnings};
  answer.warnings.emplace_back(kNoAgentsYet);
  answer.note = advice(made.files, arguments.secrets);
  return answer;
}

Command ib_kubernetes_command() {
  const auto arguments = std::make_shared<Arguments>();
  return {
      .name = "ib-kubernetes",
      .help =
          "make sm.json for UFM from the ConfigMap and the Secret of ib-kubernetes; prints it, and "
          "no secret",
      .options =
          {{"FILE", &arguments->files,
            "ConfigMap and Secret as `kubectl get --output json` prints them, or lines of "
            "NAME=VALUE; -: standard input"},
           {"--pkeys", &arguments->pkeys,
            "FIRST-LAST: P_Keys that ibpod-sm alone may write, for example 0x1000-0x1fff; "
            "required; once for each range"},
           {"--guids", &arguments->guids,
            "FIRST-LAST: GUIDs for VFs instead of the pool of ib-kubernetes; once for each range"},
           {"--secrets", &arguments->secrets,
            "write the password and the CA of UFM into this folder; existing files stay"}},
      .run = [arguments] { return convert_ib_kubernetes(*arguments); }};
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .help = "make a configuration of ibpod from that of another project",
          .commands = {ib_kubernetes_command()}};
}

}  // namespace ibpod::ctl
