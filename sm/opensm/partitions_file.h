// PartitionsFile: partitions.conf in its place. A version gets there only after our strict reader
// has read it back from disk as intended; and the version in place can be restored.
//
// In the same folder: NAME.next, a version while it is checked, then the one that it replaced;
// NAME.good, a copy of the one in place, to restore it from; NAME.refused, another user's edit that
// was undone, renamed to NAME.corrected after a later edit is accepted.
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
  // One writer at a time; the folder is there. `disk` outlives it.
  PartitionsFile(Disk& disk, Path path, fabric::OpenSmOptions options);

  // Takes over the files of the last process, and completes what it had begun. Afterwards a checked
  // file is in place, or none: then in_place() is false. denied: the file there was not written by
  // ibpod-sm, or for other options; it stays.
  Status open();
  bool in_place() const { return !text_.empty(); }

  enum class Found {
    ours,     // as it was written
    edited,   // the administrator's section is another one, and valid: it is taken over
    foreign,  // anything else: restore() it
  };
  // The file as it is to be, in place and on disk. After a failure the last one is in place, or,
  // where the disk failed, perhaps this one. What is answered is what had been in its place since
  // the last look: it is not there any more.
  Result<Found> place(const std::vector<fabric::PartitionDefinition>& definitions);
  Found inspect();
  // Why the last edit was not taken over, also before a restart; empty where there was none, or a
  // later one was, or check_refused() has found that NAME.refused was removed.
  const std::string& refusal() const { return refusal_; }
  void check_refused();
  // Puts the last text back, also where the disk is full. Answers as place() does; what inspect()
  // has told of counts no more.
  Result<Found> restore();

  const Path& path() const { return path_; }
  // How large it is; 0: none is in place.
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
  // fresh: the text has just been judged to be these partitions, with the section as it is.
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
  std::vector<fabric::PartitionDefinition> partitions_;  // of it, without the section's
  std::shared_ptr<const ManualSection> section_ = std::make_shared<ManualSection>();
  std::string refusal_;
  bool is_kept_ = false;                // what it speaks of is in NAME.refused
  std::optional<std::string> foreign_;  // what inspect() has told of
};

// busy where the file would grow beyond fabric::kMostBytes. One that is larger already may stay as
// large, or become smaller.
Status check_growth(size_t present, size_t next);

// The partitions as they are written: the default one's key takes index 0 wherever no other does,
// as IPoIB expects and as OpenSM with allow_both_pkeys does not see to (docs/opensm-notes.md).
std::vector<fabric::PartitionDefinition> as_written(
    std::vector<fabric::PartitionDefinition> definitions);

}  // namespace ibpod::sm::opensm
