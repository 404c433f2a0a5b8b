#include "ctl/table.h"

#include "lib/base/printable.h"

#include <algorithm>

namespace ibpod::ctl {
namespace {

std::string shown(const std::string& cell) { return cell.empty() ? "-" : printable(cell); }

std::string line(const Row& row, const std::vector<size_t>& widths) {
  std::string text;
  for (size_t i = 0; i < widths.size(); ++i) {
    const std::string cell = i < row.size() ? shown(row[i]) : "-";
    text += cell + std::string(widths[i] - cell.size() + 2, ' ');
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

}  // namespace

std::string table(const Row& head, const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < head.size(); ++i) {
    widths.push_back(shown(head[i]).size());
    for (const Row& row : rows)
      if (i < row.size()) widths[i] = std::max(widths[i], shown(row[i]).size());
  }
  std::string text = line(head, widths);
  for (const Row& row : rows) text += line(row, widths);
  return text;
}

}  // namespace ibpod::ctl
