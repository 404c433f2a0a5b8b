// Table: rows of text in columns, for people.
#pragma once

#include <string>
#include <vector>

namespace ibpod::ctl {

using Row = std::vector<std::string>;

// The head and the rows, each column as wide as its widest cell (in bytes: all of ours are ASCII),
// two spaces between; an empty cell is "-". The cells are printable() (lib/base/printable.h): names
// come from pods and from nodes, and the text goes to a terminal.
std::string table(const Row& head, const std::vector<Row>& rows);

}  // namespace ibpod::ctl
