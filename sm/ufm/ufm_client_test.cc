#include "sm/ufm/ufm_client.h"

#include "sm/ufm/messages.h"
#include "sm/ufm/test_api_contract.h"
#include "sm/ufm/test_rest_ufm.h"
#include "tests/support/https_server.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using End = HttpsAnswer::End;

const std::string kPasswordHeader = "Basic YWRtaW46NWVjN2U3";  // admin:5ec7e7

// A UFM, and the settings of a client of it.
struct Fixture {
  TestCa ca;
  TempFolder folder;
  RestUfm ufm{.authorization = kPasswordHeader};
  // Called first: its answer goes out instead of the model's.
  std::function<std::optional<HttpsAnswer>(const HttpsRequest&)> fault = [](const auto&) {
    return std::nullopt;
  };
  HttpsServer server;
  ClientSettings settings;

  Fixture()
      : server(certificate(), [this](const HttpsRequest& request) {
          if (auto answer = fault(request)) return *answer;
          return ufm(request);
        }) {
    settings.addresses = {server.address()};
    settings.auth = BasicAuth{"admin", folder.write("password", "5ec7e7\n")};
    settings.ca = folder.write("ca.crt", ca.certificate());
    settings.timeout = Duration(20'000);
  }

  TestCa::Issued certificate() const {
    return ca.issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}});
  }
  UfmClient client() const { return UfmClient(settings); }
  void add(uint16_t pkey, const std::vector<ib::Guid>& guids) {
    RestUfm::Entry& entry = ufm.partitions[ib::PKey(pkey)];
    for (const ib::Guid guid : guids) entry.members[guid] = {"full", false};
  }
  // "GET /resources/pkeys" and so on.
  std::vector<std::string> sent(size_t after = 0) const {
    std::vector<std::string> sent;
    for (const HttpsRequest& request : server.requests())
      sent.push_back(request.method + " " + request.target.substr(ufm.base.size()));
    sent.erase(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(after));
    return sent;
  }
};

template <typename T>
std::string error_of(const Result<T>& result, Code code = Code::unavailable) {
  REQUIRE_FALSE(result);
  CHECK_MESSAGE(result.error().code() == code, result.error().text());
  CHECK(result.error().text().find("5ec7e7") == std::string::npos);
  CHECK(result.error().text().find("YWRtaW46NWVjN2U3") == std::string::npos);
  return result.error().text();
}

const Addition kAddition{.pkey = ib::PKey(5),
                         .membership = ib::Membership::limited,
                         .index0 = true,
                         .ip_over_ib = true,
                         .guids = {ib::Guid(1), ib::Guid(2)}};

TEST_CASE("the client keeps the contract, whatever form this UFM's answers have") {
  using Shape = RestUfm::Shape;
  for (const Shape shape : {Shape::keyed, Shape::flags_only, Shape::words, Shape::objects}) {
    CAPTURE(static_cast<int>(shape));
    const bool is_old = shape == Shape::words || shape == Shape::keyed;
    Fixture fixture;
    fixture.ufm.shape = shape;
    fixture.ufm.unknown_is_404 = !is_old;
    fixture.ufm.upper = shape == Shape::keyed || shape == Shape::flags_only;
    fixture.ufm.serves_delete = !is_old;
    UfmClient client = fixture.client();
    check_contract(client);
  }
}

TEST_CASE("an addition is one POST with one membership, and never a PUT") {
  Fixture fixture;
  UfmClient client = fixture.client();
  REQUIRE(client.add(kAddition));
  CHECK(fixture.sent() ==
        std::vector<std::string>{"GET /resources/pkeys", "POST /resources/pkeys"});
  CHECK(fixture.server.requests().back().body == write_addition(kAddition));
  REQUIRE(client.add(kAddition));
  CHECK(fixture.sent(2) == std::vector<std::string>{"POST /resources/pkeys"});
}

TEST_CASE("201 and 202 are successes, too") {
  for (const int status : {201, 202, 204}) {
    Fixture fixture;
    fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
      if (request.method == "GET") return std::nullopt;
      return HttpsAnswer{.status = status};
    };
    UfmClient client = fixture.client();
    CHECK(client.add(kAddition));
    CHECK(client.remove(ib::PKey(5), {ib::Guid(1)}));
  }
}

