#include "sm/state_loss.h"

#include "lib/fabric/partitions_conf.h"
#include "sm/ufm/written_members.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

Result<bool> is_new(state::Store& store) {
  for (const state::RecordKind kind :
       {state::RecordKind::partition, state::RecordKind::binding, state::RecordKind::node,
        state::RecordKind::guid, state::RecordKind::range}) {
    const auto there = TRY(store.all(kind));
    if (!there.empty()) return false;
  }
  return true;
}

// The number of our partitions in a file without the default one; 0 if the file is not ours.
size_t kept_in(const Path& file, const opensm::OpenSmSettings& settings) {
  const auto text = read_file(file, fabric::kMostReadable);
  if (!text) return 0;
  const auto section = fabric::manual_section(*text);
  if (!section) return 0;
  const std::string_view ours = std::string_view(*text).substr(0, text->size() - section->size());
  const auto definitions = fabric::read_partitions_conf(ours, opensm::options_of(settings));
  if (!definitions) return 0;
  return static_cast<size_t>(std::count_if(
      definitions->begin(), definitions->end(),
      [](const fabric::PartitionDefinition& one) { return one.pkey != fabric::kDefaultPKey; }));
}

}  // namespace

Status check_state_lost(state::Store& store, const Path& database,
                        const opensm::OpenSmEngineSettings& settings) {
  const bool fresh = TRY(is_new(store));
  if (!fresh) return ok();
  const opensm::OpenSmPaths paths(settings.folder);
  for (const Path& file : {Path(paths.partitions.native() + ".good"), paths.partitions}) {
    const size_t kept = kept_in(file, settings.launcher.opensm);
    if (kept == 0) continue;
    return Error(Code::invalid, database.native() + " is empty, but " + file.native() +
                                    " has partitions (" + std::to_string(kept) +
                                    ") that it should contain: restore the database from a backup; "
                                    "or, to drop these partitions, remove " +
                                    settings.folder.native());
  }
  return ok();
}

Status check_state_lost(state::Store& store, const Path& database,
                        const ufm::EngineSettings& settings) {
  const ufm::WrittenMembers written = TRY(ufm::WrittenMembers::open(settings.folder));
  size_t present = 0;
  for (const auto& [pkey, partition] : written.all())
    for (const auto& [guid, member] : partition) present += member.leaving ? 0 : 1;
  const bool fresh = TRY(is_new(store));
  if (!fresh || present == 0) return ok();
  return Error(Code::invalid, database.native() + " is empty, but " + settings.folder.native() +
                                  " says that UFM has members (" + std::to_string(present) +
                                  ") of partitions that it should contain: restore the database "
                                  "from a backup; or, to leave these members in UFM and begin "
                                  "without partitions, remove " +
                                  settings.folder.native());
}

}  // namespace ibpod::sm
