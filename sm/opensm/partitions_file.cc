#include "sm/opensm/partitions_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ibpod::sm::opensm {
namespace {

// The text above the administrator's section, with the line that begins the section.
std::string_view above(std::string_view text) {
  const auto section = fabric::manual_section(text);
  return section ? text.substr(0, text.size() - section->size()) : std::string_view();
}

bool missing(const Error& error) { return error.code() == Code::not_found; }

// The reason why a foreign file is not replaced.
constexpr std::string_view kNoFile =
    "without a file OpenSM makes every port a full member of the default partition";

// The options that are needed to read a text of ours; empty if the text is not ours.
std::string options_for(std::string_view ours, const fabric::OpenSmOptions& options) {
  const auto reads = [&](bool both, bool qos) {
    return fabric::read_partitions_conf(ours, {both, qos}).ok();
  };
  if (!reads(true, true)) return "";
  const bool both = !options.allow_both_pkeys && !reads(false, true);
  const bool qos = !options.qos && !reads(true, false);
  if (both && qos) return "`allowBothPkeys` and `qos`";
  return both ? "`allowBothPkeys`" : qos ? "`qos`" : "";
}

}  // namespace

std::vector<fabric::PartitionDefinition> as_written(
    std::vector<fabric::PartitionDefinition> definitions) {
  for (fabric::PartitionDefinition& definition : definitions)
    definition.index0 = definition.index0 || definition.pkey == fabric::kDefaultPKey;
  return definitions;
}

Status check_growth(size_t present, size_t next) {
  if (next <= std::max(present, fabric::kMostBytes)) return ok();
  return Error(Code::busy, "partitions.conf would have " + std::to_string(next) + " bytes, limit " +
                               std::to_string(fabric::kMostBytes) +
                               ": first remove static members from partitions, or end pods");
}

PartitionsFile::PartitionsFile(Disk& disk, Path path, fabric::OpenSmOptions options)
    : disk_(disk), path_(std::move(path)), options_(options) {}

// Reads a file that place() wrote; its section may have been edited since.
Result<PartitionsFile::Parsed> PartitionsFile::read_ours(const Path& path) {
  std::string text = TRY(disk_.read(path));
  const std::string_view ours = above(text);
  if (ours.empty()) return Error(Code::invalid, path.string() + " was not written by ibpod");
  auto definitions =
      TRY(fabric::read_partitions_conf(ours, options_).during("read " + path.string()));
  std::string section(text.substr(ours.size()));
  TRY(fabric::verify_text(text, definitions, section, options_).during("read " + path.string()));
  auto administrators = TRY(fabric::read_partitions(section, options_));
  return Parsed{std::move(text), std::move(definitions),
                ManualSection{std::move(section), std::move(administrators)}};
}

void PartitionsFile::keep(Parsed taken) {
  text_ = std::move(taken.text);
  partitions_ = std::move(taken.partitions);
  if (*section_ != taken.section)
    section_ = std::make_shared<const ManualSection>(std::move(taken.section));
}

Status PartitionsFile::open() {
  remember_refused();
  auto good = read_ours(beside(".good"));
  if (good) {
    keep(std::move(good).value());
    // The last process ended before its last step; the file was not edited.
    const auto next = disk_.read(beside(".next"));
    if (next && *next == text_) return disk_.replace(beside(".next"), path_);
    if (inspect() == Found::foreign) TRY(restore());
    return ok();
  }
  auto there = read_ours(path_);
  if (there) {
    keep(std::move(there).value());
    return disk_.write(beside(".good"), text_);
  }
  const auto found = disk_.read(path_);
  if ((!found && missing(found.error())) || (found && found->empty())) return ok();
  return not_ours(there.error());
}

Error PartitionsFile::not_ours(const Error& why) {
  const auto text = disk_.read(path_);
  const std::string options = text ? options_for(above(*text), options_) : "";
  if (!options.empty()) {
    return Error(Code::denied, path_.string() + " was written with " + options +
                                   ": set this key again in ibpod-sm's configuration and leave the "
                                   "file in place, because " +
                                   std::string(kNoFile))
        .also(why);
  }
  return Error(Code::denied,
               path_.string() +
                   " was not written by ibpod-sm, or is damaged: copy it and leave it in place, or "
                   "stop OpenSM before you move it away, because " +
                   std::string(kNoFile) +
                   "; put the partitions to keep into the administrator's section of the new file")
      .also(why);
}

// Exchanges the files in one step, so that an edit saved meanwhile is not lost.
Result<std::optional<std::string>> PartitionsFile::swap_in(const Path& next) {
  std::error_code error;
  bool exchanged = std::filesystem::is_regular_file(path_, error);
  if (exchanged) exchanged = TRY(disk_.exchange(next, path_));
  if (!exchanged) {
    TRY(disk_.replace(next, path_));
    return std::optional<std::string>();
  }
  auto replaced = disk_.read(next);
  std::filesystem::remove(next, error);  // then the next file replaces it
  if (!replaced) return std::optional<std::string>();
  return std::optional(std::move(replaced).value());
}

Result<PartitionsFile::Replaced> PartitionsFile::put(
    Text kind, const std::string& text,
    const std::vector<fabric::PartitionDefinition>& definitions) {
  const Path next = beside(".next");
  TRY(disk_.write(next, text));
  // Verify the bytes on disk, which OpenSM will read. Skipped if they equal the text that was just
  // verified: for a large file this takes longer than everything else.
  std::string written = TRY(disk_.read(next));
  if (kind == Text::kept || written != text)
    TRY(fabric::verify_text(written, definitions, section_->text, options_)
            .during("verify " + next.string()));
  TRY(disk_.write(beside(".good"), written));
  auto replaced = TRY(swap_in(next));
  return Replaced{std::move(written), std::move(replaced)};
}

