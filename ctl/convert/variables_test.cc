#include "ctl/convert/variables.h"

#include <doctest/doctest.h>

namespace ibpod::ctl::convert {
namespace {

bool is_known(const std::string& name) { return name == "A" || name == "PASSWORD"; }

Result<Variables> read(const std::vector<std::string>& inputs) {
  Variables variables;
  for (const std::string& input : inputs) TRY(add_variables(input, is_known, variables));
  return variables;
}

TEST_CASE("variables come from manifests and from lines") {
  const struct {
    std::vector<std::string> inputs;
    Variables variables;
  } table[] = {
      {{R"({"kind": "ConfigMap", "data": {"A": "1", "B": ""}})"}, {{"A", "1"}, {"B", ""}}},
      {{R"({"kind": "Secret", "data": {"PASSWORD": "c3dvcmRmaXNo"}})"},
       {{"PASSWORD", "swordfish"}}},
      {{R"({"kind": "Secret", "data": {"A": "ODQ0Mw==", "PASSWORD": "eA=="},
            "stringData": {"PASSWORD": "swordfish"}})"},
       {{"A", "8443"}, {"PASSWORD", "swordfish"}}},
      {{R"({"kind": "Secret", "data": {"A": null}, "stringData": null})"}, {{"A", ""}}},
      {{R"({"apiVersion": "v1", "kind": "List", "items": [
             {"kind": "ConfigMap", "data": {"A": "1"}},
             {"kind": "Secret", "data": {"PASSWORD": "eA=="}}]})"},
       {{"A", "1"}, {"PASSWORD", "x"}}},
      {{" \n{\"kind\": \"ConfigMap\", \"data\": {\"A\": \"1\"}}", "PASSWORD=x\n"},
       {{"A", "1"}, {"PASSWORD", "x"}}},
      {{"# of the pod\n\nA=1\r\n  \nPASSWORD=a=b # c\nC_3="},
       {{"A", "1"}, {"PASSWORD", "a=b # c"}, {"C_3", ""}}},
      {{"A=\"\nPASSWORD='x\""}, {{"A", "\""}, {"PASSWORD", "'x\""}}},
      {{"A=1", "A=1"}, {{"A", "1"}}},
  };
  for (const auto& [inputs, expected] : table) {
    CAPTURE(inputs.front());
    const Result<Variables> variables = read(inputs);
    REQUIRE_MESSAGE(variables, variables.error().text());
    CHECK(*variables == expected);
  }
}

TEST_CASE("wrong inputs are refused with their place, and without their values") {
  const std::string other_kind = R"(kind: expected ConfigMap, Secret or a List of them, got ")";
  const struct {
    std::vector<std::string> inputs;
    std::string error;
  } table[] = {
      {{""}, "the input is empty"},
      {{" \n"}, "the input is empty"},
      {{"A=1\nswordfish"}, "line 2: expected NAME=VALUE"},
      {{"a=swordfish"}, "line 1: expected NAME=VALUE"},
      {{"=swordfish"}, "line 1: expected NAME=VALUE"},
      {{"export PASSWORD=swordfish"}, "line 1: expected NAME=VALUE"},
      {{"apiVersion: v1\nkind: Secret"}, "or JSON from `kubectl get --output json`"},
      {{"PASSWORD=\"swordfish\""}, "line 1: PASSWORD: quotes are a part of the value here"},
      {{"PASSWORD='swordfish'"}, "line 1: PASSWORD: quotes are a part of the value here"},
      {{"PASSWORD=swordfish\nPASSWORD=other"}, "line 2: PASSWORD: two values that differ"},
      {{"PASSWORD=swordfish", R"({"kind": "Secret", "data": {"PASSWORD": "eA=="}})"},
       "PASSWORD: two values that differ"},
      {{R"({"kind": "Pod"})"}, "the document: " + other_kind + "Pod\""},
      {{R"({"data": {"A": "1"}})"}, "the document: " + other_kind + "\""},
      {{R"({"kind": "List"})"}, "items"},
      {{R"({"kind": "List", "items": {}})"}, "items: expected a list"},
      {{R"({"kind": "List", "items": [{"kind": "List", "items": []}]})"},
       "items[0]: " + other_kind + "List\""},
      {{R"({"kind": "List", "items": [7]})"}, "items[0]: " + other_kind + "\""},
      {{R"({"kind": "ConfigMap", "data": {"OTHER": "swordfish"}})"},
       "this ConfigMap has no variable of ib-kubernetes"},
      {{R"({"kind": "ConfigMap", "metadata": {}})"}, "this ConfigMap has no variable"},
      {{R"({"kind": "Secret", "data": ["swordfish"]})"}, "data: expected an object"},
      {{R"({"kind": "Secret", "data": {"PASSWORD": "swordfish!"}})"},
       "data.PASSWORD: expected base64"},
      {{R"({"kind": "Secret", "stringData": {"PASSWORD": 51413}})"},
       "stringData.PASSWORD: expected a string"},
      {{R"({"kind": "Secret", "stringData": {"PASSWORD": swordfish}})"},
       "JSON: parse error at line 1, column 47: syntax error while parsing value"},
      {{R"({"kind": "Secret", "stringData": {"PASSWORD": "swordfish)"},
       "JSON: parse error at line 1"},
      {{R"({"kind": "Secret", "stringData": {"PASSWORD": 51413e999}})"}, "JSON: number overflow"},
      {{R"({"kind": "Secret", "stringData": {"PASSWORD": "swordfish", "PASSWORD": "x"}})"},
       "JSON: duplicate key \"PASSWORD\""},
      {{"{" + std::string(20'000, ',')}, "JSON: more than 10000"},
  };
  for (const auto& [inputs, expected] : table) {
    CAPTURE(inputs.back().substr(0, 100));
    const Result<Variables> variables = read(inputs);
    REQUIRE_FALSE(variables);
    const std::string& error = variables.error().text();
    CHECK(variables.error().code() == Code::invalid);
    CHECK_MESSAGE(error.find(expected) != error.npos, error);
    for (const char* secret : {"swordf", "51413", "other"})
      CHECK_MESSAGE(error.find(secret) == error.npos, error);
  }
}

}  // namespace
}  // namespace ibpod::ctl::convert
