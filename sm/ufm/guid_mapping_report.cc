// The findings of GuidMapping.
#include "lib/base/join.h"
#include "lib/base/printable.h"
#include "sm/ufm/guid_mapping.h"

#include <algorithm>

namespace ibpod::sm::ufm {
namespace {

constexpr size_t kMostNamed = 4;
constexpr size_t kMostWords = 300;  // bytes of UFM's words

// PFs with VFs that are not confined, for one reason.
struct Affected {
  size_t vfs = 0;
  std::vector<std::string> places = {};  // "00:02:…, group 7"

  void add(size_t count, std::string place) {
    vfs += count;
    places.push_back(std::move(place));
  }
  std::string text() const {
    return join_first(kMostNamed, places, [](const std::string& place) { return place; });
  }
};

}  // namespace

void GuidMapping::add_finding(size_t vfs, const std::string& text, const std::string& remedy) {
  if (vfs == 0) return;
  report_.findings.push_back(
      {engine::EngineFinding::Kind::unconfined_vf, vfs, "UFM",
       std::to_string(vfs) + (vfs == 1 ? " VF is" : " VFs are") +
           " not confined to their PF by UFM's physical_virtual_mapping, so another node may take "
           "their GUID: " +
           text,
       remedy});
}

void GuidMapping::update_report() {
  report_ = {};
  if (settings_.enabled) report_ports();
  report_all();
}

void GuidMapping::report_ports() {
  Affected foreign, refused;
  for (const auto& entry : desired_.by_pf) {
    const ib::Guid pf = entry.first;
    const std::set<ib::Guid>& vfs = entry.second;
    const GuidGroup* const other = shown_.foreign(pf, vfs);
    const auto behind = [&](ib::Guid vf) { return shown_.is_behind(vf, pf); };
    const auto confined =
        other == nullptr ? static_cast<size_t>(std::count_if(vfs.begin(), vfs.end(), behind)) : 0;
    const size_t missing = vfs.size() - confined;
    report_.confined += confined;
    report_.unconfined += missing;
    if (other != nullptr) {
      foreign.add(missing, pf.text() + ", group " + std::to_string(other->id));
      continue;
    }
    const auto port = ports_.find(pf);
    if (port != ports_.end() && port->second.fault)
      refused.add(missing, pf.text() + ": " + printable(port->second.fault->text, kMostWords));
  }
  report_.unconfined += desired_.unknown;
  add_finding(desired_.unknown,
              "the PF of their node is not known, or the port that the node names as their PF "
              "belongs to another node, is named by two, or is a member of a partition",
              "see the agent's log on the node if it names no PF; else name the node's PFs as "
              "nodes.NODE.pfs in ibpod-sm's configuration");
  add_finding(foreign.vfs,
              "another client of UFM has a group with that PF or with one of these VFs (" +
                  foreign.text() + "), and ibpod-sm changes no group of others",
              "remove that group in UFM, or that PF from the nodes of ibpod; GET "
              "/ufmRest/app/smconf/physical_virtual_mapping shows all groups");
  add_finding(refused.vfs, "UFM does not take a group (" + refused.text() + ")",
              "the text is UFM's; see its rest_api.log");
}

void GuidMapping::report_all() {
  const std::string& failure = read_failure_.empty() ? change_failure_ : read_failure_;
  const std::string& text = fault_ ? fault_->text : failure;
  if (text.empty()) return;
  const std::string words = printable(text, kMostWords);
  const std::string remedy =
      "check that UFM is 6.16 or later, that the user of ibpod-sm in UFM has the right to change "
      "app/smconf/physical_virtual_mapping, and the disk of ibpod-sm; or remove "
      "ufm.physicalVirtualMapping from its configuration";
  if (settings_.enabled) return add_finding(report_.unconfined, words, remedy);
  const size_t left = written_.all().size();
  if (left == 0) return;
  report_.findings.push_back(
      {engine::EngineFinding::Kind::unconfined_vf, left, "UFM",
       "the groups of " + std::to_string(left) +
           " PFs that ibpod-sm made in UFM's physical_virtual_mapping could not be removed: " +
           words,
       remedy});
}

}  // namespace ibpod::sm::ufm
