#include "lib/cni/plugin.h"
#include "lib/cni/streams.h"
#include "lib/netns/netns.h"
#include "lib/nl/rtnl.h"
#include "lib/nl/socket.h"
#include "tests/support/multus/multus.h"
#include "tests/support/multus/thick.h"

#include <cstdio>
#include <iostream>
#include <iterator>

namespace ibpod::multus {
namespace {

Result<bool> has_interface(const Path& path, const std::string& ifname) {
  const netns::NetNs netns = TRY(netns::NetNs::open(path));
  nl::Socket socket = TRY(nl::Socket::open_in(netns.fd(), nl::Family::route));
  const std::optional<nl::Link> link = TRY(nl::find_link(socket, ifname));
  return link.has_value();
}

cni::Environment environment_of(char** entries) {
  cni::Environment environment;
  for (; *entries != nullptr; ++entries) {
    const std::string entry = *entries;
    const size_t equals = entry.find('=');
    if (equals != entry.npos) environment[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return environment;
}

}  // namespace
}  // namespace ibpod::multus

// multus, as a plugin; multus --daemon FOLDER
int main(int count, char** arguments, char** entries) {
  using namespace ibpod;
  if (count == 3 && std::string(arguments[1]) == "--daemon") {
    const Status ended = multus::run_daemon(arguments[2]);
    std::fprintf(stderr, "multus: %s\n", ended.error().text().c_str());
    return 1;
  }
  const Status secured = cni::secure_streams();
  if (!secured) return 1;
  multus::Multus multus(multus::has_interface);
  multus::Shim shim(multus, multus::is_reachable, Duration(60'000));
  const std::string input(std::istreambuf_iterator<char>(std::cin), {});
  const cni::Answer answer = cni::serve(shim, multus::environment_of(entries), input);
  return cni::print(answer.output) ? answer.exit_code : 1;
}
