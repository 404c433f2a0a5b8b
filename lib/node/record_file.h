// Reads and writes the file of one record.
#pragma once

#include "lib/base/files.h"
#include "lib/node/record.h"

namespace ibpod::node {

// Durable when this returns; makes the folder. invalid if the record could not be read back
// unchanged: it has bytes that are not UTF-8, or is too large.
Status write_record_file(const Path& file, const Record& record);

// not_found if there is no file; invalid or unsupported if it cannot be read; denied if other users
// than root can write it.
Result<Record> read_record_file(const Path& file);

}  // namespace ibpod::node
