#include "sm/engine/partitions_file.h"

namespace ibpod::sm {
namespace {

// What stands above the administrator's section, with the line that begins it.
std::string_view above(std::string_view text) {
  const auto section = fabric::administrators_section(text);
  return section ? text.substr(0, text.size() - section->size()) : std::string_view();
}

bool missing(const Error& error) { return error.code() == Code::not_found; }

}  // namespace

std::vector<fabric::Partition> as_written(std::vector<fabric::Partition> partitions) {
  for (fabric::Partition& partition : partitions)
    partition.index0 = partition.index0 || partition.pkey == fabric::kDefaultPKey;
  return partitions;
}

PartitionsFile::PartitionsFile(Disk& disk, Path path, fabric::OpenSmOptions options)
    : disk_(disk), path_(std::move(path)), options_(options) {}

// A file that place() wrote, or one whose section has been edited since.
Result<PartitionsFile::Taken> PartitionsFile::read_ours(const Path& path) {
  std::string text = TRY(disk_.read(path));
  const std::string_view ours = above(text);
  if (ours.empty()) return Error(Code::invalid, path.string() + " was not written by ibpod");
  auto partitions =
      TRY(fabric::read_partitions_conf(ours, options_).during("read " + path.string()));
  std::string section(text.substr(ours.size()));
  TRY(fabric::judge(text, partitions, section, options_).during("read " + path.string()));
  auto administrators = TRY(fabric::read_partitions(section, options_));
  return Taken{std::move(text), std::move(partitions),
               Section{std::move(section), std::move(administrators)}};
}

void PartitionsFile::keep(Taken taken) {
  text_ = std::move(taken.text);
  partitions_ = std::move(taken.partitions);
  if (*section_ != taken.section)
    section_ = std::make_shared<const Section>(std::move(taken.section));
}

Status PartitionsFile::open() {
  auto good = read_ours(beside(".good"));
  if (good) {
    keep(std::move(good).value());
    if (inspect() != Found::foreign) return ok();
    return restore();
  }
  auto there = read_ours(path_);
  if (there) {
    keep(std::move(there).value());
    return disk_.write(beside(".good"), text_);
  }
  const auto found = disk_.read(path_);
  if ((!found && missing(found.error())) || (found && found->empty())) return ok();
  return Error(Code::denied, path_.string() +
                                 " is somebody else's, or damaged: move it away, and put what has "
                                 "to stay into the administrator's section of the new one")
      .also(there.error());
}

Result<std::string> PartitionsFile::put(const std::string& text,
                                        const std::vector<fabric::Partition>& partitions) {
  const Path next = beside(".next");
  TRY(disk_.write(next, text));
  // What OpenSM is going to read is what stands on disk, not what was meant to.
  std::string written = TRY(disk_.read(next));
  TRY(fabric::judge(written, partitions, section_->text, options_)
          .during("what was written to " + next.string()));
  TRY(disk_.write(beside(".good"), written));
  TRY(disk_.replace(next, path_));
  return written;
}

Status PartitionsFile::place(const std::vector<fabric::Partition>& partitions) {
  std::vector<fabric::Partition> written = as_written(partitions);
  const std::string text = TRY(fabric::render(written, section_->text, options_));
  // From the file, in the file's order: what later readings are compared with.
  auto ours = TRY(fabric::read_partitions_conf(above(text), options_));
  text_ = TRY(put(text, ours));
  partitions_ = std::move(ours);
  return ok();
}

Result<PartitionsFile::Taken> PartitionsFile::take_edit(const std::string& text) const {
  const std::string_view ours = above(text_);
  if (!std::string_view(text).starts_with(ours))
    return Error(Code::denied, "something else than the administrator's section was changed");
  std::string section = text.substr(ours.size());
  TRY(fabric::judge(text, partitions_, section, options_));
  auto administrators = TRY(fabric::read_partitions(section, options_));
  return Taken{text, partitions_, Section{std::move(section), std::move(administrators)}};
}

void PartitionsFile::refuse(const std::string& text, const Error& why) {
  const Path kept = beside(".refused");
  refusal_ = "an edit of " + path_.string() + " was undone: " + why.text();
  // For whoever made it. That it cannot be kept changes nothing.
  if (disk_.write(kept, text)) refusal_ += " (the edit is in " + kept.string() + ")";
}

PartitionsFile::Found PartitionsFile::inspect() {
  const auto now = disk_.read(path_);
  if (now && *now == text_) return Found::ours;
  if (!now) {
    refusal_ = path_.string() + " was put back: " + now.error().text();
    return Found::foreign;
  }
  auto edit = take_edit(*now);
  if (!edit) {
    refuse(*now, edit.error());
    return Found::foreign;
  }
  // Until it is the good one, too, it has not happened.
  const Status kept = disk_.write(beside(".good"), *now);
  if (!kept) {
    refuse(*now, kept.error());
    return Found::foreign;
  }
  keep(std::move(edit).value());
  refusal_.clear();
  return Found::edited;
}

Status PartitionsFile::restore() {
  if (!in_place()) return Error(Code::not_found, "no partitions have been put into place yet");
  text_ = TRY(put(text_, partitions_));
  return ok();
}

}  // namespace ibpod::sm
