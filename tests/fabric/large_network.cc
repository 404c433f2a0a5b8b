#include "tests/fabric/large_network.h"

namespace ibpod {
namespace {

std::string port(int number, const std::string& peer, int peers) {
  return "[" + std::to_string(number) + "] \"" + peer + "\"[" + std::to_string(peers) + "]\n";
}

std::string leaf_name(int leaf) { return "leaf" + std::to_string(leaf); }
std::string spine_name(int spine) { return "spine" + std::to_string(spine); }
std::string host_name(int host) { return "h" + std::to_string(host); }

}  // namespace

std::string large_network(int leaves) {
  std::string text;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    text += "Switch 64 \"" + leaf_name(leaf) + "\"\n";
    for (int n = 0; n < kHostsOfLeaf; ++n)
      text += port(1 + n, host_name(leaf * kHostsOfLeaf + n), 1);
    for (int n = 0; n < kSpines; ++n) text += port(1 + kHostsOfLeaf + n, spine_name(n), 1 + leaf);
    text += "\n";
  }
  for (int spine = 0; spine < kSpines; ++spine) {
    text += "Switch 64 \"" + spine_name(spine) + "\"\n";
    for (int n = 0; n < leaves; ++n) text += port(1 + n, leaf_name(n), 1 + kHostsOfLeaf + spine);
    text += "\n";
  }
  for (int host = 0; host < leaves * kHostsOfLeaf; ++host) {
    text += "Ca 1 \"" + host_name(host) + "\"\n";
    text += port(1, leaf_name(host / kHostsOfLeaf), 1 + host % kHostsOfLeaf) + "\n";
  }
  return text;
}

}  // namespace ibpod
