// For any environment, standard input and answer of an IPAM plugin: the plugin prints an answer in
// JSON that parses, and accepted input keeps its promises.
#include "lib/cni/plugin.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ibpod::cni {
namespace {

void require(bool kept) {
  if (!kept) std::abort();
}

// The part up to the next byte 0x1e (ASCII's record separator), which is taken off the front.
std::string_view next_part(std::string_view& rest) {
  const size_t end = std::min(rest.find('\x1e'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// Lines VARIABLE=value.
Environment parse_environment(std::string_view text) {
  Environment environment;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const size_t sign = std::min(line.find('='), line.size());
    environment[std::string(line.substr(0, sign))] = line.substr(std::min(sign + 1, line.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return environment;
}

bool stays_in_folder(const std::string& name) {
  return !name.empty() && name.size() <= 255 && name.front() != '.' &&
         name.find('/') == name.npos && name.find('\0') == name.npos;
}

// Checks what it is given, and answers ADD with a result that it is given, too.
class Checker : public Plugin {
 public:
  explicit Checker(std::string_view result) : result_(result) {}

  void prepare(const Call&, const json::Value& document) override { require(document.is_object()); }
  Status configure(const Call& call, const Network& network) override {
    require(stays_in_folder(network.name) && is_supported(network.version));
    if (call.verb != Verb::gc && call.verb != Verb::status) {
      require(stays_in_folder(call.container_id));
      require(!call.ifname.empty() && call.ifname.size() <= 15 &&
              call.ifname.find('/') == call.ifname.npos);
      require(call.netns.empty() ? call.verb == Verb::del : call.netns.is_absolute());
    }
    return ok();
  }
  Result<AddResult> add() override {
    const json::Value document = TRY(json::Value::parse(result_));
    return parse_result(document);
  }
  Status del() override { return ok(); }
  Status check() override { return ok(); }
  Status gc() override { return ok(); }
  Status status() override { return Error(Code::unavailable, result_); }

 private:
  std::string result_;
};

void check_answer(const Answer& answer) {
  require((answer.exit_code == 0) == !answer.failure.has_value());
  if (answer.output.empty()) return;
  const auto document = json::Value::parse(answer.output);
  require(document.ok() && document->find("cniVersion").has_value());
  require(!answer.failure || document->at("code")->integer().value() == answer.failure->code);
}

// Every result that is read can be printed in every version, and read again to the same end.
void check_result(std::string_view text) {
  const auto document = json::Value::parse(text);
  if (!document) return;
  const Result<AddResult> result = parse_result(*document);
  if (!result) return;
  for (const Version version : supported_versions()) {
    const std::string printed = to_json(*result, version).text();
    const Result<AddResult> again = parse_result(json::Value::parse(printed).value());
    require(again.ok() && to_json(*again, version).text() == printed);
  }
}

}  // namespace
}  // namespace ibpod::cni

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto environment = ibpod::cni::parse_environment(ibpod::cni::next_part(rest));
  const std::string_view input = ibpod::cni::next_part(rest);
  ibpod::cni::Checker plugin(rest);
  ibpod::cni::check_answer(ibpod::cni::serve(plugin, environment, input));
  ibpod::cni::check_result(rest);
  return 0;
}
