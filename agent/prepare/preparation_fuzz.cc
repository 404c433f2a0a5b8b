// For any section "pfs" and any file of a preparation: they are accepted or refused with a reason,
// and an intent is written so that it reads the same again.
#include "agent/prepare/intent.h"
#include "agent/prepare/pf_config.h"
#include "tests/support/fuzz.h"
#include "tests/support/temp_folder.h"

namespace ibpod::agent::prepare {
namespace {

using fuzz::require;

void check_pfs(const json::Value& list, size_t size) {
  const PfConfigs configs = parse_pf_configs(list);
  for (const Error& error : configs.errors) fuzz::check_refusal(error, size);
  for (const PfConfig& config : configs.pfs) {
    require(config.vendor || config.device || !config.root_devices.empty() ||
            !config.pf_names.empty());
    for (const std::string& name : config.pf_names) require(!name.empty() && name.size() <= 127);
    (void)matches_pf(config, node::Pf(), {});
  }
}

void check_intent(const std::string& text) {
  static const TempFolder folder("/dev/shm");
  static const auto pf = ib::PciAddress::parse("0000:3b:00.0").value();
  const Intents intents(folder.path());
  std::filesystem::create_directories(folder.path() / "preparation");
  folder.write("preparation/" + pf.text() + ".json", text);
  const auto intent = intents.find(pf);
  if (!intent) return fuzz::check_refusal(intent.error(), text.size());
  require(intent->has_value() && (*intent)->pf == pf);
  require(intents.write(**intent).ok());
  require(intents.find(pf).value() == *intent);
}

}  // namespace
}  // namespace ibpod::agent::prepare

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  const std::string text(fuzz::text_of(data, size));
  agent::prepare::check_intent(text);
  const auto document = json::Value::parse(text, json::Comments::allowed);
  if (document) agent::prepare::check_pfs(document->find("pfs").value_or(*document), size);
  return 0;
}
