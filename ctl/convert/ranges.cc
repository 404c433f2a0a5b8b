#include "ctl/convert/ranges.h"

#include <utility>

namespace ibpod::ctl::convert {
namespace {

using sm::pool::GuidRange;
using sm::pool::PKeyRange;

std::pair<std::string, std::string> ends_of(const std::string& range) {
  const size_t dash = range.find('-');
  if (dash == range.npos) return {range, range};
  return {range.substr(0, dash), range.substr(dash + 1)};
}

Result<std::vector<PKeyRange>> read_pkeys(const std::vector<std::string>& texts) {
  if (texts.empty())
    return Error(Code::invalid,
                 "it is missing: give the P_Keys that ibpod-sm alone may write, and ib-kubernetes "
                 "no more, such as 0x1000-0x1fff");
  std::vector<PKeyRange> ranges;
  for (const std::string& text : texts) {
    const auto [first, last] = ends_of(text);
    const ib::PKey from = TRY(ib::PKey::parse_tenant(first).during("\"" + text + "\""));
    const ib::PKey to = TRY(ib::PKey::parse_tenant(last).during("\"" + text + "\""));
    ranges.push_back({from.partition(), to.partition(), sm::pool::RangeUse::by_request});
  }
  TRY(sm::pool::PKeyPool::make(ranges));
  return ranges;
}

Result<std::vector<GuidRange>> read_guids(const std::vector<std::string>& texts) {
  std::vector<GuidRange> ranges;
  for (const std::string& text : texts) {
    const auto [first, last] = ends_of(text);
    const ib::Guid from = TRY(ib::Guid::parse(first).during("\"" + text + "\""));
    const ib::Guid to = TRY(ib::Guid::parse(last).during("\"" + text + "\""));
    ranges.push_back({from, to});
  }
  TRY(sm::pool::GuidPool::make(ranges));
  return ranges;
}

}  // namespace

Result<Ranges> read_ranges(const std::vector<std::string>& pkeys,
                           const std::vector<std::string>& guids) {
  Ranges ranges;
  ranges.pkeys = TRY(read_pkeys(pkeys).during("--pkeys"));
  ranges.guids = TRY(read_guids(guids).during("--guids"));
  return ranges;
}

}  // namespace ibpod::ctl::convert
