// The tests on a simulated subnet of 64 leaf switches with 32 hosts each, and 32 spines.
#include "tests/fabric/inside.h"
#include "tests/fabric/large_network.h"

namespace ibpod {
namespace {

constexpr auto kPartitions = R"(Default=0x7fff, ipoib : ALL=limited, SELF=full;
blue=0x0001 : ALL_CAS=full;
)";

}  // namespace
}  // namespace ibpod

int main(int count, char** arguments) {
  return ibpod::test_inside({ibpod::large_network(), ibpod::kPartitions, "h77"}, count, arguments);
}
