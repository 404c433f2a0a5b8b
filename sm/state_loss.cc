#include "sm/state_loss.h"

#include "lib/fabric/partitions_conf.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

Result<bool> is_new(Store& store) {
  for (const Kind kind : {Kind::partition, Kind::binding, Kind::node, Kind::guid, Kind::range}) {
    const auto there = TRY(store.all(kind));
    if (!there.empty()) return false;
  }
  return true;
}

// Partitions of ours that a file has, beside the default one. None where it is not ours.
size_t kept_in(const Path& file, const OpenSmSettings& settings) {
  const auto text = read_file(file, fabric::kMostReadable);
  if (!text) return 0;
  const auto section = fabric::administrators_section(*text);
  if (!section) return 0;
  const std::string_view ours = std::string_view(*text).substr(0, text->size() - section->size());
  const auto partitions = fabric::read_partitions_conf(ours, options_of(settings));
  if (!partitions) return 0;
  return static_cast<size_t>(
      std::count_if(partitions->begin(), partitions->end(),
                    [](const fabric::Partition& one) { return one.pkey != fabric::kDefaultPKey; }));
}

}  // namespace

Status check_not_lost(Store& store, const Path& database, const OpenSmEngineSettings& settings) {
  const bool fresh = TRY(is_new(store));
  if (!fresh) return ok();
  const OpenSmPaths paths(settings.folder);
  for (const Path& file : {Path(paths.partitions.native() + ".good"), paths.partitions}) {
    const size_t kept = kept_in(file, settings.keeper.opensm);
    if (kept == 0) continue;
    return Error(Code::invalid, database.native() + " is empty, and " + file.native() +
                                    " has partitions (" + std::to_string(kept) +
                                    ") that it should know of: put a copy of it in its " +
                                    "place; or, if nothing of them is to stay, remove " +
                                    settings.folder.native());
  }
  return ok();
}

}  // namespace ibpod::sm
