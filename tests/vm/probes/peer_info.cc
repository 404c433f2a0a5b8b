#include "tests/vm/probes/peer_info.h"

#include "lib/base/files.h"

#include <sstream>

namespace ibpod::probes {

std::string text_of(const PeerInfo& info) {
  std::ostringstream out;
  out << "pod " << info.pod << ' ' << info.session << ' ' << text(info.tenants) << ' ' << info.lid
      << ' ' << info.address << '\n';
  for (const auto& [index, number] : info.datagrams) out << "ud " << index << ' ' << number << '\n';
  for (const PeerInfo::Connection& one : info.connections)
    out << "rc " << one.peer << ' ' << one.peer_session << ' ' << one.mine << ' ' << one.theirs
        << ' ' << one.number << ' ' << one.life << ' ' << one.receives << ' ' << one.has_sent
        << '\n';
  return out.str();
}

Result<PeerInfo> parse_peer_info(std::string_view text) {
  PeerInfo info;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, tenants;
    words >> kind;
    if (kind == "pod") {
      words >> info.pod >> info.session >> tenants >> info.lid >> info.address;
      info.tenants = parse_tenants(tenants);
    } else if (kind == "ud") {
      Index index = 0;
      words >> index >> info.datagrams[index];
    } else if (kind == "rc") {
      PeerInfo::Connection one;
      words >> one.peer >> one.peer_session >> one.mine >> one.theirs;
      words >> one.number >> one.life >> one.receives >> one.has_sent;
      info.connections.push_back(one);
    }
    if (!words) return Error(Code::invalid, "a prober's card: \"" + line + "\"");
  }
  if (info.pod.empty()) return Error(Code::invalid, "a prober's card without its pod");
  return info;
}

Status write_peer_info(const std::filesystem::path& folder, const PeerInfo& info) {
  return write_file_atomically(folder / info.pod, text_of(info));
}

Status remove_peer_info(const std::filesystem::path& folder, const std::string& pod) {
  return remove_file(folder / pod);
}

Peers read_peers(const std::filesystem::path& folder, const std::string& but, const Peers& known) {
  std::set<std::string> names;
  for (const auto& [name, card] : known) names.insert(name);
  if (const auto listed = list_folder(folder)) names.insert(listed->begin(), listed->end());
  names.erase(but);
  Peers peers;
  for (const std::string& name : names) {
    const Result<std::string> text = read_file(folder / name);
    if (!text) continue;
    Result<PeerInfo> info = parse_peer_info(*text);
    if (info && info->pod == name) peers.emplace(name, std::move(info).value());
  }
  return peers;
}

}  // namespace ibpod::probes