TEST_CASE("a refusal is invalid, with UFM's words") {
  Fixture fixture;
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.method == "GET") return std::nullopt;
    return HttpsAnswer{
        .status = 400,
        .body = "GUID 1 is unknown to admin:5ec7e7, " + request.headers.at("authorization")};
  };
  UfmClient client = fixture.client();
  CHECK(error_of(client.add(kAddition), Code::invalid) ==
        "POST /ufmRest/resources/pkeys at " + fixture.server.address() +
            ": answered 400: GUID 1 is unknown to admin:***, Basic ***");
  const std::string text =
      error_of(client.remove(ib::PKey(5), std::vector(kMostGuids, ib::Guid(1))), Code::invalid);
  CHECK(text.starts_with("DELETE /ufmRest/resources/pkeys/0x5/guids/0000000000000001,"));
  CHECK(text.size() < 400);
  // No part of a secret stays at the cut.
  fixture.fault = [](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.method == "GET") return std::nullopt;
    return HttpsAnswer{.status = 400, .body = std::string(194, 'x') + "5ec7e7" + "yyyyyy"};
  };
  CHECK(error_of(client.add(kAddition), Code::invalid).find("x5e") == std::string::npos);
}

TEST_CASE("keys in a body under 200 are no refusal: a reading decides; HTML is not an answer") {
  Fixture fixture;
  std::string body = R"({"invalid_guids": ["0000000000000002"]})";
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.method == "GET") return std::nullopt;
    return HttpsAnswer{.body = body};
  };
  UfmClient client = fixture.client();
  CHECK(client.add(kAddition));
  body = "<html>login</html>";
  CHECK(error_of(client.add(kAddition)).find("got HTML") != std::string::npos);
  REQUIRE(client.version());
  CHECK(error_of(client.remove(ib::PKey(5), {ib::Guid(1)})).find("got HTML") != std::string::npos);
}

TEST_CASE("values that UFM must not get are refused without a request") {
  Fixture fixture;
  UfmClient client = fixture.client();
  Addition addition = kAddition;
  for (const uint16_t pkey : std::vector<uint16_t>{0x0000, 0x7fff, 0x8005, 0xffff}) {
    CAPTURE(pkey);
    addition.pkey = ib::PKey(pkey);
    error_of(client.add(addition), Code::invalid);
    error_of(client.remove(ib::PKey(pkey), {ib::Guid(1)}), Code::invalid);
  }
  using Guids = std::vector<ib::Guid>;
  for (const Guids& guids : {Guids(), Guids(kMostGuids + 1, ib::Guid(1)), Guids{ib::kNoGuid}}) {
    addition = kAddition;
    addition.guids = guids;
    error_of(client.add(addition), Code::invalid);
    error_of(client.remove(ib::PKey(5), guids), Code::invalid);
  }
  CHECK(fixture.sent().empty());
}

TEST_CASE("a removal takes the form that this UFM serves, and remembers it") {
  Fixture fixture;
  fixture.add(5, {ib::Guid(1), ib::Guid(2), ib::Guid(3)});
  UfmClient client = fixture.client();
  fixture.ufm.serves_delete = false;
  REQUIRE(client.remove(ib::PKey(5), {ib::Guid(1)}));
  const size_t before = fixture.sent().size();
  REQUIRE(client.remove(ib::PKey(5), {ib::Guid(2)}));
  CHECK(fixture.sent(before) == std::vector<std::string>{"POST /actions/remove_guids_from_pkey"});
  // An upgrade of UFM ends the deprecated form.
  fixture.ufm.serves_delete = true;
  fixture.ufm.serves_action = false;
  REQUIRE(client.remove(ib::PKey(5), {ib::Guid(3)}));
  CHECK(fixture.ufm.partitions.count(ib::PKey(5)) == 0);
  CHECK(fixture.sent().back() == "DELETE /resources/pkeys/0x5/guids/0000000000000003");

  fixture.add(5, {ib::Guid(1)});
  fixture.ufm.serves_delete = false;
  error_of(client.remove(ib::PKey(5), {ib::Guid(1)}), Code::invalid);
  CHECK(fixture.ufm.partitions.at(ib::PKey(5)).members.size() == 1);
}

