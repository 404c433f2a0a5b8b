#include "agent/prepare/intent.h"

#include "lib/json/read.h"
#include "lib/json/version.h"

#include <algorithm>

namespace ibpod::agent::prepare {
namespace {

using json::Value;

constexpr int64_t kNewest = 1;
constexpr std::string_view kEnding = ".json";

Value list_of(const std::vector<uint32_t>& vfs) {
  Value list = Value::array();
  for (const uint32_t vf : vfs) list.push(vf);
  return list;
}

Result<std::vector<uint32_t>> read_list(const Value& list) {
  std::vector<uint32_t> vfs;
  const std::vector<Value> numbers = TRY(list.elements());
  for (const Value& number : numbers) {
    const int64_t vf = TRY(number.integer(0, UINT16_MAX));
    vfs.push_back(static_cast<uint32_t>(vf));
  }
  return vfs;
}

std::string text_of(const Intent& intent) {
  Value document = Value::object();
  document.set(json::kVersion, kNewest).set("bootId", intent.boot_id);
  document.set("driver", intent.driver).set("vfs", list_of(intent.vfs));
  document.set("force", intent.force);
  if (intent.binding) document.set("binding", *intent.binding);
  if (intent.pool_guids) document.set("guids", "pool");
  if (!intent.interrupted.empty()) document.set("interrupted", list_of(intent.interrupted));
  if (intent.rebind) document.set("rebind", true);
  return document.text() + "\n";
}

Result<Intent> parse(const ib::PciAddress& pf, const std::string& text) {
  Intent intent;
  intent.pf = pf;
  const Value document = TRY(Value::parse(text));
  TRY(json::check_version(document, kNewest));
  const Value boot_id = TRY(document.at("bootId"));
  intent.boot_id = TRY(boot_id.string());
  const Value driver = TRY(document.at("driver"));
  intent.driver = TRY(driver.string());
  const Value force = TRY(document.at("force"));
  intent.force = TRY(force.boolean());
  const Value vfs = TRY(document.at("vfs"));
  intent.vfs = TRY(read_list(vfs));
  const std::optional<Value> guids = document.find("guids");
  if (guids)
    intent.pool_guids = TRY(json::read_word<bool>(*guids, {{"keep", false}, {"pool", true}}));
  const std::optional<Value> binding = document.find("binding");
  if (binding) {
    const int64_t vf = TRY(binding->integer(0, UINT16_MAX));
    intent.binding = static_cast<uint32_t>(vf);
  }
  const std::optional<Value> interrupted = document.find("interrupted");
  if (interrupted) intent.interrupted = TRY(read_list(*interrupted));
  const std::optional<Value> rebind = document.find("rebind");
  if (rebind) intent.rebind = TRY(rebind->boolean());
  return intent;
}

}  // namespace

bool Intent::is_half_bound(uint32_t vf) const {
  return binding == vf ||
         std::find(interrupted.begin(), interrupted.end(), vf) != interrupted.end();
}

Status Intents::write(const Intent& intent) const {
  TRY(make_folders(root_));
  return write_file_atomically(file(intent.pf), text_of(intent));
}

Status Intents::remove(const ib::PciAddress& pf) const { return remove_file(file(pf)); }

Result<std::optional<Intent>> Intents::find(const ib::PciAddress& pf) const {
  const Path path = file(pf);
  const Result<std::string> text = read_file(path);
  if (!text && text.error().code() == Code::not_found) return std::optional<Intent>();
  if (!text) return text.error();
  Result<Intent> intent = parse(pf, *text);
  if (intent) return std::optional(std::move(intent).value());
  const bool damaged = intent.error().code() == Code::invalid;
  return std::move(intent).error().during(path.string() +
                                          (damaged ? " is damaged: remove it" : ""));
}

Result<std::vector<ib::PciAddress>> Intents::all() const {
  std::vector<ib::PciAddress> pfs;
  const std::vector<std::string> names = TRY(list_folder(root_));
  for (const std::string& name : names) {
    if (!name.ends_with(kEnding)) continue;  // a file on its way to be renamed
    const auto pf = ib::PciAddress::parse(name.substr(0, name.size() - kEnding.size()));
    if (pf) pfs.push_back(*pf);
  }
  return pfs;
}

}  // namespace ibpod::agent::prepare
