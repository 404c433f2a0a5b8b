#include "tests/support/run_tests.h"

int main(int count, char** arguments) { return ibpod::run_tests(count, arguments); }