TEST_CASE("a partition is absent only if the list of all does not have it") {
  Fixture fixture;
  fixture.add(5, {ib::Guid(1)});
  UfmClient client = fixture.client();
  HttpsAnswer single;
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.target.find("/pkeys/") == std::string::npos) return std::nullopt;
    return single;
  };
  for (const HttpsAnswer& answer : {HttpsAnswer{.status = 404, .body = "<html>"},
                                    HttpsAnswer{.status = 405}, HttpsAnswer{.body = "{}"}}) {
    single = answer;
    CHECK(error_of(client.partition(ib::PKey(5))).find("UFM lists the P_Key 0x0005") !=
          std::string::npos);
    CHECK(client.partition(ib::PKey(6)).value() == std::nullopt);
  }
  // Nor is it, if there is no list.
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.target.find("guids_data") == std::string::npos) return std::nullopt;
    return HttpsAnswer{.status = 404};
  };
  CHECK(client.partition(ib::PKey(6)).value() == std::nullopt);
  fixture.fault = [](const HttpsRequest&) { return HttpsAnswer{.status = 404}; };
  error_of(client.partition(ib::PKey(6)));
}

TEST_CASE("partitions without members are read one by one, within limits") {
  Fixture fixture;
  fixture.ufm.shape = RestUfm::Shape::words;
  fixture.add(5, {ib::Guid(1)});
  fixture.add(6, {ib::Guid(2)});
  UfmClient client = fixture.client();
  const auto partitions = client.partitions();
  REQUIRE_MESSAGE(partitions.ok(), partitions.error().text());
  CHECK(partitions->size() == 3);
  CHECK(partitions->at(1).members.at(0).guid == ib::Guid(2));
  CHECK(fixture.sent() == std::vector<std::string>{"GET /resources/pkeys",
                                                   "GET /resources/pkeys?guids_data=true",
                                                   "GET /resources/pkeys/0x5?guids_data=true",
                                                   "GET /resources/pkeys/0x6?guids_data=true",
                                                   "GET /resources/pkeys/0x7fff?guids_data=true"});

  UfmClient few(fixture.settings, {}, {.requests = 2});
  CHECK(error_of(few.partitions()) ==
        "UFM lists 3 partitions without members; ibpod-sm reads at most 2 one by one");
  UfmClient hurried(fixture.settings, {}, {.time = Duration(0)});
  CHECK(error_of(hurried.partitions()).find("within 0 s") != std::string::npos);
  // One that cannot be read is not left out.
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.target.find("/0x6") == std::string::npos) return std::nullopt;
    return HttpsAnswer{.status = 500};
  };
  CHECK(error_of(client.partitions()).find("/resources/pkeys/0x6 at ") != std::string::npos);
}

TEST_CASE("a partition that goes while the others are read is left out") {
  Fixture fixture;
  fixture.ufm.shape = RestUfm::Shape::flags_only;
  fixture.add(5, {ib::Guid(1)});
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.target.find("/0x5") != std::string::npos) fixture.ufm.partitions.erase(ib::PKey(5));
    return std::nullopt;
  };
  UfmClient client = fixture.client();
  const auto partitions = client.partitions();
  REQUIRE_MESSAGE(partitions.ok(), partitions.error().text());
  CHECK(partitions->size() == 1);
}

TEST_CASE("preflight: version, settings, ports and virtual ports") {
  Fixture fixture;
  UfmClient client = fixture.client();
  CHECK(client.version().value() == "6.14.5-2");
  CHECK(client.settings().value() == SiteSettings{std::nullopt, false});
  CHECK(client.ports().value() == std::vector{ib::Guid(1), ib::Guid(2)});
  CHECK(client.vports().value().empty());
  fixture.ufm.others.clear();
  CHECK(error_of(client.version(), Code::unsupported).find("this release of UFM") !=
        std::string::npos);
  error_of(client.settings(), Code::unsupported);
  error_of(client.ports(), Code::unsupported);
  error_of(client.vports(), Code::unsupported);
}

