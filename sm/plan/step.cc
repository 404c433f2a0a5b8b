#include "sm/plan/step.h"

#include "lib/mad/pkey_block.h"
#include "sm/tables/table_diff.h"

#include <set>

namespace ibpod::sm::plan {
namespace {

bool leaf_has_table(const tables::FabricSnapshot& now, ib::Guid port) {
  const fabric::Port* seen = now.topology.find(port);
  return seen != nullptr && seen->switch_port && seen->switch_port->enforcement &&
         seen->switch_port->enforcement->partition_cap > 0;
}

void append(std::string& text, const std::string& one) { text += (text.empty() ? "" : " ") + one; }

// What is certain of a table that has been mended: keys stay at their places, those that go leave
// theirs, and index 0 is what is wanted there. For any other key the subnet manager finds a place.
struct Change {
  Change(const ib::PKeyTable& table, const ib::PKeyTable& right,
         const tables::DesiredTable& desired) {
    std::string anywhere;
    for (size_t place = 0; place < right.size(); ++place) {
      const ib::PKey key = right[place];
      const bool stays = key == table[place];
      const bool certain = stays || (place == 0 && desired.index0.has_value());
      if (key.partition() != 0 && certain) append(text, std::to_string(place) + ":" + key.text());
      if (key.partition() != 0 && !certain) append(anywhere, key.text());
      // A key has left its place, be it for another one.
      if (!stays && (certain || table[place].partition() != 0))
        written.insert(place / mad::kBlockEntries);
    }
    if (anywhere.empty()) return;
    append(text, anywhere);
    if (written.empty()) written.insert(0);  // or another one
  }

  std::string text;
  std::set<size_t> written;  // blocks; there may be more
};

}  // namespace

std::string listed(const std::vector<ib::PKey>& keys) {
  std::string text;
  for (const ib::PKey key : keys) append(text, key.text());
  return text;
}

TableStep table_step(const tables::DesiredTable& desired, ib::Guid port,
                     const tables::FabricSnapshot& now) {
  TableStep step;
  step.after = listed(desired.keys);
  if (const tables::ReadTable* table = tables::find(now.tables, port)) {
    step.known = true;
    step.before = text(table->keys);
    const Result<ib::PKeyTable> right = tables::mended(table->keys, desired);
    step.fits = right.ok();
    if (right) {
      const Change change(table->keys, *right, desired);
      step.after = change.text;
      step.blocks = change.written.size();
    }
  }
  if (!leaf_has_table(now, port)) return step;
  const tables::ReadTable* leaf = tables::find(now.switch_tables, port);
  if (leaf == nullptr) {
    step.blocks *= 2;  // it is given the same keys as its neighbour
    return step;
  }
  const Result<ib::PKeyTable> right = tables::mended(leaf->keys, desired);
  step.fits = step.fits && right;
  if (right) step.blocks += Change(leaf->keys, *right, desired).written.size();
  return step;
}

}  // namespace ibpod::sm::plan
