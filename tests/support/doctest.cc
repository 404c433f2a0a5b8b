// What doctest itself is made of, compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
