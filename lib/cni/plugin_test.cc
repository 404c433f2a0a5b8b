#include "lib/cni/plugin.h"

#include <new>
#include <stdexcept>

#include <doctest/doctest.h>

namespace ibpod::cni {
namespace {

// Answers every verb with the one status it was given, and remembers what it was asked.
class FakePlugin : public Plugin {
 public:
  explicit FakePlugin(Status answer = ok(), Status configured = ok())
      : answer_(std::move(answer)), configured_(std::move(configured)) {}

  void prepare(const Call&, const json::Value& document) override {
    const std::optional<json::Value> log = document.find("log");
    if (log) verbs += "prepare " + log->text() + ", ";
  }
  Status configure(const Call&, const Network& network) override {
    verbs += "configure " + network.name + ", ";
    return configured_;
  }
  Result<AddResult> add() override {
    verbs += "add";
    if (!answer_) return answer_.error();
    AddResult result;
    result.interfaces.push_back(Interface{"net1", "", 4092, "/netns", "0000:3b:00.2", ""});
    return result;
  }
  Status del() override { return answer("del"); }
  Status check() override { return answer("check"); }
  Status gc() override { return answer("gc"); }
  Status status() override { return answer("status"); }

  std::string verbs;

 private:
  Status answer(const char* verb) {
    verbs += verb;
    return answer_;
  }
  Status answer_;
  Status configured_;
};

template <typename Thrown>
class Thrower : public FakePlugin {
 public:
  Status del() override { throw Thrown(); }
};

struct OutOfBounds : std::out_of_range {
  OutOfBounds() : std::out_of_range("index 7") {}
};

Environment environment_of(const char* verb) {
  return {{"CNI_COMMAND", verb},
          {"CNI_CONTAINERID", "c1"},
          {"CNI_NETNS", "/netns"},
          {"CNI_IFNAME", "net1"}};
}

Answer serve_verb(Plugin& plugin, const char* verb, const char* version = "1.1.0") {
  return serve(plugin, environment_of(verb),
               std::string(R"({"name":"n","cniVersion":")") + version + "\"}");
}

TEST_CASE("ADD prints its result in the configuration's version") {
  FakePlugin plugin;
  const Answer answer = serve_verb(plugin, "ADD");
  CHECK(answer.exit_code == 0);
  CHECK_FALSE(answer.failure);
  CHECK(answer.output == R"({"cniVersion":"1.1.0","interfaces":[{"name":"net1","mtu":4092,)"
                         R"("sandbox":"/netns","pciID":"0000:3b:00.2"}]})"
                         "\n");
  CHECK(plugin.verbs == "configure n, add");
  CHECK(serve_verb(plugin, "ADD", "0.4.0").output ==
        R"({"cniVersion":"0.4.0","interfaces":[{"name":"net1","sandbox":"/netns"}]})"
        "\n");
}

TEST_CASE("the other verbs print nothing where all is well") {
  const struct {
    const char* verb;
    const char* asked;
  } table[] = {{"DEL", "configure n, del"},
               {"CHECK", "configure n, check"},
               {"GC", "configure n, gc"},
               {"STATUS", "configure n, status"}};
  for (const auto& [verb, asked] : table) {
    FakePlugin plugin;
    const Answer answer = serve_verb(plugin, verb);
    CHECK(answer.exit_code == 0);
    CHECK(answer.output.empty());
    CHECK(plugin.verbs == asked);
  }
}

TEST_CASE("VERSION needs no configuration, asks no plugin, and echoes what it was asked with") {
  const std::string supported =
      R"("supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]})"
      "\n";
  const struct {
    const char* input;
    const char* echo;
  } table[] = {{"", "1.1.0"},
               {"rubbish", "1.1.0"},
               {"{}", "1.1.0"},
               {R"({"cniVersion":"0.4.0"})", "0.4.0"},
               {R"({"cniVersion":"9.0.0"})", "9.0.0"},
               {R"({"cniVersion":7})", "1.1.0"}};
  for (const auto& [input, echo] : table) {
    FakePlugin plugin;
    const Answer answer = serve(plugin, {{"CNI_COMMAND", "VERSION"}}, input);
    CHECK(answer.exit_code == 0);
    CHECK(answer.output == R"({"cniVersion":")" + std::string(echo) + "\"," + supported);
    CHECK(plugin.verbs.empty());
  }
}

