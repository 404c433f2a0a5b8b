#include "lib/mad/node_info.h"
#include "lib/mad/pkey_table.h"
#include "lib/mad/port_info.h"
#include "lib/mad/sm_info.h"

#include <algorithm>
#include <cstdlib>

namespace {

using namespace ibpod::mad;

// A value that can be parsed can be encoded again, and parses as the same.
template <typename Value>
void there_and_back(const Data& data, ibpod::Result<Value> (*parse)(const Data&)) {
  const auto value = parse(data);
  if (!value) return;
  const auto again = parse(encode(*value));
  if (!again || !(*again == *value)) std::abort();
}

bool can_be_logged(const std::string& text) {
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
  return text.size() <= Data().size() && std::all_of(text.begin(), text.end(), is_printable);
}

}  // namespace

// The parsers of packets take whatever there is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Mad mad{};
  std::copy_n(reinterpret_cast<const std::byte*>(data), std::min(size, mad.size()), mad.begin());
  (void)transaction_of(mad);
  const auto answer = parse_response(mad);
  if (!answer) return 0;
  (void)status_text(answer->status);
  there_and_back<NodeInfo>(answer->data, parse_node_info);
  there_and_back<SwitchInfo>(answer->data, parse_switch_info);
  there_and_back<PortInfo>(answer->data, parse_port_info);
  there_and_back<SmInfo>(answer->data, parse_sm_info);
  there_and_back<PKeyBlock>(answer->data, parse_pkey_block);
  const auto description = parse_node_description(answer->data);
  if (!description || !can_be_logged(*description)) std::abort();
  return 0;
}