TEST_CASE("a token and a certificate identify the client as a password does") {
  Fixture fixture;
  fixture.settings.auth = TokenAuth{fixture.folder.write("token", "t0ken")};
  fixture.ufm.base = "/ufmRestV3";
  fixture.ufm.authorization = "Basic t0ken";
  UfmClient by_token = fixture.client();
  CHECK_MESSAGE(by_token.version().ok(), by_token.version().error().text());

  const TestCa own_ca;
  RestUfm ufm{.client = "ibpod-sm"};
  const HttpsServer server(
      fixture.certificate(), [&](const HttpsRequest& request) { return ufm(request); },
      own_ca.certificate());
  const auto use = [&](const std::string& name) {
    const TestCa::Issued issued = own_ca.issue({.common_name = name});
    fixture.settings.auth = CertificateAuth{fixture.folder.write("tls.crt", issued.certificate),
                                            fixture.folder.write("tls.key", issued.key)};
  };
  fixture.settings.addresses = {server.address()};
  use("ibpod-sm");
  UfmClient by_certificate = fixture.client();
  CHECK(by_certificate.version().ok());
  use("other");
  error_of(by_certificate.version(), Code::denied);
}

TEST_CASE("credentials that UFM does not accept are denied, and new ones are used at once") {
  Fixture fixture;
  UfmClient client = fixture.client();
  REQUIRE(client.version());
  fixture.ufm.authorization = "Basic YWRtaW46bmV3";  // admin:new
  CHECK(error_of(client.version(), Code::denied).find("answered 401: Unauthorized") !=
        std::string::npos);
  error_of(client.add(kAddition), Code::denied);
  fixture.folder.write("password", "new");
  CHECK(client.add(kAddition));
  // A file that cannot be used: nothing is sent.
  const size_t before = fixture.sent().size();
  fixture.folder.write("password", "");
  CHECK(error_of(client.add(kAddition), Code::denied).find("is empty") != std::string::npos);
  CHECK(fixture.sent(before).empty());
}

TEST_CASE("a server that is not UFM is unavailable, and gets no change") {
  Fixture fixture;
  UfmClient client = fixture.client();
  for (const HttpsAnswer& answer :
       {HttpsAnswer{.body = "<html>Sign in</html>"}, HttpsAnswer{.body = "{\"status\": \"ok\"}"},
        HttpsAnswer{.body = "{\"5ec7e7\": {}}"},
        HttpsAnswer{.status = 302, .headers = "Location: https://127.0.0.1/\r\n"},
        HttpsAnswer{.status = 404, .body = "<html>"}, HttpsAnswer{.status = 503},
        HttpsAnswer{.body = R"({"0x5": {"guids": [)"}, HttpsAnswer{.body = "[]", .end = End::cut},
        HttpsAnswer{.body = "[]", .end = End::reset}, HttpsAnswer{.status = 204}}) {
    CAPTURE(answer.body);
    CAPTURE(answer.status);
    fixture.fault = [&](const HttpsRequest&) { return answer; };
    CHECK(error_of(client.add(kAddition)).find("GET /ufmRest/resources/pkeys at ") !=
          std::string::npos);
  }
  for (const std::string& sent : fixture.sent()) CHECK(sent == "GET /resources/pkeys");
}

TEST_CASE("after the loss of an answer the change may have been done") {
  Fixture fixture;
  fixture.fault = [&](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.method == "GET") return std::nullopt;
    fixture.ufm(request);
    return HttpsAnswer{.end = End::reset};
  };
  UfmClient client = fixture.client();
  CHECK(error_of(client.add(kAddition)).find("POST /ufmRest/resources/pkeys at ") !=
        std::string::npos);
  fixture.fault = [](const auto&) { return std::nullopt; };
  CHECK(client.partition(ib::PKey(5)).value()->members.size() == 2);
}

TEST_CASE("a call that hangs ends with the timeout") {
  Fixture fixture;
  fixture.settings.timeout = Duration(300);
  UfmClient client = fixture.client();
  fixture.fault = [](const auto&) { return HttpsAnswer{.end = End::hang}; };
  CHECK(error_of(client.version()).find("timed out") != std::string::npos);
}

TEST_CASE("a huge list is refused") {
  Fixture fixture;
  UfmClient client = fixture.client();
  fixture.fault = [](const auto&) {
    return HttpsAnswer{.body = std::string(kMostListBytes + 1, ' ')};
  };
  CHECK(error_of(client.partitions()).find("larger than 67108864 bytes") != std::string::npos);
}

