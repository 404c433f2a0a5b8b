#include "sm/plan/explain.h"

#include "sm/plan/reach.h"
#include "sm/plan/step.h"
#include "sm/tables/table_diff.h"

#include <algorithm>

namespace ibpod::sm {
namespace {

using fabricapi::Explanation;
using Sentences = std::vector<std::string>;

void tell_binding(const fabric::Binding& binding, Sentences& sentences) {
  if (binding.state != fabric::State::verified) {
    const fabric::Standing& why = binding.standing;
    std::string text = "its binding is " + std::string(name(binding.state));
    if (why.reason != fabric::Reason::none) text += ", " + std::string(name(why.reason));
    if (!why.text.empty()) text += ": " + why.text;
    sentences.push_back(text);
  }
  if (binding.held != binding.shares) {
    sentences.push_back(
        "its partitions are being changed: the old keys have to leave before the "
        "new ones come");
  }
}

void tell_port(const fabric::SeenPort* seen, const Evidence& evidence, Sentences& sentences) {
  if (evidence.topology.ports().empty())
    return sentences.push_back("the subnet has not been seen yet");
  if (seen == nullptr) {
    return sentences.push_back(
        evidence.topology.whole()
            ? "no port of the subnet has this GUID: a VF's has not, where the subnet manager does "
              "not serve vports, and a port that is down may have none"
            : "no port with this GUID was seen, but not all of the subnet could be");
  }
  if (evidence.topology.doubtful(*seen))
    sentences.push_back("its GUID, or its switch's, is there twice: what is read may be another's");
  if (seen->state != ib::PortState::active) {
    sentences.push_back(seen->state == ib::PortState::unknown
                            ? "it does not say in what state it is"
                            : "its port is " + std::string(name(seen->state)) +
                                  ": nothing goes through it");
  }
}

void tell_table(ib::Guid guid, const WantedKeys& wanted, const Evidence& evidence,
                Sentences& sentences) {
  const ReadTable* table = find(evidence.tables, guid);
  if (table == nullptr) return sentences.push_back("its P_Key table is not known");
  const std::string wrong = judge(table->keys, wanted).text();
  if (!wrong.empty()) sentences.push_back("its P_Key table " + wrong);
}

void tell_leaf(ib::Guid guid, const fabric::SeenPort* seen, const WantedKeys& wanted,
               const Evidence& evidence, Sentences& sentences) {
  if (seen == nullptr || seen->node == fabric::NodeType::switch_node) return;
  if (!seen->leaf || !seen->leaf->enforcement)
    return sentences.push_back("whether its switch enforces partitions is not known");
  if (!seen->leaf->enforcement->strict())
    return sentences.push_back("its switch does not enforce partitions: only the adapter does");
  const ReadTable* table = find(evidence.leaf_tables, guid);
  if (table == nullptr) return sentences.push_back("its switch port's P_Key table is not known");
  const std::string wrong = judge(table->keys, wanted.anywhere()).text();
  if (!wrong.empty()) sentences.push_back("its switch port's P_Key table " + wrong);
}

void tell_index0(ib::Guid guid, const Evidence& evidence, Sentences& sentences) {
  const auto clashes = index0_clashes(evidence.partitions, evidence);
  const auto found = clashes.find(guid);
  if (found == clashes.end()) return;
  std::string names;
  for (const std::string& name : found->second) names += (names.empty() ? "" : ", ") + name;
  sentences.push_back("more than one of its partitions claims index 0: " + names);
}

Explanation::Subject subject_of(const std::string& name, const Party::Port& port,
                                const Evidence& evidence) {
  Explanation::Subject subject;
  subject.name = name;
  subject.guid = port.guid;
  subject.binding = port.binding;
  if (const fabric::SeenPort* seen = evidence.topology.find(port.guid))
    subject.description = seen->description;
  if (const ReadTable* table = find(evidence.tables, port.guid)) {
    subject.table = text(table->keys);
    subject.seen = table->seen;
  }
  if (const ReadTable* table = find(evidence.leaf_tables, port.guid))
    subject.leaf_table = text(table->keys);
  subject.wanted = listed(evidence.wanted.of(end_port(evidence, port.guid)).keys);
  subject.findings = findings_of(port, evidence);
  return subject;
}

void add_subjects(const Party& party, const Evidence& evidence, Explanation& explanation) {
  for (const Party::Port& port : party.ports)
    explanation.subjects.push_back(subject_of(party.name, port, evidence));
  if (!party.ports.empty()) return;
  Explanation::Subject nobody;
  nobody.name = party.name;
  nobody.findings = {"it has no port on this subnet"};
  explanation.subjects.push_back(nobody);
}

// A pod may have several ports.
End end_of(const Party& party, const Party::Port& port) {
  if (party.ports.size() == 1) return {party.name, port.guid};
  return {party.name + " (" + port.guid.text() + ")", port.guid};
}

}  // namespace

std::vector<std::string> findings_of(const Party::Port& port, const Evidence& evidence) {
  const fabric::SeenPort* seen = evidence.topology.find(port.guid);
  const WantedKeys wanted = evidence.wanted.of(end_port(evidence, port.guid));
  Sentences sentences;
  if (port.binding) tell_binding(*port.binding, sentences);
  tell_port(seen, evidence, sentences);
  tell_table(port.guid, wanted, evidence, sentences);
  tell_leaf(port.guid, seen, wanted, evidence, sentences);
  tell_index0(port.guid, evidence, sentences);
  return sentences;
}

Explanation explain(const std::vector<Party>& parties, const Evidence& evidence) {
  Explanation explanation;
  for (const Party& party : parties) add_subjects(party, evidence, explanation);
  if (parties.size() != 2) return explanation;
  for (const Party::Port& one : parties.front().ports) {
    for (const Party::Port& other : parties.back().ports) {
      const Sentences sentences =
          reach(end_of(parties.front(), one), end_of(parties.back(), other), evidence);
      explanation.reach.insert(explanation.reach.end(), sentences.begin(), sentences.end());
    }
  }
  return explanation;
}

}  // namespace ibpod::sm
