// A record's file, wherever it is.
#pragma once

#include "lib/base/files.h"
#include "lib/node/record.h"

namespace ibpod::node {

// On disk, flushed, when this returns; makes the folder. invalid where it could not be read back as
// it is: bytes that are no UTF-8, or too many.
Status write_record_file(const Path& file, const Record& record);

// not_found where there is none; invalid or unsupported where it cannot be read; denied if another
// user than root may have written it.
Result<Record> read_record_file(const Path& file);

}  // namespace ibpod::node