// A second address of the same UFM.
struct Pair : Fixture {
  HttpsAnswer second_answer{.status = 503};
  bool second_is_master = false;
  HttpsServer second;
  Pair()
      : second(certificate(), [this](const HttpsRequest& request) {
          return second_is_master ? ufm(request) : second_answer;
        }) {
    settings.addresses = {second.address(), server.address()};
  }
};

TEST_CASE("the address that answers as master is kept, until it does not") {
  Pair pair;
  UfmClient client = pair.client();
  REQUIRE(client.add(kAddition));
  REQUIRE(client.version());
  CHECK(pair.second.requests().size() == 1);
  CHECK(client.denials().empty());
  CHECK(client.master_generation() == 1);
  // A failover, in the middle of a change.
  pair.second_is_master = true;
  pair.fault = [](const auto&) { return HttpsAnswer{.status = 503}; };
  CHECK(error_of(client.remove(ib::PKey(5), {ib::Guid(1)}))
            .find(": answered 503; not sent: " + pair.second.address() + " is the master now") !=
        std::string::npos);
  CHECK_MESSAGE(client.master_generation() == 2, "what was read was the other one's");
  CHECK(client.peer() == Peer::master);
  CHECK(pair.ufm.partitions.at(ib::PKey(5)).members.size() == 2);
  const size_t before = pair.sent().size();
  REQUIRE(client.remove(ib::PKey(5), {ib::Guid(1)}));
  CHECK(pair.ufm.partitions.at(ib::PKey(5)).members.size() == 1);
  CHECK(pair.sent(before).empty());
  CHECK(client.master_generation() == 2);
}

TEST_CASE("a master that was away counts as another one, and one that only denied does not") {
  Fixture fixture;
  UfmClient client = fixture.client();
  const auto answers = [&](int status) {
    fixture.fault = [status](const HttpsRequest&) -> std::optional<HttpsAnswer> {
      if (status == 200) return std::nullopt;
      return HttpsAnswer{.status = status};
    };
    return client.version().ok();
  };
  REQUIRE(answers(200));
  CHECK_FALSE(answers(401));
  REQUIRE(answers(200));
  CHECK(client.master_generation() == 1);
  SUBCASE("away") {}
  SUBCASE("denied, and away") { CHECK_FALSE(answers(401)); }
  CHECK_FALSE(answers(503));
  REQUIRE(answers(200));
  CHECK(client.master_generation() == 2);
}

TEST_CASE("partitions of which two servers have each shown a part are not known") {
  Pair pair;
  pair.ufm.shape = RestUfm::Shape::words;
  pair.add(5, {ib::Guid(1)});
  pair.add(6, {ib::Guid(2)});
  UfmClient client = pair.client();
  REQUIRE(client.partitions());
  pair.second_is_master = true;
  pair.fault = [](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.target.find("/0x6") == std::string::npos) return std::nullopt;
    return HttpsAnswer{.status = 503};
  };
  CHECK(error_of(client.partitions()) ==
        "another server of UFM became the master between two requests");
  CHECK(client.partitions());
}

TEST_CASE("if no address is the master, the error names all") {
  Pair pair;
  pair.fault = [](const auto&) { return HttpsAnswer{.body = "<html>"}; };
  UfmClient client = pair.client();
  const std::string text = error_of(client.version());
  CHECK(text.find(pair.second.address() + ": answered 503; ") != std::string::npos);
  CHECK(text.find(pair.server.address() + ": expected JSON, got HTML") != std::string::npos);
}

TEST_CASE("the client tells what it has reached") {
  Pair pair;
  UfmClient client = pair.client();
  CHECK(client.peer() == Peer::none);
  REQUIRE(client.version());
  CHECK(client.peer() == Peer::master);
  SUBCASE("only hosts that are not the master") {
    pair.fault = [](const auto&) { return HttpsAnswer{.status = 503}; };
    CHECK_FALSE(client.version());
    CHECK(client.peer() == Peer::standby);
  }
  SUBCASE("none") {
    pair.fault = [](const auto&) { return HttpsAnswer{.end = End::reset}; };
    pair.second_answer = {.end = End::reset};
    CHECK_FALSE(client.version());
    CHECK(client.peer() == Peer::none);
  }
  SUBCASE("the only one, which fails") {
    pair.settings.addresses = {pair.second.address()};
    UfmClient alone = pair.client();
    CHECK_FALSE(alone.version());
    CHECK(alone.peer() == Peer::none);
  }
  SUBCASE("one that is master again") {
    pair.fault = [](const auto&) { return HttpsAnswer{.status = 503}; };
    CHECK_FALSE(client.version());
    pair.fault = [](const auto&) { return std::nullopt; };
    REQUIRE(client.version());
    CHECK(client.peer() == Peer::master);
  }
  SUBCASE("nothing, after it was cancelled") {
    client.cancel();
    CHECK_FALSE(client.version());
    CHECK(client.peer() == Peer::none);
  }
}

