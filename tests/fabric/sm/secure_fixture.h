// ibpod-sm on the simulated subnet, called over TCP by those who have a certificate.
#pragma once

#include "tests/fabric/sm/certificates.h"
#include "tests/fabric/sm/sm_fixture.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod {

class SecureFixture : public Certificates, public SmFixture {
 public:
  explicit SecureFixture(const std::string& more = {}, const std::string& opensm = {})
      : SmFixture(configuration() + (more.empty() ? "" : ", " + more), true, opensm) {}
  using Certificates::client;
  using SmFixture::client;

  // All that is promised, and what all ports hold, once nothing is underway any more.
  struct ServiceState {
    std::vector<fabric::Binding> bindings;
    std::vector<fabric::PartitionStatus> partitions;
    std::string nodes;  // a v1::ListNodesResponse, as bytes
    std::vector<ib::PKeyTable> tables;
    bool operator==(const ServiceState&) const = default;
  };
  ServiceState service_state();

  static fabricapi::BindingFilter of_node(unsigned host);
  // With it VFs get GUIDs from a pool. No port of the subnet has them, so that only a node can tell
  // what their tables hold.
  static std::string with_pool() {
    return R"("guids": [{"first": "0x0200000000000001", "last": "0x02000000000000ff"}])";
  }
  // The GUID of the first VF of that node.
  ib::Guid unseen_guid(unsigned host) const;
  fabricapi::BindRequest unseen_request(unsigned host, const std::string& partition) const;
};

// It is refused with that code, and the message has all of these words.
template <typename Value>
void check_refused(const Result<Value>& result, Code code,
                   std::initializer_list<std::string> words = {}) {
  REQUIRE_FALSE(result);
  const std::string text = result.error().text();
  CHECK_MESSAGE(result.error().code() == code, name(result.error().code()), ": ", text);
  for (const std::string& word : words)
    CHECK_MESSAGE(text.find(word) != std::string::npos, "no \"", word, "\" in: ", text);
}

}  // namespace ibpod
