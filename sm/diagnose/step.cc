#include "sm/diagnose/step.h"

#include "lib/base/join.h"
#include "lib/mad/pkey_table.h"
#include "sm/verify/table_diff.h"

#include <set>

namespace ibpod::sm::diagnose {
namespace {

bool switch_port_has_table(const FabricSnapshot& now, ib::Guid port) {
  const fabric::Port* seen = now.topology.find(port);
  return seen != nullptr && seen->switch_port && seen->switch_port->enforcement &&
         seen->switch_port->enforcement->partition_cap > 0;
}

// The certain part of a change: right keys keep their index, foreign keys are removed, and index 0
// gets the desired key. The subnet manager chooses the index of all other keys.
struct Change {
  Change(const ib::PKeyTable& table, const ib::PKeyTable& right,
         const verify::DesiredTable& desired) {
    std::string anywhere;
    for (size_t place = 0; place < right.size(); ++place) {
      const ib::PKey key = right[place];
      const bool stays = key == table[place];
      const bool certain = stays || (place == 0 && desired.index0.has_value());
      if (key.partition() != 0 && certain)
        add_item(text, " ", std::to_string(place) + ":" + key.text());
      if (key.partition() != 0 && !certain) add_item(anywhere, " ", key.text());
      // A key is removed or replaced here.
      if (!stays && (certain || table[place].partition() != 0))
        written.insert(place / mad::kBlockEntries);
    }
    if (anywhere.empty()) return;
    add_item(text, " ", anywhere);
    if (written.empty()) written.insert(0);  // or in another block
  }

  std::string text;
  std::set<size_t> written;  // at least these blocks
};

}  // namespace

TableStep table_step(const verify::DesiredTable& desired, ib::Guid port,
                     const FabricSnapshot& now) {
  TableStep step;
  step.after = join(desired.keys, " ", &ib::PKey::text);
  if (const ReadTable* table = find(now.tables, port)) {
    step.known = true;
    step.before = text(table->keys);
    const Result<ib::PKeyTable> right = verify::repaired(table->keys, desired);
    step.fits = right.ok();
    if (right) {
      const Change change(table->keys, *right, desired);
      step.after = change.text;
      step.blocks = change.written.size();
    }
  }
  if (!switch_port_has_table(now, port)) return step;
  const ReadTable* leaf = find(now.switch_tables, port);
  if (leaf == nullptr) {
    step.blocks *= 2;  // it gets the same keys as the port
    return step;
  }
  const Result<ib::PKeyTable> right = verify::repaired(leaf->keys, desired);
  step.fits = step.fits && right;
  if (right) step.blocks += Change(leaf->keys, *right, desired).written.size();
  return step;
}

}  // namespace ibpod::sm::diagnose