TEST_CASE("an address that denies us is not passed over in silence") {
  Pair pair;
  pair.second_answer = {.status = 401, .body = "Unauthorized"};
  UfmClient client = pair.client();
  REQUIRE(client.version());
  REQUIRE(client.denials().size() == 1);
  CHECK(client.denials()[0].find(pair.second.address() + ": answered 401") != std::string::npos);
  // The master itself, without right to a call: the other address gets nothing.
  const size_t before = pair.second.requests().size();
  pair.fault = [](const HttpsRequest& request) -> std::optional<HttpsAnswer> {
    if (request.method == "GET") return std::nullopt;
    return HttpsAnswer{.status = 403, .body = "read only"};
  };
  CHECK(error_of(client.add(kAddition), Code::denied).find("read only") != std::string::npos);
  CHECK(pair.second.requests().size() == before);
  // It may have become the standby: the next call searches again.
  pair.second_is_master = true;
  pair.fault = [](const auto&) { return HttpsAnswer{.status = 401}; };
  REQUIRE(client.version());
  // Without a master.
  pair.second_is_master = false;
  error_of(client.version(), Code::denied);
  pair.fault = [](const auto&) { return HttpsAnswer{.status = 503}; };
  const std::string text = error_of(client.version(), Code::denied);
  CHECK(text.find(pair.second.address()) != std::string::npos);
  CHECK(text.find(pair.server.address()) != std::string::npos);
  // The denial ends.
  pair.second_is_master = true;
  REQUIRE(client.version());
  CHECK(client.denials().empty());
}

TEST_CASE("an address that cannot be used is named") {
  Fixture fixture;
  fixture.settings.addresses = {"http://127.0.0.1"};
  CHECK(error_of(fixture.client().version()).find("https://HOST:PORT") != std::string::npos);
  fixture.settings.addresses = {};
  error_of(fixture.client().version(), Code::invalid);
  fixture.settings.addresses = {fixture.server.address()};
  fixture.settings.ca = fixture.folder.path() / "none";
  CHECK(error_of(fixture.client().version()).starts_with("the CA of UFM: "));
  fixture.settings.ca = fixture.folder.write("ca.crt", TestCa().certificate());
  CHECK(error_of(fixture.client().version()).find("certificate") != std::string::npos);
  CHECK(fixture.sent().empty());
}

TEST_CASE("the observer gets each call once, with its failure") {
  Fixture fixture;
  struct Observed {
    std::string operation;
    std::optional<Code> failure;
    bool operator==(const Observed&) const = default;
  };
  std::vector<Observed> observed;
  UfmClient client(fixture.settings, [&](std::string_view operation, auto failure, Duration took) {
    CHECK(took >= Duration(0));
    observed.push_back({std::string(operation), failure});
  });
  fixture.ufm.others.erase("/resources/vports");
  REQUIRE(client.partitions());
  REQUIRE(client.partition(ib::PKey(5)));
  REQUIRE(client.add(kAddition));
  REQUIRE(client.remove(ib::PKey(5), kAddition.guids));
  REQUIRE(client.version());
  REQUIRE(client.settings());
  REQUIRE(client.ports());
  CHECK_FALSE(client.vports());
  CHECK(observed == std::vector<Observed>{{"partitions", {}},
                                          {"partition", {}},
                                          {"add", {}},
                                          {"remove", {}},
                                          {"version", {}},
                                          {"settings", {}},
                                          {"ports", {}},
                                          {"vports", Code::unsupported}});
}

}  // namespace
}  // namespace ibpod::sm::ufm
