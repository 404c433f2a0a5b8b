#include "lib/base/fnv.h"
#include "lib/ib/hex.h"
#include "lib/json/value.h"
#include "lib/node/record.h"

#include <cstdint>
#include <cstdlib>

namespace ibpod::node {
namespace {

// The input as the attachment of a record, with a correct checksum.
std::string document_around(const json::Value& attachment) {
  return json::Value::object()
      .set("version", 1)
      .set("checksum", ib::hex(fnv1a(attachment.text()), 16))
      .set("attachment", attachment)
      .text();
}

// A record that is read can be written and read again unchanged.
void check(std::string_view text) {
  const Result<Record> record = parse_record(text);
  if (!record) return;
  const Result<Record> again = parse_record(text_of(*record));
  if (!again || *again != *record) std::abort();
}

}  // namespace
}  // namespace ibpod::node

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ibpod::node::check(text);
  const auto attachment = ibpod::json::Value::parse(text);
  if (attachment) ibpod::node::check(ibpod::node::document_around(*attachment));
  return 0;
}