// Handles the replaced text: an edit of text_, or ours.
PartitionsFile::Found PartitionsFile::take_replaced(
    const Replaced& put, const std::vector<fabric::PartitionDefinition>& next) {
  const auto known = std::exchange(foreign_, std::nullopt);
  if (!put.replaced || *put.replaced == text_ || put.replaced == known) return Found::ours;
  auto edit = take_edit(*put.replaced);
  if (!edit) return refuse(*put.replaced, edit.error());
  const auto fits = fabric::render(next, edit->section.text, options_);
  if (!fits) return refuse(*put.replaced, fits.error());
  section_ = std::make_shared<const ManualSection>(std::move(edit->section));
  corrected();
  return Found::edited;
}

Result<PartitionsFile::Found> PartitionsFile::place(
    const std::vector<fabric::PartitionDefinition>& definitions) {
  const std::vector<fabric::PartitionDefinition> written = as_written(definitions);
  Found all = Found::ours;
  while (true) {
    const std::string text = TRY(fabric::render(written, section_->text, options_));
    // In the order of the file, for the comparison with later readings.
    std::vector<fabric::PartitionDefinition> ours = written;
    std::stable_partition(ours.begin(), ours.end(), [](const fabric::PartitionDefinition& one) {
      return one.pkey == fabric::kDefaultPKey;
    });
    Replaced done = TRY(put(Text::fresh, text, ours));
    const Found found = take_replaced(done, written);
    if (found == Found::ours && !is_kept_) refusal_.clear();
    text_ = std::move(done.text);
    partitions_ = std::move(ours);
    all = std::max(all, found);
    if (found != Found::edited) return all;  // else again, with that section
  }
}

Result<PartitionsFile::Parsed> PartitionsFile::take_edit(const std::string& text) const {
  if (!in_place()) return Error(Code::denied, "ibpod-sm has not written this file yet");
  const std::string_view ours = above(text_);
  if (!std::string_view(text).starts_with(ours))
    return Error(Code::denied, "a line outside the administrator's section was changed");
  TRY(check_growth(text_.size(), text.size()));
  std::string section = text.substr(ours.size());
  TRY(fabric::verify_text(text, partitions_, section, options_));
  auto administrators = TRY(fabric::read_partitions(section, options_));
  return Parsed{text, partitions_, ManualSection{std::move(section), std::move(administrators)}};
}

PartitionsFile::Found PartitionsFile::refuse(const std::string& text, const Error& why) {
  const Path kept = beside(".refused");
  refusal_ = "an edit of " + path_.string() + " was undone: " + why.text();
  // Kept for the editor; a failure to keep it does not matter.
  is_kept_ = disk_.write(kept, text).ok();
  if (is_kept_) refusal_ += " (the edit is in " + kept.string() + ")";
  return Found::foreign;
}

PartitionsFile::Found PartitionsFile::inspect() {
  const auto now = disk_.read(path_);
  foreign_.reset();
  if (now && *now == text_) return Found::ours;
  if (!now) {
    // There is no edit to keep; an empty file records that the file was removed.
    const Path mark = beside(".refused");
    is_kept_ = path_exists(mark) || disk_.write(mark, "").ok();
    refusal_ = path_.string() + " could not be read and was restored: " + now.error().text();
    return Found::foreign;
  }
  auto edit = take_edit(*now);
  // The edit counts only once it is in .good, too.
  const Status kept = edit ? disk_.write(beside(".good"), *now) : Status(edit.error());
  if (!kept) {
    foreign_ = *now;
    return refuse(*now, kept.error());
  }
  keep(std::move(edit).value());
  corrected();
  return Found::edited;
}

// An edit was accepted, so the refused one is no longer reported.
void PartitionsFile::corrected() {
  if (path_exists(beside(".refused")))
    (void)disk_.replace(beside(".refused"), beside(".corrected"));
  is_kept_ = false;
  refusal_.clear();
}

void PartitionsFile::remember_refused() {
  const Path kept = beside(".refused");
  is_kept_ = path_exists(kept);
  if (!is_kept_) return;
  const auto edit = disk_.read(kept);
  const bool removed = edit && edit->empty();
  refusal_ = removed ? path_.string() + " was removed and restored before ibpod-sm was started"
                     : "an edit of " + path_.string() +
                           " was undone before ibpod-sm was started (the edit is in " +
                           kept.string() + ")";
}

void PartitionsFile::check_refused() {
  if (is_kept_ && !path_exists(beside(".refused"))) refusal_.clear();
}

// Needs no disk space. open() can work without .good.
Status PartitionsFile::put_good_back() {
  const Path good = beside(".good");
  const std::string text = TRY(disk_.read(good));
  if (text != text_) return Error(Code::internal, good.string() + " is damaged");
  TRY(disk_.replace(good, path_));
  (void)disk_.write(good, text_);  // if there is space again
  return ok();
}

Result<PartitionsFile::Found> PartitionsFile::restore() {
  if (!in_place()) return Error(Code::not_found, "no partitions are in place yet");
  auto done = put(Text::kept, text_, partitions_);
  if (!done) {
    const Status back = put_good_back();
    if (!back) return std::move(done).error().also(back.error());
    foreign_.reset();
    return Found::ours;
  }
  const Found found = take_replaced(*done, partitions_);
  if (found != Found::edited) return found;
  TRY(place(partitions_));
  return found;
}

}  // namespace ibpod::sm::opensm
