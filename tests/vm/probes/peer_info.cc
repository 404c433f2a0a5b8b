#include "tests/vm/probes/peer_info.h"

#include "lib/base/files.h"

#include <sstream>

namespace ibpod::probes {

std::string text_of(const Card& card) {
  std::ostringstream out;
  out << "pod " << card.pod << ' ' << card.session << ' ' << text(card.tenants) << ' ' << card.lid
      << ' ' << card.address << '\n';
  for (const auto& [index, number] : card.datagrams) out << "ud " << index << ' ' << number << '\n';
  for (const Card::Connection& one : card.connections)
    out << "rc " << one.peer << ' ' << one.peer_session << ' ' << one.mine << ' ' << one.theirs
        << ' ' << one.number << ' ' << one.life << ' ' << one.receives << ' ' << one.has_sent
        << '\n';
  return out.str();
}

Result<Card> parse_card(std::string_view text) {
  Card card;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, tenants;
    words >> kind;
    if (kind == "pod") {
      words >> card.pod >> card.session >> tenants >> card.lid >> card.address;
      card.tenants = parse_tenants(tenants);
    } else if (kind == "ud") {
      Index index = 0;
      words >> index >> card.datagrams[index];
    } else if (kind == "rc") {
      Card::Connection one;
      words >> one.peer >> one.peer_session >> one.mine >> one.theirs;
      words >> one.number >> one.life >> one.receives >> one.has_sent;
      card.connections.push_back(one);
    }
    if (!words) return Error(Code::invalid, "a prober's card: \"" + line + "\"");
  }
  if (card.pod.empty()) return Error(Code::invalid, "a prober's card without its pod");
  return card;
}

Status write_card(const std::filesystem::path& folder, const Card& card) {
  return write_file_atomically(folder / card.pod, text_of(card));
}

Status remove_card(const std::filesystem::path& folder, const std::string& pod) {
  return remove_file(folder / pod);
}

Cards read_cards(const std::filesystem::path& folder, const std::string& but, const Cards& known) {
  std::set<std::string> names;
  for (const auto& [name, card] : known) names.insert(name);
  if (const auto listed = list_folder(folder)) names.insert(listed->begin(), listed->end());
  names.erase(but);
  Cards cards;
  for (const std::string& name : names) {
    const Result<std::string> text = read_file(folder / name);
    if (!text) continue;
    Result<Card> card = parse_card(*text);
    if (card && card->pod == name) cards.emplace(name, std::move(card).value());
  }
  return cards;
}

}  // namespace ibpod::probes
