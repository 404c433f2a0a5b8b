#include "agent/config/config.h"
#include "tests/support/temp_folder.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

namespace ibpod::agent::config {
namespace {

TEST_CASE(
    "a TLS key of a fabric that others can read is told with its place; one that is missing is "
    "not") {
  const TempFolder folder;
  Config config;
  CHECK(check_private_keys(config));
  for (const char* name : {"east", "west"}) {
    FabricService service;
    service.sm_address.files.key = folder.write(name, "a key");
    config.fabrics.push_back(service);
  }
  CHECK(check_private_keys(config));
  REQUIRE(::chmod((folder.path() / "west").c_str(), 0644) == 0);
  const Status exposed = check_private_keys(config);
  REQUIRE_FALSE(exposed);
  CHECK(exposed.error().code() == Code::denied);
  CHECK(exposed.error().text().starts_with("fabrics[1].key: " + folder.path().string()));
  CHECK(exposed.error().text().find("chmod 0600") != std::string::npos);
  std::filesystem::remove(folder.path() / "west");
  CHECK(check_private_keys(config));
}

}  // namespace
}  // namespace ibpod::agent::config
