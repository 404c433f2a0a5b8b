// doctest's own implementation, compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
