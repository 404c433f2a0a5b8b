#include "sm/diagnose/explain.h"

#include "lib/base/join.h"
#include "sm/diagnose/reach.h"
#include "sm/diagnose/step.h"
#include "sm/verify/table_diff.h"

#include <algorithm>

namespace ibpod::sm::diagnose {
namespace {

using fabricapi::Explanation;
using Sentences = std::vector<std::string>;

void describe_binding(const fabric::Binding& binding, Sentences& sentences) {
  if (binding.state != fabric::BindingState::verified) {
    const fabric::Condition& why = binding.condition;
    std::string text = "its binding is " + std::string(name(binding.state));
    if (why.reason != fabric::Reason::none) text += ", " + std::string(name(why.reason));
    if (!why.text.empty()) text += ": " + why.text;
    sentences.push_back(text);
  }
  if (binding.applied != binding.desired) {
    sentences.push_back(
        "its partitions are changing: the old keys must leave its table before new ones come");
  }
}

// A virtual port that its node has read is there, although no scan finds it.
void describe_missing_port(ib::Guid guid, const FabricSnapshot& snapshot, Sentences& sentences) {
  const ReadTable* const table = find(snapshot.tables, guid);
  if (snapshot.serves_vports && table != nullptr && table->by == fabric::Proof::node) return;
  if (!snapshot.topology.is_complete())
    return sentences.push_back("no port with this GUID was found, but the last scan is incomplete");
  sentences.push_back(std::string("no port of the subnet has this GUID: the port may be down, or "
                                  "it is a virtual port ") +
                      (snapshot.serves_vports
                           ? "whose table its node has not reported: check the node's agent"
                           : "and the subnet manager does not serve those"));
}

void describe_port(ib::Guid guid, const fabric::Port* seen, const FabricSnapshot& snapshot,
                   Sentences& sentences) {
  if (snapshot.topology.ports().empty())
    return sentences.push_back("the subnet has not been scanned yet");
  if (seen == nullptr) return describe_missing_port(guid, snapshot, sentences);
  if (snapshot.topology.is_ambiguous(*seen))
    sentences.push_back(
        "its GUID or the GUID of its switch exists twice: what was read may belong to another "
        "port");
  if (seen->state != ib::PortState::active) {
    sentences.push_back(seen->state == ib::PortState::unknown
                            ? "the state of its port is not known"
                            : "its port is " + std::string(name(seen->state)) +
                                  ": it carries no traffic");
  }
}

void describe_table(ib::Guid guid, const verify::DesiredTable& desired,
                    const FabricSnapshot& snapshot, Sentences& sentences) {
  const ReadTable* table = find(snapshot.tables, guid);
  if (table == nullptr) return sentences.push_back("its P_Key table is not known");
  const std::string wrong = verify::compare(table->keys, desired).text();
  if (!wrong.empty()) sentences.push_back("its P_Key table " + wrong);
}

void describe_switch_port(ib::Guid guid, const fabric::Port* seen,
                          const verify::DesiredTable& desired, const FabricSnapshot& snapshot,
                          Sentences& sentences) {
  if (seen == nullptr || seen->node == mad::NodeType::switch_node) return;
  if (!seen->switch_port || !seen->switch_port->enforcement)
    return sentences.push_back("it is not known if its switch enforces partitions");
  if (!seen->switch_port->enforcement->strict())
    return sentences.push_back("its switch does not enforce partitions: only the adapter does");
  const ReadTable* table = find(snapshot.switch_tables, guid);
  if (table == nullptr) return sentences.push_back("its switch port's P_Key table is not known");
  const std::string wrong = verify::compare(table->keys, desired.anywhere()).text();
  if (!wrong.empty()) sentences.push_back("its switch port's P_Key table " + wrong);
}

void describe_index0(ib::Guid guid, const FabricSnapshot& snapshot, Sentences& sentences) {
  const auto clashes = index0_clashes(snapshot.partitions, snapshot);
  const auto found = clashes.find(guid);
  if (found == clashes.end()) return;
  sentences.push_back("more than one of its partitions claims index 0: " +
                      join(found->second, ", "));
}

Explanation::Subject subject_of(const std::string& name, const Subject::PortOfSubject& port,
                                const FabricSnapshot& snapshot) {
  Explanation::Subject subject;
  subject.name = name;
  subject.guid = port.guid;
  subject.binding = port.binding;
  if (const fabric::Port* seen = snapshot.topology.find(port.guid))
    subject.description = seen->description;
  if (const ReadTable* table = find(snapshot.tables, port.guid)) {
    subject.table = text(table->keys);
    subject.seen = table->seen;
  }
  if (const ReadTable* table = find(snapshot.switch_tables, port.guid))
    subject.leaf_table = text(table->keys);
  subject.wanted =
      join(snapshot.desired.of(end_port(snapshot, port.guid)).keys, " ", &ib::PKey::text);
  subject.findings = findings_of(port, snapshot);
  return subject;
}

void add_subjects(const Subject& subject, const FabricSnapshot& snapshot,
                  Explanation& explanation) {
  for (const Subject::PortOfSubject& port : subject.ports)
    explanation.subjects.push_back(subject_of(subject.name, port, snapshot));
  if (!subject.ports.empty()) return;
  Explanation::Subject without_port;
  without_port.name = subject.name;
  without_port.findings = {"it has no port on this subnet"};
  explanation.subjects.push_back(without_port);
}

// A pod may have several ports.
ReachEnd end_of(const Subject& subject, const Subject::PortOfSubject& port) {
  if (subject.ports.size() == 1) return {subject.name, port.guid};
  return {subject.name + " (" + port.guid.text() + ")", port.guid};
}

}  // namespace

std::vector<std::string> findings_of(const Subject::PortOfSubject& port,
                                     const FabricSnapshot& snapshot) {
  const fabric::Port* seen = snapshot.topology.find(port.guid);
  const verify::DesiredTable desired = snapshot.desired.of(end_port(snapshot, port.guid));
  Sentences sentences;
  if (port.binding) describe_binding(*port.binding, sentences);
  describe_port(port.guid, seen, snapshot, sentences);
  describe_table(port.guid, desired, snapshot, sentences);
  describe_switch_port(port.guid, seen, desired, snapshot, sentences);
  describe_index0(port.guid, snapshot, sentences);
  return sentences;
}

Explanation explain(const std::vector<Subject>& subjects, const FabricSnapshot& snapshot) {
  Explanation explanation;
  for (const Subject& subject : subjects) add_subjects(subject, snapshot, explanation);
  if (subjects.size() != 2) return explanation;
  for (const Subject::PortOfSubject& one : subjects.front().ports) {
    for (const Subject::PortOfSubject& other : subjects.back().ports) {
      const Sentences sentences =
          reach(end_of(subjects.front(), one), end_of(subjects.back(), other), snapshot);
      explanation.reach.insert(explanation.reach.end(), sentences.begin(), sentences.end());
    }
  }
  return explanation;
}

}  // namespace ibpod::sm::diagnose
