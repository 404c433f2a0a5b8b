// The tests on a simulated subnet of two switches and eight hosts, as a program on its host h7.
#include "tests/fabric/inside.h"

namespace ibpod {
namespace {

// h0 to h3 on leaf0, h4 to h7 on leaf1. ibsim counts the GUIDs of adapters from 0x100000, two for
// each: its node and its port.
constexpr auto kNetwork = R"(Switch 8 "leaf0"
[1] "h0"[1]
[2] "h1"[1]
[3] "h2"[1]
[4] "h3"[1]
[8] "leaf1"[8]

Switch 8 "leaf1"
[1] "h4"[1]
[2] "h5"[1]
[3] "h6"[1]
[4] "h7"[1]
[8] "leaf0"[8]

Ca 1 "h0"
[1] "leaf0"[1]

Ca 1 "h1"
[1] "leaf0"[2]

Ca 1 "h2"
[1] "leaf0"[3]

Ca 1 "h3"
[1] "leaf0"[4]

Ca 1 "h4"
[1] "leaf1"[1]

Ca 1 "h5"
[1] "leaf1"[2]

Ca 1 "h6"
[1] "leaf1"[3]

Ca 1 "h7"
[1] "leaf1"[4]
)";

constexpr auto kPartitions = R"(Default=0x7fff, ipoib : ALL=limited, SELF=full;
blue=0x0001 : 0x0000000000100003=full, 0x000000000010000b=limited;
)";

}  // namespace
}  // namespace ibpod

int main(int count, char** arguments) {
  return ibpod::test_inside({ibpod::kNetwork, ibpod::kPartitions, "h7"}, count, arguments);
}
