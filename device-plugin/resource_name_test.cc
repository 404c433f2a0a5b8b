#include "device-plugin/resource_name.h"

#include <doctest/doctest.h>

namespace ibpod::device_plugin {
namespace {

TEST_CASE("a prefix is a DNS subdomain that Kubernetes does not reserve") {
  for (const char* good : {"example.com", "intel.com", "rdma", "a.b-c.d1", "3com.com"}) {
    CAPTURE(good);
    CHECK(check_prefix(good));
  }
  for (const std::string& bad :
       {std::string(""), std::string("Example.com"), std::string("example..com"),
        std::string("-a.com"), std::string("a-.com"), std::string("a_b.com"), std::string("a/b"),
        std::string("kubernetes.io"), std::string("x.kubernetes.io"), std::string("requests.a"),
        std::string(64, 'a'), std::string("../x")}) {
    CAPTURE(bad);
    CHECK(check_prefix(bad).error().code() == Code::invalid);
  }
}

TEST_CASE("a name is of letters, digits, '_' and '-'") {
  for (const char* good : {"ib_vfs", "IB-1", "a"}) CHECK(check_name(good));
  for (const std::string& bad :
       {std::string(""), std::string("a.b"), std::string("a b"), std::string("a/b"),
        std::string("_a"), std::string("a-"), std::string(64, 'a'), std::string("\xc3\xa4")}) {
    CAPTURE(bad);
    CHECK(check_name(bad).error().code() == Code::invalid);
  }
}

TEST_CASE("the environment's variable") {
  CHECK(variable_of("intel.com/sriov") == "PCIDEVICE_INTEL_COM_SRIOV");
  CHECK(variable_of("a-b.com/c_d-e") == "PCIDEVICE_A-B_COM_C_D-E");
}

}  // namespace
}  // namespace ibpod::device_plugin
