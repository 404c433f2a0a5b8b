#include "lib/node/address_releases.h"

#include "lib/node/record_file.h"

#include <algorithm>
#include <cerrno>

namespace ibpod::node {
namespace {

constexpr std::string_view kEnding = ".json";
constexpr int kMostTries = 5;

bool is_file_name(const std::string& text) {
  return !text.empty() && !text.starts_with('.') && text.find('/') == text.npos;
}

}  // namespace

Path AddressReleases::folder(const std::string& container_id, const std::string& ifname) const {
  return root_ / (container_id + ":" + ifname);
}

Path AddressReleases::file(const AddressReleaseName& name) const {
  return folder(name.container_id, name.ifname) / (name.attempt + std::string(kEnding));
}

Result<FolderLock> AddressReleases::lock(const std::string& container_id, const std::string& ifname,
                                         Deadline deadline) const {
  const Path folder = this->folder(container_id, ifname);
  FolderLock lock = TRY(FolderLock::take(folder, deadline));
  // Files that a killed writer has left. One that is writing now begins again.
  const std::vector<std::string> files = TRY(list_folder(folder));
  for (const std::string& stray : files) {
    if (stray.starts_with('.')) TRY(remove_file(folder / stray));
  }
  return lock;
}

// The last holder of the lock may remove the folder before the file is made: then it tries again.
Status AddressReleases::write(const Record& record, const Path& own) const {
  if (!is_file_name(record.attempt))
    return Error(Code::invalid, "record of " + record.container_id + ":" + record.ifname +
                                    ": attempt: \"" + record.attempt + "\" is not a file name");
  const AddressReleaseName name{record.container_id, record.ifname, record.attempt};
  Status written = ok();
  for (int i = 0; i < kMostTries; ++i) {
    written = write_record_file(file(name), record);
    if (written || written.error().code() != Code::not_found) break;
  }
  const bool full = !written && (written.error().error_number() == ENOSPC ||
                                 written.error().error_number() == EDQUOT);
  return full && !own.empty() ? link_file(own, file(name)) : written;
}

Status AddressReleases::remove(const AddressReleaseName& name) const {
  return remove_file(file(name));
}

Result<Record> AddressReleases::read(const AddressReleaseName& name) const {
  Record record = TRY(read_record_file(file(name)));
  if (AddressReleaseName{record.container_id, record.ifname, record.attempt} != name)
    return Error(Code::invalid, "record " + file(name).string() + ": it describes " +
                                    record.container_id + ":" + record.ifname + "/" +
                                    record.attempt);
  return record;
}

Result<std::vector<AddressReleaseName>> AddressReleases::of_attachment(
    const std::string& container_id, const std::string& ifname) const {
  const std::vector<std::string> files = TRY(list_folder(folder(container_id, ifname)));
  std::vector<AddressReleaseName> names;
  for (const std::string& file : files) {
    if (file.starts_with('.') || !file.ends_with(kEnding)) continue;
    names.push_back({container_id, ifname, file.substr(0, file.size() - kEnding.size())});
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<AddressReleaseName>> AddressReleases::all() const {
  const std::vector<Attachment> attachments = TRY(this->attachments());
  std::vector<AddressReleaseName> names;
  for (const auto& [container_id, ifname] : attachments) {
    const std::vector<AddressReleaseName> found = TRY(of_attachment(container_id, ifname));
    names.insert(names.end(), found.begin(), found.end());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<AddressReleases::Attachment>> AddressReleases::attachments() const {
  const std::vector<std::string> folders = TRY(list_folder(root_));
  std::vector<Attachment> attachments;
  for (const std::string& folder : folders) {
    const size_t colon = folder.rfind(':');
    if (colon != std::string::npos)
      attachments.emplace_back(folder.substr(0, colon), folder.substr(colon + 1));
  }
  return attachments;
}

Status AddressReleases::tidy(const std::string& container_id, const std::string& ifname) const {
  const std::vector<AddressReleaseName> names = TRY(of_attachment(container_id, ifname));
  if (!names.empty() || !path_exists(folder(container_id, ifname))) return ok();
  const Result<FolderLock> taken = lock(container_id, ifname, Deadline::in(Duration(0)));
  return taken || taken.error().code() == Code::unavailable ? ok() : Status(taken.error());
}

Status AddressReleases::tidy() const {
  const std::vector<Attachment> attachments = TRY(this->attachments());
  for (const auto& [container_id, ifname] : attachments) TRY(tidy(container_id, ifname));
  return ok();
}

}  // namespace ibpod::node
