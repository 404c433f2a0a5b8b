// Measures on the large subnet, or a part of it.
#include "tests/fabric/inside.h"
#include "tests/fabric/storm/load.h"

int main(int count, char** arguments) {
  return ibpod::test_inside({ibpod::large_network(ibpod::Storm().leaves),
                             "Default=0x7fff, ipoib : ALL=limited, SELF=full;\n", "h77"},
                            count, arguments);
}
