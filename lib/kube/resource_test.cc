#include "lib/kube/resource.h"

#include <doctest/doctest.h>

namespace ibpod::kube {
namespace {

TEST_CASE("names that the kubelet takes for extended resources") {
  for (const char* name : {"example.com/ib_vf", "a/b", "nvidia.com/hca.shared-1", "rdma/hca_a",
                           "openshift.io/Ib_VF", "9.x/9"}) {
    CAPTURE(name);
    CHECK(check_resource_name(name));
  }
  CHECK(check_resource_name("a/" + std::string(63, 'x')));
}

TEST_CASE("names that it does not take, and why") {
  struct Case {
    std::string name;
    const char* why;
  };
  const std::vector<Case> kCases{{"ib_vf", "expected DOMAIN/NAME"},
                                 {"", "expected DOMAIN/NAME"},
                                 {"/ib_vf", "expected a domain in lower case"},
                                 {"Example.com/ib_vf", "expected a domain in lower case"},
                                 {"example..com/ib_vf", "expected a domain in lower case"},
                                 {"../ib_vf", "expected a domain in lower case"},
                                 {"a_b/ib_vf", "expected a domain in lower case"},
                                 {"example.com/", "expected letters, digits"},
                                 {"example.com/ib/vf", "expected letters, digits"},
                                 {"example.com/-vf", "expected letters, digits"},
                                 {"example.com/vf_", "expected letters, digits"},
                                 {"example.com/../x", "expected letters, digits"},
                                 {"kubernetes.io/vf", "reserved for Kubernetes"},
                                 {"node.kubernetes.io/vf", "reserved for Kubernetes"},
                                 {"requests.example.com/vf", "reserved for Kubernetes"},
                                 {"a/" + std::string(64, 'x'), "at most 244 bytes before"},
                                 {std::string(245, 'a') + "/x", "at most 244 bytes before"}};
  for (const auto& [name, why] : kCases) {
    CAPTURE(name);
    const Status refused = check_resource_name(name);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Code::invalid);
    CHECK(refused.error().text().find(why) != std::string::npos);
  }
}

}  // namespace
}  // namespace ibpod::kube
