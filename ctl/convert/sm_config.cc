#include "ctl/convert/sm_config.h"

namespace ibpod::ctl::convert {
namespace {

using json::Value;
using sm::pool::GuidRange;
using sm::pool::PKeyRange;

constexpr const char* kPasswordFile = "password";
constexpr const char* kCaFile = "ca.crt";

Result<std::vector<GuidRange>> choose_guids(const GuidRange& pool, const Ranges& ranges) {
  if (!ranges.guids.empty()) return ranges.guids;
  const std::vector<GuidRange> own{pool};
  const auto usable = sm::pool::GuidPool::make(own);
  if (usable) return own;
  return Error(Code::invalid, "GUID_POOL_RANGE_START, GUID_POOL_RANGE_END: " +
                                  usable.error().text() + "; choose other GUIDs by --guids");
}

// Neither of the two programs knows which GUIDs the other has allocated.
void warn_of_overlap(const GuidRange& pool, const std::vector<GuidRange>& guids,
                     std::vector<std::string>& warnings) {
  for (const GuidRange& range : guids) {
    if (range.last < pool.first || pool.last < range.first) continue;
    warnings.push_back("guids: " + range.first.text() + " to " + range.last.text() +
                       " has GUIDs of the pool of ib-kubernetes: two ports may get the same one "
                       "while both run; stop ib-kubernetes first, or choose others by --guids");
  }
}

Value ufm_section(const IbKubernetes& from) {
  Value addresses = Value::array();
  addresses.push("https://" + from.host + ":" + std::to_string(from.port));
  Value section = Value::object();
  section.set("addresses", addresses);
  section.set("user", from.user);
  section.set("passwordFile", (kUfmFolder / kPasswordFile).string());
  section.set("caFile", (kUfmFolder / kCaFile).string());
  return section;
}

// Networks for ib-kubernetes name a P_Key, so the partitions for them request it.
Value pkey_ranges(const std::vector<PKeyRange>& ranges) {
  Value list = Value::array();
  for (const PKeyRange& range : ranges)
    list.push(Value::object()
                  .set("first", ib::PKey(range.first).text())
                  .set("last", ib::PKey(range.last).text())
                  .set("use", "explicit"));
  return list;
}

Value guid_ranges(const std::vector<GuidRange>& ranges) {
  Value list = Value::array();
  for (const GuidRange& range : ranges)
    list.push(Value::object().set("first", range.first.text()).set("last", range.last.text()));
  return list;
}

}  // namespace

Result<SmConfig> make_sm_config(const IbKubernetes& from, const Ranges& ranges) {
  const auto guids = TRY(choose_guids(from.guids, ranges));
  SmConfig made{.document = Value::object(), .files = {}, .warnings = from.warnings};
  warn_of_overlap(from.guids, guids, made.warnings);
  made.document.set("engine", "ufm");
  made.document.set("ufm", ufm_section(from));
  made.document.set("pkeys", pkey_ranges(ranges.pkeys));
  made.document.set("guids", guid_ranges(guids));
  // ib-kubernetes makes every partition with "ip_over_ib": true.
  made.document.set("defaults", Value::object().set("ipoib", true));
  made.files.push_back({kPasswordFile, from.password});
  if (!from.certificate.empty()) made.files.push_back({kCaFile, from.certificate});
  return made;
}

}  // namespace ibpod::ctl::convert
