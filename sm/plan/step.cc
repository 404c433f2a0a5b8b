#include "sm/plan/step.h"

#include "lib/mad/pkey_block.h"
#include "sm/tables/verdict.h"

namespace ibpod::sm {
namespace {

bool leaf_has_table(const Evidence& now, ib::Guid port) {
  const fabric::SeenPort* seen = now.topology.find(port);
  return seen != nullptr && seen->leaf && seen->leaf->enforcement &&
         seen->leaf->enforcement->places > 0;
}

}  // namespace

std::string listed(const std::vector<ib::PKey>& keys) {
  std::string text;
  for (const ib::PKey key : keys) text += (text.empty() ? "" : " ") + key.text();
  return text;
}

Step step_to(WantedKeys wanted, ib::Guid port, const Evidence& now, bool writes) {
  // There OpenSM puts it (sm/engine/partitions_file.h), wherever it is now.
  if (writes && port != now.sm_port) wanted.index0 = wanted.first();
  Step step;
  step.after = listed(wanted.keys);
  if (const ReadTable* table = find(now.tables, port)) {
    step.known = true;
    step.before = text(table->keys);
    const Result<ib::PKeyTable> right = mended(table->keys, wanted);
    step.fits = right.ok();
    if (right) step.after = text(*right);
    if (right) step.blocks = mad::different_blocks(table->keys, *right).size();
  }
  if (!leaf_has_table(now, port)) return step;
  const ReadTable* leaf = find(now.leaf_tables, port);
  if (leaf == nullptr) {
    step.blocks *= 2;  // it is given the same keys as its neighbour
    return step;
  }
  const Result<ib::PKeyTable> right = mended(leaf->keys, wanted);
  step.fits = step.fits && right;
  if (right) step.blocks += mad::different_blocks(leaf->keys, *right).size();
  return step;
}

}  // namespace ibpod::sm
