#include "tests/fabric/engine/engine_fixture.h"

#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/simulation.h"

#include <csignal>
#include <filesystem>

namespace ibpod {

EngineBed::EngineBed(unsigned host, const sm::OpenSmSettings& opensm) {
  settings.folder = folder.path() / "sm";
  settings.keeper.opensm = opensm;
  settings.keeper.opensm.max_wire_smps = 64;
  settings.keeper.launch.program = Simulation::opensm();
  settings.keeper.launch.environment = environment_of_opensm(host, paths().cache);
  start();
}

EngineBed::~EngineBed() {
  engine.reset();
  if (const auto left = find()) end_process(sm::OpenSmProcess::adopt(*left).value());
}

void EngineBed::start() {
  auto started = sm::OpenSm::start(settings, bell.rung());
  if (!started) FAIL(started.error().text());
  engine = std::move(started).value();
}

uint64_t EngineBed::want(const std::vector<fabric::Partition>& tenants) {
  wanted = {fabric::default_partition()};
  wanted.insert(wanted.end(), tenants.begin(), tenants.end());
  engine->want(++version_, std::make_shared<std::vector<fabric::Partition>>(wanted));
  return version_;
}

sm::Standing EngineBed::enforce(const std::vector<fabric::Partition>& tenants) {
  const uint64_t version = want(tenants);
  return until([&](const sm::Standing& now) {
    return now.swept == version && now.health == sm::Health::serving;
  });
}

std::optional<pid_t> EngineBed::find() const {
  return sm::Processes("/proc").find_opensm(paths().conf, settings.keeper.launch.program).value();
}

void EngineBed::kill() const {
  const auto pid = find();
  REQUIRE(pid);
  ::kill(*pid, SIGKILL);
}

void EngineBed::replace(const std::optional<std::string>& text) const {
  if (!text) return void(std::filesystem::remove(paths().partitions));
  folder.write("edit", *text);
  std::filesystem::rename(folder.path() / "edit", paths().partitions);
}

fabric::Partition tenant(uint16_t pkey, std::vector<fabric::Member> members) {
  fabric::Partition tenant;
  tenant.name = "p" + std::to_string(pkey);
  tenant.pkey = ib::PKey(pkey);
  tenant.members = std::move(members);
  return tenant;
}

}  // namespace ibpod
