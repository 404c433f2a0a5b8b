// Any content of the agent's file and of a device plugin's device-info file is read or refused with
// a reason, and the device-info file holds what a plugin writes into it.
#include "lib/attach/agent_required_file.h"
#include "lib/attach/device_info.h"
#include "lib/json/value.h"
#include "tests/support/fuzz.h"
#include "tests/support/temp_folder.h"

namespace ibpod::attach {
namespace {

using fuzz::require;

void check_required_file(const TempFolder& folder, const std::string& text) {
  const AgentRequiredFile required_file(folder.path());
  folder.write("agent", text);
  const auto socket = required_file.read();
  if (!socket) fuzz::check_refusal(socket.error(), text.size());
  if (socket) require(*socket && (*socket)->is_absolute());
  const Status written = required_file.write("/run/ibpod/agent.sock");
  if (written) return require(required_file.read().value() == Path("/run/ibpod/agent.sock"));
  // The file of a newer version stays.
  require(written.error().code() == Code::unsupported);
  require(read_file(required_file.file()).value() == text);
}

void check_device_info(const TempFolder& folder, const std::string& text) {
  const Path file = folder.write("info.json", text);
  const auto device = ib::PciAddress::parse("0000:3b:00.2").value();
  const Status written =
      update_device_info(node::Records(folder.path()), file, device, {{"mlx5_3"}},
                         TableEntry{.index = 2, .key = ib::PKey(0x8001)});
  if (!written) {
    fuzz::check_refusal(written.error(), text.size());
    return require(read_file(file).value() == text);
  }
  const auto document = json::Value::parse(read_file(file).value()).value();
  const json::Value pci = document.at("pci").value();
  require(pci.at("pci-address").value().string().value() == device.text());
  require(pci.at("pkey").value().string().value() == "0x8001");
}

}  // namespace
}  // namespace ibpod::attach

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibpod;
  static const TempFolder folder("/dev/shm");
  const std::string text(fuzz::text_of(data, size));
  attach::check_required_file(folder, text);
  attach::check_device_info(folder, text);
  return 0;
}
