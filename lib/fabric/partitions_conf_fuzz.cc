// For any bytes: what is read from them can be written so that it reads the same again, and
// verify_text() accepts only that. The first byte chooses OpenSM's options.
#include "lib/fabric/partitions_conf.h"
#include "lib/fabric/partitions_conf_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace ibpod::fabric {
namespace {

void require(bool kept) {
  if (!kept) std::abort();
}

bool is_printable(const std::string& text) {
  constexpr size_t kMost = 500;
  return text.size() < kMost &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

void check_section(std::string_view text, const OpenSmOptions& options) {
  const std::vector<PartitionDefinition> own = {default_definition()};
  const auto file = render(own, text, options);
  if (file) require(manual_section(*file) == text && verify_text(*file, own, text, options).ok());
}

void check_file(std::string_view text, const OpenSmOptions& options) {
  const auto definitions = read_partitions_conf(text, options);
  if (!definitions) return require(is_printable(definitions.error().text()));
  std::string written;
  for (const PartitionDefinition& definition : *definitions) written += text_of(definition);
  const auto again = read_partitions_conf(written, options);
  require(again.ok() && *again == *definitions);
  const auto file = render(*definitions, "", options);
  if (file) require(verify_text(*file, *definitions, "", options).ok());
}

}  // namespace
}  // namespace ibpod::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const ibpod::fabric::OpenSmOptions options{(data[0] & 1) != 0, (data[0] & 2) != 0};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ibpod::fabric::check_file(text, options);
  ibpod::fabric::check_section(text, options);
  return 0;
}