TEST_CASE("an error is printed with the configuration's version, and the plugin is not asked") {
  const struct {
    Environment environment;
    const char* input;
    int code;
    const char* output;
  } table[] = {
      {{},
       R"({"cniVersion":"0.4.0"})",
       4,
       R"({"cniVersion":"0.4.0","code":4,"msg":"CNI_COMMAND is missing"})"},
      {{{"CNI_COMMAND", "ADD"}},
       "",
       4,
       R"({"cniVersion":"1.1.0","code":4,"msg":"ADD needs variables that are missing: )"},
      {environment_of("LIST"), "{}", 4,
       R"({"cniVersion":"0.1.0","code":4,"msg":"CNI_COMMAND is \"LIST\")"},
      {environment_of("ADD"), "", 6, R"({"cniVersion":"1.1.0","code":6,"msg":"JSON: )"},
      {environment_of("DEL"), "[1]", 6,
       R"({"cniVersion":"1.1.0","code":6,"msg":"the document: expected )"},
      {environment_of("ADD"), R"({"cniVersion":"3.0.0","name":"n"})", 1,
       R"({"cniVersion":"1.1.0","code":1,"msg":"cniVersion is \"3.0.0\": this plugin supports 0.1.0, )"},
      {environment_of("ADD"), R"({"cniVersion":"0.3.1"})", 7,
       R"({"cniVersion":"0.3.1","code":7,"msg":"the document: the key \"name\" is missing"})"},
  };
  for (const auto& row : table) {
    const auto& [environment, input, code, output] = row;
    CAPTURE(row.output);
    FakePlugin plugin;
    const Answer answer = serve(plugin, environment, input);
    CHECK(answer.exit_code == 1);
    REQUIRE(answer.failure);
    CHECK(answer.failure->code == code);
    CHECK(answer.output.substr(0, std::string_view(output).size()) == output);
    CHECK(answer.output.ends_with("}\n"));
    CHECK(plugin.verbs.empty());
  }
}

TEST_CASE("a plugin is told of the document before anything in it is refused") {
  for (const char* refused : {R"("cniVersion":"3.0.0","name":"n")", R"("cniVersion":7)",
                              R"("cniVersion":"1.1.0")", R"("name":"n","ipam":7)"}) {
    CAPTURE(refused);
    FakePlugin plugin;
    CHECK(serve(plugin, environment_of("ADD"), R"({"log":1,)" + std::string(refused) + "}")
              .exit_code == 1);
    CHECK(plugin.verbs == "prepare 1, ");
  }
}

TEST_CASE("DEL is not refused for keys that it does not need") {
  const std::string input = R"({"name":"n","ipam":7,"dns":7,"prevResult":7})";
  FakePlugin plugin;
  CHECK(serve(plugin, environment_of("DEL"), input).exit_code == 0);
  CHECK(plugin.verbs == "configure n, del");
  FakePlugin other;
  CHECK(serve(other, environment_of("ADD"), input).failure->code == 7);
  CHECK(other.verbs.empty());
}

TEST_CASE("a verb needs the version that brought it") {
  const struct {
    const char* verb;
    const char* too_old;
    const char* first;
  } table[] = {{"CHECK", "0.3.1", "0.4.0"}, {"GC", "1.0.0", "1.1.0"}, {"STATUS", "1.0.0", "1.1.0"}};
  for (const auto& [verb, too_old, first] : table) {
    FakePlugin plugin;
    const Answer refused = serve_verb(plugin, verb, too_old);
    REQUIRE(refused.failure);
    CHECK(refused.failure->code == 1);
    CHECK(refused.failure->message == std::string(verb) + " requires cniVersion " + first +
                                          " or later, but the configuration's cniVersion is " +
                                          too_old);
    CHECK(plugin.verbs.empty());
    CHECK(serve_verb(plugin, verb, first).exit_code == 0);
  }
}

TEST_CASE("the configuration's own failures are 7 or 2, unless they say what else") {
  const struct {
    Error error;
    int code;
  } table[] = {{Error(Code::invalid, "x"), 7},
               {Error(Code::unsupported, "x"), 2},
               {Error(Code::unavailable, "x"), 11},
               {Error(Code::unsupported, "x").reported_as(kKernelUnsupported), 104}};
  for (const auto& [error, code] : table) {
    FakePlugin plugin(ok(), error);
    CHECK(serve_verb(plugin, "ADD").failure->code == code);
    CHECK(plugin.verbs == "configure n, ");
  }
}

TEST_CASE("a verb's failure has the number of its code, or the one it is reported as") {
  for (const char* verb : {"ADD", "DEL", "CHECK", "GC"}) {
    FakePlugin missing(Error(Code::not_found, "no VF").with_details("more"));
    CHECK(serve_verb(missing, verb).output ==
          R"({"cniVersion":"1.1.0","code":101,"msg":"no VF","details":"more"})"
          "\n");
    FakePlugin unknown(Error(Code::not_found, "gone").reported_as(kUnknownContainer));
    CHECK(serve_verb(unknown, verb).failure->code == 3);
  }
}

TEST_CASE("STATUS knows two ways to fail") {
  for (const Error& error : {Error(Code::unavailable, "x"), Error(Code::internal, "x"),
                             Error(Code::internal, "x").reported_as(kIpamFailed)}) {
    FakePlugin plugin(error);
    CHECK(serve_verb(plugin, "STATUS").failure->code == 50);
  }
  FakePlugin limited(Error(Code::unavailable, "x").reported_as(kLimitedConnectivity));
  CHECK(serve_verb(limited, "STATUS").failure->code == 51);
}

TEST_CASE("what a plugin throws becomes an error like any other") {
  Thrower<OutOfBounds> bounds;
  CHECK(serve_verb(bounds, "DEL").failure == Failure{100, "internal error: index 7", ""});
  Thrower<std::bad_alloc> memory;
  CHECK(serve_verb(memory, "DEL").failure == Failure{100, "internal error: std::bad_alloc", ""});
  Thrower<int> number;
  CHECK(serve_verb(number, "DEL", "0.4.0").output ==
        R"({"cniVersion":"0.4.0","code":100,"msg":"internal error: unknown exception"})"
        "\n");
}

}  // namespace
}  // namespace ibpod::cni
