#include "tests/fabric/engine/engine_fixture.h"

#include "tests/fabric/engine/raw_opensm.h"
#include "tests/fabric/simulation.h"

#include <filesystem>

namespace ibpod {

EngineFixture::EngineFixture(unsigned host, const sm::opensm::OpenSmSettings& opensm) {
  settings.folder = folder.path() / "sm";
  settings.launcher.opensm = opensm;
  settings.launcher.opensm.max_wire_smps = 64;
  settings.launcher.launch.program = Simulation::opensm();
  settings.launcher.launch.environment = environment_of_opensm(host, paths().cache);
  start();
}

EngineFixture::~EngineFixture() {
  engine.reset();
  if (const auto left = find()) end_process(sm::opensm::OpenSmProcess::adopt(*left).value());
}

void EngineFixture::start() {
  auto started = sm::opensm::OpenSm::start(settings, bell.rung());
  if (!started) FAIL(started.error().text());
  engine = std::move(started).value();
}

uint64_t EngineFixture::set_definitions(const std::vector<fabric::PartitionDefinition>& tenants) {
  definitions = {fabric::default_definition()};
  definitions.insert(definitions.end(), tenants.begin(), tenants.end());
  engine->apply(++version_,
                std::make_shared<std::vector<fabric::PartitionDefinition>>(definitions));
  return version_;
}

sm::engine::EngineStatus EngineFixture::enforce(
    const std::vector<fabric::PartitionDefinition>& tenants) {
  const uint64_t version = set_definitions(tenants);
  return until([&](const sm::engine::EngineStatus& now) {
    return now.swept == version && now.health == sm::engine::Health::serving;
  });
}

std::optional<pid_t> EngineFixture::find() const {
  return sm::opensm::Processes("/proc")
      .find_opensm(paths().conf, settings.launcher.launch.program)
      .value();
}

pid_t EngineFixture::running() {
  std::optional<pid_t> pid;
  until([&](const sm::engine::EngineStatus&) { return (pid = find()).has_value(); });
  return *pid;
}

void EngineFixture::replace(const std::optional<std::string>& text) const {
  if (!text) return void(std::filesystem::remove(paths().partitions));
  folder.write("edit", *text);
  std::filesystem::rename(folder.path() / "edit", paths().partitions);
}

fabric::PartitionDefinition tenant(uint16_t pkey, std::vector<fabric::Member> members) {
  fabric::PartitionDefinition tenant;
  tenant.name = "p" + std::to_string(pkey);
  tenant.pkey = ib::PKey(pkey);
  tenant.members = std::move(members);
  return tenant;
}

}  // namespace ibpod
