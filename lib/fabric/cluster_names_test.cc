#include "lib/fabric/cluster_names.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::fabric {
namespace {

TEST_CASE("cluster names: a name has its cluster in front, one of the default cluster has none") {
  const struct {
    std::string whole, cluster, name;
  } table[] = {
      {"n1", "", "n1"}, {"dev/n1", "dev", "n1"}, {"*/n1.lab", "*", "n1.lab"}, {"", "", ""}};
  for (const auto& [whole, cluster, name] : table) {
    CAPTURE(whole);
    CHECK(cluster_of(whole) == cluster);
    CHECK(name_in_cluster(whole) == name);
    CHECK(with_cluster(cluster, name) == whole);
  }
}

TEST_CASE("cluster names: each part is one that Kubernetes could have") {
  using Names = std::vector<std::string>;
  for (const std::string& name :
       Names{"n1", "n1.lab", "dev/n1", "dev/n1.lab", "d/" + std::string(253, 'n')})
    CHECK_MESSAGE(is_node_name(name), name);
  for (const std::string& name :
       Names{"", "/", "/n1", "dev/", "de.v/n1", "Dev/n1", "dev/N1", "dev/a/n1", "*/n1", "dev/*",
             "dev//n1", std::string(64, 'd') + "/n1", "d/" + std::string(254, 'n')})
    CHECK_FALSE_MESSAGE(is_node_name(name), name);
  CHECK(is_namespace_name("team-a"));
  CHECK(is_namespace_name("dev/team-a"));
  for (const std::string name :
       {"", "/a", "dev/", "dev/a.b", "a.b", "dev/a/b", "*", "*/a", "dev/*"})
    CHECK_FALSE_MESSAGE(is_namespace_name(name), name);
}

TEST_CASE("cluster names: a pattern without a cluster is one of the default cluster alone") {
  const struct {
    std::string pattern, name;
    bool matches;
  } table[] = {{"n1", "n1", true},         {"n1", "dev/n1", false},     {"dev/n1", "n1", false},
               {"dev/n1", "dev/n1", true}, {"dev/n1", "lab/n1", false}, {"*/n1", "n1", true},
               {"*/n1", "dev/n1", true},   {"*", "dev/n1", false},      {"d/n1", "dev/n1", false}};
  for (const auto& [pattern, name, matches] : table) {
    CAPTURE(pattern + " " + name);
    CHECK(matches_cluster(pattern, name) == matches);
  }
}

TEST_CASE("cluster names: a cluster that is not there, or that is the default one, is refused") {
  const ClusterNames none, prod{"prod", {}}, three{"prod", {"dev", "lab"}};
  for (const std::string name : {"team-a", "*", "*/team-a", "dev/team-a", "lab/*"})
    CHECK_MESSAGE(check_cluster(three, name), name);
  for (const std::string name : {"team-a", "*", "*/team-a"})
    CHECK_MESSAGE(check_cluster(none, name), name);
  const auto error = [](const ClusterNames& clusters, const std::string& name) {
    const Status checked = check_cluster(clusters, name);
    REQUIRE_FALSE(checked);
    CHECK(checked.error().code() == Code::invalid);
    return checked.error().text();
  };
  CHECK(error(three, "prod/team-a") ==
        R"(expected "team-a", got "prod/team-a": prod is the default cluster, whose names have no )"
        "cluster in front");
  CHECK(
      error(three, "stage/team-a") ==
      R"(expected dev, lab before the '/', or a name of the default cluster, got "stage/team-a": )"
      R"("clusters" of ibpod-sm's configuration has no other cluster)");
  for (const ClusterNames& clusters : {none, prod})
    CHECK(error(clusters, "dev/team-a") ==
          R"(expected a name without a cluster, got "dev/team-a": "clusters" of ibpod-sm's )"
          "configuration has no other cluster");
}

}  // namespace
}  // namespace ibpod::fabric
