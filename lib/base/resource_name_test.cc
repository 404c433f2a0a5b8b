#include "lib/base/resource_name.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

TEST_CASE("a prefix is a DNS subdomain that Kubernetes does not reserve") {
  for (const std::string& good :
       {std::string("example.com"), std::string("intel.com"), std::string("rdma"),
        std::string("a.b-c.d1"), std::string("3com.com"), std::string("kubernetes.io.example.com"),
        std::string(64, 'a'), std::string(244, 'a')}) {
    CAPTURE(good);
    CHECK(check_resource_prefix(good));
  }
  for (const std::string& bad :
       {std::string(""), std::string("Example.com"), std::string("example..com"),
        std::string("-a.com"), std::string("a-.com"), std::string("a_b.com"), std::string("a/b"),
        std::string("kubernetes.io"), std::string("x.kubernetes.io"),
        std::string("mykubernetes.io"), std::string("requests.a"), std::string(245, 'a'),
        std::string("../x")}) {
    CAPTURE(bad);
    CHECK(check_resource_prefix(bad).error().code() == Code::invalid);
  }
}

TEST_CASE("a name is of letters, digits, '_', '-' and '.'") {
  for (const std::string& good : {std::string("ib_vfs"), std::string("IB-1"), std::string("a"),
                                  std::string("a.b"), std::string(63, 'x')}) {
    CAPTURE(good);
    CHECK(check_resource_name(good));
  }
  for (const std::string& bad :
       {std::string(""), std::string("a b"), std::string("a/b"), std::string("_a"),
        std::string("a-"), std::string(".a"), std::string("a."), std::string(64, 'a'),
        std::string("\xc3\xa4")}) {
    CAPTURE(bad);
    CHECK(check_resource_name(bad).error().code() == Code::invalid);
  }
}

TEST_CASE("resources that the kubelet takes for extended ones") {
  for (const char* resource : {"example.com/ib_vf", "a/b", "nvidia.com/hca.shared-1", "rdma/hca_a",
                               "openshift.io/Ib_VF", "9.x/9"}) {
    CAPTURE(resource);
    CHECK(check_resource(resource));
  }
  CHECK(check_resource("a/" + std::string(63, 'x')));
}

TEST_CASE("resources that it does not take, and why") {
  struct Case {
    std::string resource;
    const char* why;
  };
  const std::vector<Case> kCases{{"ib_vf", "expected PREFIX/NAME"},
                                 {"", "expected PREFIX/NAME"},
                                 {"example.com/ib/vf", "expected PREFIX/NAME"},
                                 {"example.com/../x", "expected PREFIX/NAME"},
                                 {"/ib_vf", "is not a DNS subdomain"},
                                 {"Example.com/ib_vf", "is not a DNS subdomain"},
                                 {"example..com/ib_vf", "is not a DNS subdomain"},
                                 {"../ib_vf", "is not a DNS subdomain"},
                                 {"a_b/ib_vf", "is not a DNS subdomain"},
                                 {"example.com/", "is not a resource name"},
                                 {"example.com/-vf", "is not a resource name"},
                                 {"example.com/vf_", "is not a resource name"},
                                 {"kubernetes.io/vf", "reserved for Kubernetes"},
                                 {"node.kubernetes.io/vf", "reserved for Kubernetes"},
                                 {"requests.example.com/vf", "reserves for quotas"},
                                 {"a/" + std::string(64, 'x'), "1 to 63 letters"},
                                 {std::string(245, 'a') + "/x", "at most 244 lowercase"}};
  for (const auto& [resource, why] : kCases) {
    CAPTURE(resource);
    const Status refused = check_resource(resource);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK(refused.error().text().find(why) != std::string::npos);
  }
}

}  // namespace
}  // namespace ibpod
