// The calls of a node's agent to the cluster's SM service, made by hand over its unix socket:
//
//   fabric_call SOCKET bind NODE CONTAINER GUID SECONDS PARTITION...
//   fabric_call SOCKET unbind NODE CONTAINER SECONDS
//   fabric_call SOCKET observe NODE GUID DEVICE [SYSFS]
//
// bind and unbind print "STATE PROOF ENFORCEMENT REASON: TEXT" of the binding when the service
// answers, after SECONDS at the latest. observe reports the P_Key table of an RDMA device, from the
// sysfs of this machine or from a copy of it, read after an answer of the service. Exit
// code 1: the service refuses, and says why.
#include "lib/fabricapi/client.h"
#include "lib/rpc/grpc_log.h"
#include "lib/sysfs/infiniband.h"

#include <cstdio>
#include <cstdlib>

namespace ibpod::vm {
namespace {

using Words = std::vector<std::string>;

Deadline after(const std::string& seconds) {
  return Deadline::in(std::chrono::seconds(std::strtoul(seconds.c_str(), nullptr, 10)));
}

std::string line(const fabric::Binding& binding) {
  const fabric::Condition& condition = binding.condition;
  std::string text(name(binding.state));
  for (const std::string_view word :
       {name(binding.proof), name(binding.enforcement), name(condition.reason)})
    text.append(" ").append(word);
  return text + ": " + condition.text;
}

Result<std::string> bind(fabricapi::Client& client, const Words& words) {
  fabricapi::BindRequest request;
  request.attachment = {words[0], words[1], "net1"};
  request.guid = TRY(ib::Guid::parse(words[2]));
  request.pf = "ib0";
  request.device = "0000:01:00.1";
  request.pod = {"default", words[1], "uid-of-" + words[1]};
  for (size_t i = 4; i < words.size(); ++i) request.partitions.push_back({words[i], {}});
  const auto bound = TRY(client.bind(request, after(words[3])));
  return line(bound);
}

Result<std::string> unbind(fabricapi::Client& client, const Words& words) {
  const auto unbound = TRY(client.unbind({words[0], words[1], "net1"}, after(words[2])));
  return line(unbound);
}

Result<std::string> observe(fabricapi::Client& client, const Words& words) {
  const Deadline deadline = after("20");
  const auto before = TRY(client.observe({words[0], "", {}}, deadline));
  const ib::Guid guid = TRY(ib::Guid::parse(words[1]));
  const auto sysfs = TRY(sysfs::Sysfs::open(words.size() > 3 ? words[3] : "/sys"));
  const ib::PKeyTable table = TRY(sysfs::pkeys(sysfs, words[2], 1));
  TRY(client.observe({words[0], before.stamp(), {{guid, table}}}, deadline));
  return ib::text(table);
}

Result<std::string> ask(fabricapi::Client& client, const std::string& what, const Words& words) {
  if (what == "bind" && words.size() > 4) return bind(client, words);
  if (what == "unbind" && words.size() == 3) return unbind(client, words);
  if (what == "observe" && words.size() > 2) return observe(client, words);
  return Error(Code::invalid, "usage: fabric_call SOCKET bind|unbind|observe ...");
}

}  // namespace
}  // namespace ibpod::vm

int main(int count, char** arguments) {
  const ibpod::vm::Words words(arguments + 1, arguments + count);
  ibpod::rpc::silence_grpc();
  auto client = ibpod::fabricapi::Client::over_unix(words.empty() ? "" : words[0]);
  const auto answer = ibpod::vm::ask(
      client, words.size() > 1 ? words[1] : "",
      words.size() > 2 ? ibpod::vm::Words(words.begin() + 2, words.end()) : ibpod::vm::Words());
  std::puts(answer ? answer->c_str() : answer.error().text().c_str());
  return answer ? 0 : 1;
}
