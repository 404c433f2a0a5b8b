#include "tests/fabric/security/node_attacks.h"

#include "tests/support/raw_http2.h"

#include <functional>
#include <future>
#include <numeric>
#include <thread>

namespace ibpod {
namespace {

// The number of VFs, of which no port is on the subnet, so that their node is believed.
constexpr uint32_t kVfs = 20;

std::vector<fabricapi::BindRequest> bound_vfs(fabricapi::Client& node, uint32_t count) {
  std::vector<uint32_t> vfs(count);
  std::iota(vfs.begin(), vfs.end(), 0);
  const Deadline soon = Deadline::in(Duration(5'000));
  const auto given = node.allocate_guids({node_of(1), "0000:01:00.0", vfs}, soon);
  std::vector<fabricapi::BindRequest> bound;
  if (!given) return bound;
  for (const fabricapi::AllocatedGuid& one : *given) {
    auto request = SmFixture::request(1, "blue", "v" + std::to_string(one.vf));
    request.guid = one.guid;
    (void)node.bind(request, Deadline::in(Duration(50)));
    bound.push_back(request);
  }
  return bound;
}

// Tables as long as are taken, which hold what nobody gave those ports.
fabricapi::ObserveRequest tables_of(const std::vector<fabricapi::BindRequest>& bound,
                                    size_t places) {
  fabricapi::ObserveRequest told{node_of(1), {}, {}};
  ib::PKeyTable table;
  for (size_t n = 1; n <= places; ++n) table.emplace_back(static_cast<uint16_t>(n));
  for (const auto& one : bound) told.ports.push_back({one.guid, table});
  return told;
}

// A call of WatchBindings for the node's own bindings.
std::string watch_call() {
  const std::string message("\x12\x04\x0a\x02n1");
  const std::string prefix = std::string(4, '\0') + static_cast<char>(message.size());
  return http2::frame(http2::Type::headers, http2::kEndHeaders, 1,
                      http2::headers("/ibpod.v1.Fabric/WatchBindings", true)) +
         http2::frame(http2::Type::data, http2::kEndStream, 1, prefix + message);
}

constexpr size_t kPartitions = 60;

std::string long_name(size_t number) {
  return "p" + std::to_string(100 + number) + std::string(27, 'x');
}

// Binds the VF again again and again, each time without another one of many partitions: a change of
// some KiB.
void change_bindings(fabricapi::Client& node, fabricapi::BindRequest request, Deadline end) {
  const auto wish = request.partitions.front();
  for (size_t nth = 0; !end.passed(); ++nth) {
    request.partitions.clear();
    for (size_t n = 0; n < kPartitions; ++n)
      if (n != nth % kPartitions) request.partitions.emplace_back(wish).partition = long_name(n);
    (void)node.bind(request, Deadline::in(Duration(50)));
  }
}

}  // namespace

Attack::Done tell_tables(const SecureFixture& fixture, Deadline end) {
  fabricapi::Client node = fixture.node(1);
  const auto bound = bound_vfs(node, kVfs);
  fabricapi::ObserveRequest told = tables_of(bound, 65'500);
  Attack::Done done;
  do {
    const auto answer = node.observe(told, Deadline::in(Duration(10'000)));
    if (answer) told.stamp = answer->stamp();
    const bool refused = !answer && answer.error().code() == Code::invalid;
    done.connected += answer || refused ? 1 : 0;
    done.cut += refused ? 1 : 0;
    if (refused) told = tables_of(bound, ib::kMostTableEntries);
    std::this_thread::sleep_for(Duration(200));
  } while (!end.passed());
  return done;
}

Attack::Done never_read(const SecureFixture& fixture, Deadline end) {
  for (size_t n = 0; n < kPartitions; ++n)
    (void)fixture.client().create_partition(SmFixture::sample_partition(long_name(n)),
                                            SmFixture::deadline_in());
  Attack::Done done;
  std::vector<RawHttp2> watches;
  for (size_t n = 0; n < 14; ++n) {
    auto connection =
        RawHttp2::connect(fixture.host(), SecureFixture::kPort, fixture.of("system:node:n1"));
    if (!connection || !connection->send(watch_call())) continue;
    ++done.connected;
    watches.push_back(std::move(*connection));
  }
  std::vector<std::future<void>> changing;
  fabricapi::Client node = fixture.node(1);
  for (const auto& one : bound_vfs(node, 8))
    changing.push_back(std::async(std::launch::async, change_bindings, std::ref(node), one, end));
  for (const auto& one : changing) one.wait();
  return done;
}

}  // namespace ibpod
