// PartitionsFile: puts versions of partitions.conf in place, each only after our strict reader has
// read it back from disk as intended; and restores the version in place.
//
// Files beside it: NAME.next, a version while it is checked, then the replaced one; NAME.good, a
// copy of the version in place, for restore(); NAME.refused, another user's edit that was undone,
// renamed to NAME.corrected after a later edit is accepted.
#pragma once

#include "lib/base/files.h"
#include "lib/base/result.h"
#include "lib/fabric/partition_definition.h"
#include "lib/fabric/partitions_conf.h"
#include "sm/opensm/disk.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ibpod::sm::opensm {

// The administrator's lines below ibpod's own partitions.
struct ManualSection {
  std::string text;  // byte for byte
  std::vector<fabric::PartitionDefinition> partitions;
  bool operator==(const ManualSection&) const = default;
};

class PartitionsFile {
 public:
  // There must be only one writer, and the folder must exist. `disk` outlives it.
  PartitionsFile(Disk& disk, Path path, fabric::OpenSmOptions options);

  // Takes over the files of the last process, and completes its last step. Afterwards a checked
  // file is in place, or none (in_place()). denied if the file there was not written by ibpod-sm,
  // or for other options; it stays.
  Status open();
  bool in_place() const { return !text_.empty(); }

  enum class Found {
    ours,     // unchanged
    edited,   // the administrator's section has a valid edit, which is accepted
    foreign,  // anything else: call restore()
  };
  // Puts the definitions in place, on disk. After a failure the last version is in place or, if the
  // disk failed, perhaps this one. Returns what the replaced file had become since the last
  // inspection.
  Result<Found> place(const std::vector<fabric::PartitionDefinition>& definitions);
  Found inspect();
  // Why the last edit was refused, also before a restart. Empty if there was none, if a later one
  // was accepted, or if check_refused() has found that NAME.refused was removed.
  const std::string& refusal() const { return refusal_; }
  void check_refused();
  // Puts the last version back, even on a full disk. Returns as place(); changes already reported
  // by inspect() do not count again.
  Result<Found> restore();

  const Path& path() const { return path_; }
  // The file's size; 0: none is in place.
  size_t bytes() const { return text_.size(); }
  // Changes only in the calls above.
  const std::shared_ptr<const ManualSection>& section() const { return section_; }

 private:
  struct Parsed {
    std::string text;
    std::vector<fabric::PartitionDefinition> partitions;
    ManualSection section;
  };
  // The written text, and the text that it replaced, if known.
  struct Replaced {
    std::string text;
    std::optional<std::string> replaced;
  };
  Result<Parsed> read_ours(const Path& path);
  Error not_ours(const Error& why);
  Result<Parsed> take_edit(const std::string& text) const;
  void keep(Parsed taken);
  // fresh: the text has just been verified to have these partitions and the present section.
  enum class Text { fresh, kept };
  Result<Replaced> put(Text kind, const std::string& text,
                       const std::vector<fabric::PartitionDefinition>& definitions);
  Result<std::optional<std::string>> swap_in(const Path& next);
  Status put_good_back();
  Found take_replaced(const Replaced& put, const std::vector<fabric::PartitionDefinition>& next);
  Found refuse(const std::string& text, const Error& why);
  void corrected();
  void remember_refused();
  Path beside(const char* ending) const { return path_.string() + ending; }

  Disk& disk_;
  Path path_;
  fabric::OpenSmOptions options_;
  std::string text_;
  std::vector<fabric::PartitionDefinition> partitions_;  // of text_, without the section's
  std::shared_ptr<const ManualSection> section_ = std::make_shared<ManualSection>();
  std::string refusal_;
  bool is_kept_ = false;                // the edit of refusal_ is in NAME.refused
  std::optional<std::string> foreign_;  // reported by inspect()
};

// busy if the file would grow beyond fabric::kMostBytes. A larger file may keep its size or become
// smaller.
Status check_growth(size_t present, size_t next);

// The partitions as written to the file: the default one's key takes index 0 of every port where no
// other does, which IPoIB expects, and OpenSM with allow_both_pkeys does not do
// (docs/opensm-notes.md).
std::vector<fabric::PartitionDefinition> as_written(
    std::vector<fabric::PartitionDefinition> definitions);

}  // namespace ibpod::sm::opensm
