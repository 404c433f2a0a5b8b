#include "lib/cni/version.h"

#include <doctest/doctest.h>

namespace ibpod::cni {
namespace {

TEST_CASE("a version is three numbers and nothing else") {
  CHECK(Version::parse("1.1.0").value() == kNewest);
  CHECK(Version::parse("0.10.3").value() == Version{0, 10, 3});
  CHECK(Version{0, 3, 1}.text() == "0.3.1");
  for (const char* text : {"", "1", "1.1", "1.1.", "1.1.0.0", "1.1.0 ", " 1.1.0", "v1.1.0",
                           "1.-1.0", "1..0", "1.1.99999999999", ".1.1", "1.1.0-rc1"}) {
    CAPTURE(text);
    CHECK(Version::parse(text).error().code() == Code::invalid);
  }
}

TEST_CASE("all versions from 0.1.0 to 1.1.0 are spoken, in order") {
  CHECK(text(supported_versions()) == "0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0");
  CHECK(text({}) == "none");
  CHECK(is_supported(kNewest));
  CHECK(is_supported(kUnnamed));
  CHECK_FALSE(is_supported(Version{1, 2, 0}));
  CHECK(Version{0, 4, 0} < Version{1, 0, 0});
}

}  // namespace
}  // namespace ibpod::cni
