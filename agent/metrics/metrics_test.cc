#include "agent/metrics/metrics.h"

#include "tests/support/metric_families.h"

namespace ibpod::agent::metrics {
namespace {

TEST_CASE(
    "the document lists every metric, with its kind and labels, in this order, and no other") {
  const std::string all = read_file("docs/metrics.md").value();
  check_document(std::string_view(all).substr(0, all.find("\n# Metrics of ibpod-sm\n")),
                 metric_families());
}

TEST_CASE("names are of one form") { check_names("ibpod_", metric_families()); }

TEST_CASE("every metric can be set, and is shown then") {
  http::Metrics metrics;
  show_version(metrics, "0.1");
  show_pools(metrics, {{"rdma/a", 3, 1, 2, {{"noGuid", 1}}}});
  show_registrations(metrics, {{"rdma/a", true}});
  count_registration(metrics, "rdma/a", false);
  count_allocation(metrics, "rdma/a", true, std::chrono::milliseconds(3));
  count_health_change(metrics, "rdma/a", "pf_link_down");
  count_reload(metrics, false);
  show_gc(metrics, {5, 2, 1, 1, 1, 2, 3}, 1'700'000'000);
  show_gc(metrics, {5, 1, 1, 1, 0, 1, 2}, 1'700'000'060);
  show_rdma_netns(metrics, "exclusive", "shared", false);
  show_fabric(metrics, "east", true, 3, 1);
  show_certificates(metrics, {{"east", true, std::chrono::system_clock::from_time_t(7)},
                              {"west", false, std::nullopt}});
  show_preparation(metrics, {{"0000:3b:00.0", 2}});
  show_port_counters(metrics, {{"mlx5_2", "1", "port_rcv_data", "ns", "pod", "c1", 7}}, 1);
  const std::string text = metrics.text();
  for (const http::Family& family : metric_families()) {
    CAPTURE(family.name);
    CHECK(text.find("# TYPE " + std::string(family.name) + " ") != text.npos);
  }
  for (const char* sample :
       {R"(ibpod_pool_devices{pool="rdma/a",state="in_use"} 2)",
        R"(ibpod_sweep_releases_total{result="released"} 2)",
        R"(ibpod_attachments{verdict="dead"} 1)", "ibpod_sweeps_total 2", "ibpod_owed_addresses 2",
        R"(ibpod_unhealthy_devices{pool="rdma/a",reason="noGuid"} 1)",
        R"(ibpod_node_certificate_usable{fabric="west"} 0)",
        R"(ibpod_node_certificate_expiry_timestamp_seconds{fabric="east"} 7)",
        "ibpod_config_good 0"}) {
    CAPTURE(sample);
    CHECK(text.find("\n" + std::string(sample) + "\n") != text.npos);
  }
  CHECK(text.find("ibpod_node_certificate_expiry_timestamp_seconds{fabric=\"west\"}") == text.npos);
}

TEST_CASE("a pool, a PF or a pod that is gone is shown no longer") {
  http::Metrics metrics;
  show_pools(metrics, {{"a", 1, 0, 0}, {"b", 1, 0, 0}});
  show_registrations(metrics, {{"a", true}, {"b", true}});
  show_preparation(metrics, {{"pf", 1}});
  show_port_counters(metrics, {{"mlx5_2", "1", "x", "ns", "pod", "c1", 7}}, 0);
  show_pools(metrics, {{"b", 1, 0, 0}});
  show_registrations(metrics, {{"b", true}});
  show_preparation(metrics, {});
  show_port_counters(metrics, {}, 0);
  const std::string text = metrics.text();
  for (const char* gone : {"\"a\"", "\"pf\"", "\"pod\""}) CHECK(text.find(gone) == text.npos);
  CHECK(text.find("\"b\"") != text.npos);
}

}  // namespace
}  // namespace ibpod::agent::metrics
