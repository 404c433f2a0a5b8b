#include "lib/node/record_file.h"

#include "lib/base/private_file.h"

namespace ibpod::node {
namespace {

// One byte of a network can take six in a record, as \u007f does; older networks had up to 1 MiB.
constexpr size_t kLargestRecord = 8 << 20;

}  // namespace

Status write_record_file(const Path& file, const Record& record) {
  const std::string text = text_of(record);
  const std::string what = "record " + file.string();
  // JSON loses bytes that are not UTF-8, which may be needed for the restore.
  const Record again = TRY(parse_record(text));
  if (again != record)
    return Error(Code::invalid,
                 what + ": CNI_ARGS, CNI_PATH or CNI_NETNS contain bytes that are not UTF-8");
  if (text.size() > kLargestRecord)
    return Error(Code::invalid, what + ": " + std::to_string(text.size()) +
                                    " bytes with its network, more than the limit of " +
                                    std::to_string(kLargestRecord) + " bytes");
  TRY(make_folders(file.parent_path()));
  return write_file_atomically(file, text);
}

Result<Record> read_record_file(const Path& file) {
  const std::string text = TRY(read_trusted_file(file, kLargestRecord));
  return parse_record(text).during("record " + file.string());
}

}  // namespace ibpod::node
