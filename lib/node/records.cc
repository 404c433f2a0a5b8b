#include "lib/node/records.h"

#include "lib/base/fd.h"
#include "lib/node/child.h"
#include "lib/node/record_file.h"

#include <algorithm>

#include <fcntl.h>

namespace ibpod::node {
namespace {

constexpr std::string_view kEnding = ".json";

// Names that start with a dot are files not yet renamed; a crash may leave one.
std::optional<RecordName> parse_name(const std::string& folder, const std::string& file) {
  const size_t colon = file.rfind(':');
  if (file.starts_with('.') || !file.ends_with(kEnding) || colon == std::string::npos)
    return std::nullopt;
  const std::string ifname = file.substr(colon + 1, file.size() - kEnding.size() - colon - 1);
  return RecordName{folder, file.substr(0, colon), ifname};
}

bool is_ours(const std::string& folder) {
  return is_child_link(folder) || ib::PciAddress::parse(folder);
}

}  // namespace

RecordName name_of(const Record& record) {
  return {record.child ? record.child->link : record.device.text(), record.container_id,
          record.ifname};
}

Path Records::file(const RecordName& name) const {
  return root_ / name.folder / (name.container_id + ":" + name.ifname + std::string(kEnding));
}

Result<FolderLock> Records::lock(const std::string& folder, Deadline deadline) const {
  LockedFolder locked = TRY(lock_and_list(folder, deadline));
  return std::move(locked.lock);
}

Result<LockedFolder> Records::lock_and_list(const std::string& folder, Deadline deadline) const {
  FolderLock lock = TRY(FolderLock::take(root_ / folder, deadline));
  LockedFolder locked{std::move(lock), {}};
  const std::vector<std::string> files = TRY(list_folder(root_ / folder));
  for (const std::string& file : files) {
    // Records are written under the lock, so a temporary file now is from a killed writer.
    if (file.starts_with('.')) TRY(remove_file(root_ / folder / file));
    if (const auto name = parse_name(folder, file)) locked.names.push_back(*name);
  }
  return locked;
}

Result<FolderWatch> Records::watch(const std::string& folder) const {
  return FolderWatch::open(root_ / folder);
}

Result<TreeWatch> Records::watch_all() const {
  TRY(make_folder());
  return TreeWatch::open(root_);
}

Status Records::write(const Record& record) const {
  return write_record_file(file(name_of(record)), record);
}

Status Records::remove(const RecordName& name) const { return remove_file(file(name)); }

Result<Record> Records::read(const RecordName& name) const {
  Record record = TRY(read_record_file(file(name)));
  if (name_of(record) != name) {
    return Error(Code::invalid,
                 "record " + file(name).string() + ": it describes " + name_of(record).text());
  }
  return record;
}

Result<std::vector<RecordName>> Records::in_folder(const std::string& folder) const {
  const std::vector<std::string> files = TRY(list_folder(root_ / folder));
  std::vector<RecordName> names;
  for (const std::string& file : files) {
    if (const auto name = parse_name(folder, file)) names.push_back(*name);
  }
  return names;
}

Status Records::tidy(const std::string& folder) const {
  const std::vector<RecordName> names = TRY(in_folder(folder));
  if (!names.empty() || !path_exists(root_ / folder)) return ok();
  // Taking the lock removes the files; releasing it removes the folder.
  const Result<FolderLock> taken = lock(folder, Deadline::in(Duration(0)));
  return taken || taken.error().code() == Code::unavailable ? ok() : Status(taken.error());
}

Status Records::tidy() const {
  const std::vector<std::string> folders = TRY(list_folder(root_));
  for (const std::string& folder : folders) {
    if (is_ours(folder)) TRY(tidy(folder));
  }
  return address_releases_.tidy();
}

Result<std::vector<RecordName>> Records::all() const {
  const std::vector<std::string> folders = TRY(list_folder(root_));
  std::vector<RecordName> names;
  for (const std::string& folder : folders) {
    if (!is_ours(folder)) continue;
    const std::vector<RecordName> found = TRY(in_folder(folder));
    names.insert(names.end(), found.begin(), found.end());
  }
  return names;
}

Result<std::vector<RecordName>> Records::of_attachment(const std::string& container_id,
                                                       const std::string& ifname) const {
  const std::vector<std::string> folders = TRY(list_folder(root_));
  std::vector<RecordName> names;
  for (const std::string& folder : folders) {
    const RecordName name{folder, container_id, ifname};
    if (is_ours(folder) && path_exists(file(name))) names.push_back(name);
  }
  return names;
}

Status Records::check_writable() const {
  TRY(make_folders(root_));
  const Path probe = root_ / ".writable";
  // A fixed name: a process killed here leaves one file at most, which the next call removes.
  const Fd fd(TRY(sys("write " + probe.string(), [&] {
    return ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  })));
  TRY(sys("write " + probe.string(), [&] { return ::write(fd.get(), "ibpod\n", 6); }));
  return remove_file(probe);
}

}  // namespace ibpod::node
