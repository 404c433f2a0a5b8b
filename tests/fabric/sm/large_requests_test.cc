// Requests as large as they can be are refused, and what they take is given back.
#include "api/ibpod/v1/fabric.grpc.pb.h"
#include "lib/rpc/channel.h"
#include "tests/fabric/sm/secure_fixture.h"

#include <fstream>
#include <future>
#include <string>

#include <doctest/doctest.h>

namespace ibpod {
namespace {

constexpr int kLargest = 4 << 20;        // what the server takes, in bytes
constexpr int kMost = kLargest / 2 - 8;  // of a repeated message that is empty: two bytes each
using Stub = v1::Fabric::Stub;

template <typename Request, typename Answer>
Status ask(const Certificates& certificates, const std::string& name,
           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Answer*),
           const Request& request) {
  Stub stub(certificates.channel(certificates.of(name)));
  const Result<Answer> answer =
      rpc::ask(stub, method, request, SmFixture::deadline_in(Duration(60000)));
  return answer ? ok() : Status(answer.error());
}

Status create(const Certificates& certificates, const v1::Partition& partition) {
  v1::CreatePartitionRequest request;
  *request.mutable_partition() = partition;
  return ask<v1::CreatePartitionRequest, v1::Partition>(certificates, "ibpod-admin",
                                                        &Stub::CreatePartition, request);
}

v1::Partition named(size_t size) {
  v1::Partition partition;
  partition.set_name(std::string(size, 'x'));
  return partition;
}

v1::BindRequest bind_request() {
  v1::BindRequest request;
  request.mutable_attachment()->set_node("n1");
  request.mutable_attachment()->set_container("c1");
  request.mutable_attachment()->set_interface("net1");
  request.set_guid(guid_of(1).value());
  request.set_pf("ib0");
  request.set_device("0000:01:00.1");
  request.mutable_pod()->set_namespace_("team");
  request.mutable_pod()->set_name("pod");
  return request;
}

// The most memory that a process has had at once, in megabytes.
size_t most_memory(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    size_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes >> 10;
  }
  return 0;
}

TEST_CASE("a name of 4 MB is refused, in few words") {
  SecureFixture fixture;
  const SecureFixture::ServiceState before = fixture.service_state();
  check_refused(create(fixture, named(kLargest)), Code::unavailable, {std::to_string(kLargest)});
  const Status close = create(fixture, named(kLargest - 100));
  check_refused(close, Code::invalid, {"partition: name", "at most 31 letters", "xxxx"});
  CHECK(close.error().text().size() < 300);
  v1::DeletePartitionRequest other;
  other.set_fabric(std::string(kLargest - 100, 'y'));
  const Status elsewhere = ask<v1::DeletePartitionRequest, v1::Partition>(
      fixture, "ibpod-admin", &Stub::DeletePartition, other);
  check_refused(elsewhere, Code::not_found, {"fabric", "default", "yyyy"});
  CHECK(elsewhere.error().text().size() < 300);
  CHECK(fixture.service_state() == before);
}

void check_many_bindings(const Certificates& certificates) {
  v1::BindRequest bind = bind_request();
  for (int n = 0; n < kMost - 100; ++n) bind.add_partitions();
  check_refused(
      ask<v1::BindRequest, v1::Binding>(certificates, "system:node:n1", &Stub::Bind, bind),
      Code::invalid, {"partitions", "at most 64", "more"});
}

void check_many_attachments(const Certificates& certificates) {
  v1::SyncRequest sync;
  sync.set_node("n1");
  for (int n = 0; n < kMost; ++n) sync.add_attachments();
  check_refused(
      ask<v1::SyncRequest, v1::SyncResponse>(certificates, "system:node:n1", &Stub::Sync, sync),
      Code::invalid, {"attachments", "at most 10000", "more"});
}

void check_many_ports(const Certificates& certificates) {
  v1::ObserveRequest observe;
  observe.set_node("n1");
  for (int n = 0; n < kMost; ++n) observe.add_ports();
  check_refused(ask<v1::ObserveRequest, v1::ObserveResponse>(certificates, "system:node:n1",
                                                             &Stub::Observe, observe),
                Code::invalid, {"ports", "at most 10000", "more"});
}

void check_many_table_entries(const Certificates& certificates) {
  v1::ObserveRequest observe;
  observe.set_node("n1");
  v1::PortTable& port = *observe.add_ports();
  port.set_guid(guid_of(1).value());
  for (int n = 0; n < kLargest - 100; ++n) port.add_table(1);
  check_refused(ask<v1::ObserveRequest, v1::ObserveResponse>(certificates, "system:node:n1",
                                                             &Stub::Observe, observe),
                Code::invalid, {"ports.table", "at most 524288"});
}

void check_many_namespaces(const Certificates& certificates) {
  v1::Partition partition = named(4);
  for (int n = 0; n < kMost - 100; ++n) partition.add_allowed("");
  check_refused(create(certificates, partition), Code::invalid,
                {"partition.allowed", "at most 10000", "more"});
}

void check_many_members(const Certificates& certificates) {
  v1::Partition partition = named(4);
  for (int n = 0; n < kMost - 100; ++n) partition.add_members();
  check_refused(create(certificates, partition), Code::invalid,
                {"partition.members", "at most 10000", "more"});
}

TEST_CASE("requests that list millions are refused, and take a bounded amount of memory") {
  constexpr size_t kBound = 2048;  // megabytes; without AddressSanitizer it is a quarter of that
  SecureFixture fixture;
  fixture.create_partition("blue");
  const SecureFixture::ServiceState before = fixture.service_state();
  const size_t first = most_memory(fixture.pid());
  REQUIRE(first > 0);
  // One after the other of each caller: several at once are cut (rpc/callers.h).
  const std::vector<std::vector<void (*)(const Certificates&)>> callers{
      {check_many_bindings, check_many_attachments, check_many_ports, check_many_table_entries},
      {check_many_namespaces, check_many_members}};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::future<void>> underway;
    for (const auto& checks : callers)
      underway.push_back(std::async(std::launch::async, [&] {
        for (const auto check : checks) check(fixture);
      }));
    for (auto& one : underway) one.wait();
    MESSAGE("at most ", most_memory(fixture.pid()), " MB, of ", first);
  }
  CHECK(most_memory(fixture.pid()) < kBound);
  CHECK(fixture.service_state() == before);
  const auto good = fixture.node(1).bind(SmFixture::request(1, "blue"), SmFixture::deadline_in());
  REQUIRE_MESSAGE(good, good.error().text());
  CHECK(good->state == fabric::BindingState::verified);
}

}  // namespace
}  // namespace ibpod
