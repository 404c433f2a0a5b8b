// Measures on the large subnet.
#include "tests/fabric/inside.h"
#include "tests/fabric/large_network.h"

int main(int count, char** arguments) {
  return ibpod::test_inside(
      {ibpod::large_network(), "Default=0x7fff, ipoib : ALL=limited, SELF=full;\n", "h77"}, count,
      arguments);
}
