#include "ctl/subject.h"

#include "lib/base/dns_name.h"
#include "lib/fabric/cluster_names.h"
#include "lib/ib/guid.h"

namespace ibpod::ctl {
namespace {

Result<std::string> subject_of(const std::string& word, const std::string& name_space) {
  if (const Result<ib::Guid> guid = ib::Guid::parse(word)) return guid->text();
  const size_t slash = word.rfind('/');
  const bool whole = slash != std::string::npos;
  const std::string space = whole ? word.substr(0, slash) : name_space;
  const std::string pod = whole ? word.substr(slash + 1) : word;
  // True if it is a name that the service can know.
  if (fabric::is_namespace_name(space) && is_dns_subdomain(pod)) return space + "/" + pod;
  if (ib::PciAddress::parse(word)) {
    return Error(Code::invalid,
                 word +
                     ": a device of this node can only be explained alone; for its port "
                     "use the GUID");
  }
  return Error(Code::invalid, "\"" + word +
                                  "\" is neither a pod (NAMESPACE/NAME) nor a GUID "
                                  "(00:02:c9:03:00:a1:b2:c3 or 0x0002c90300a1b2c3)");
}

}  // namespace

std::optional<ib::PciAddress> device_of(const std::vector<std::string>& words) {
  if (words.size() != 1) return std::nullopt;
  const Result<ib::PciAddress> address = ib::PciAddress::parse(words.front());
  if (!address) return std::nullopt;
  return *address;
}

Result<std::vector<std::string>> subjects_of(const std::vector<std::string>& words,
                                             const std::string& name_space) {
  std::vector<std::string> subjects;
  for (const std::string& word : words) {
    const std::string subject = TRY(subject_of(word, name_space));
    subjects.push_back(subject);
  }
  return subjects;
}

}  // namespace ibpod::ctl
