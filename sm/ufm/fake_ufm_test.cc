// The client with the stand-in for UFM, over TLS: in every form that releases of UFM are known to
// answer in, with every kind of credentials.
#include "tests/support/ufm/fake_ufm.h"

#include "sm/ufm/test_api_contract.h"
#include "sm/ufm/ufm_client.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"
#include "tests/support/ufm/settings_json.h"

#include <array>
#include <cstdlib>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

using fake_ufm::GuidsList;
using fake_ufm::Operation;
using fake_ufm::PlainList;
using fake_ufm::RestSettings;

enum class Auth { password, token, certificate };

class Fixture {
 public:
  Fixture() {
    fake_ufm::Config config;
    const auto issued = ca.issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}});
    config.tls = fake_ufm::TlsListening{{.host = "127.0.0.1", .port = 0, .socket = {}},
                                        {issued.certificate, issued.key, ca.certificate()}};
    config.users = {{"ibpod-sm", "5ec7e7"}, {"monitor", "5ec7e8", fake_ufm::Role::reader}};
    config.tokens = {{"raw-token", "ibpod-sm"}};
    config.certificates = {{"sm.example", "ibpod-sm"}};
    config.ports = {{.guid = ib::Guid(0xb), .system = "node2"},
                    {.guid = ib::Guid(0xa), .system = "node1"}};
    ufm = fake_ufm::FakeUfm::start(config).value();
  }

  ClientSettings settings(Auth auth) const {
    ClientSettings settings;
    settings.addresses = {"https://" + ufm->tls_address()->text()};
    settings.ca = folder.write("ca.crt", ca.certificate());
    if (auth == Auth::password)
      settings.auth = BasicAuth{"ibpod-sm", folder.write("password", "5ec7e7\n")};
    if (auth == Auth::token) settings.auth = TokenAuth{folder.write("token", "raw-token\n")};
    if (auth == Auth::certificate) {
      const auto issued = ca.issue({.common_name = "sm.example"});
      settings.auth = CertificateAuth{folder.write("sm.crt", issued.certificate),
                                      folder.write("sm.key", issued.key)};
    }
    return settings;
  }
  void check_contract_in_form(UfmApi& client) {
    ufm->ufm().clear_log();
    check_contract(client);
    const auto log = ufm->ufm().log();
    CHECK(calls_of(log, "ibpod-sm", Operation::put).empty());
    CHECK(calls_of(log, "ibpod-sm", Operation::delete_partition).empty());
    CHECK(writes_outside(log, "ibpod-sm", ContractScope{}.pkey, ContractScope{}.other).empty());
    CHECK(ufm->ufm().partitions().size() == 1);
  }

  TestCa ca;
  TempFolder folder;
  std::unique_ptr<fake_ufm::FakeUfm> ufm;
};

// One kind of credentials, and one position of each switch for the forms of answers. All of them
// are numbered.
class Form {
 public:
  static constexpr std::array<size_t, 9> kPositions{3, 3, 2, 2, 2, 3, 2, 3, 2};
  static constexpr size_t kCount = 3 * 3 * 2 * 2 * 2 * 3 * 2 * 3 * 2;

  explicit Form(size_t number) {
    for (size_t n = 0; n < kPositions.size(); number /= kPositions.at(n), ++n)
      positions.at(n) = number % kPositions.at(n);
  }
  RestSettings rest() const {
    RestSettings rest;
    rest.plain_list =
        std::array{PlainList::pkeys, PlainList::objects, PlainList::map}.at(positions[0]);
    rest.guids_list =
        std::array{GuidsList::map, GuidsList::objects, GuidsList::ignored}.at(positions[1]);
    rest.pads_pkeys = positions[2] == 1;
    rest.upper_case = positions[3] == 1;
    rest.prefixes_guids = positions[4] == 1;
    rest.serves_guid_removal = positions[5] != 1;
    rest.serves_removal_action = positions[5] != 2;
    return rest;
  }
  size_t auth() const { return positions[7]; }
  fake_ufm::Switches switches() const {
    return {.post_creates = positions[8] == 0, .missing_is_404 = positions[6] == 0};
  }

  std::array<size_t, 9> positions{};
};

std::vector<Form> each(size_t step, size_t first = 0, size_t end = Form::kCount) {
  std::vector<Form> forms;
  for (size_t number = first; number < end; number += step) forms.emplace_back(number);
  return forms;
}

// A part, in which each two switches meet in all their positions. With FORMS_FROM and FORMS_TO all
// of those numbers: 0 and 2592 for every form.
constexpr size_t kStep = 53;
std::vector<Form> chosen() {
  const char *const from = std::getenv("FORMS_FROM"), *const to = std::getenv("FORMS_TO");
  if (from == nullptr || to == nullptr) return each(kStep);
  return each(1, static_cast<size_t>(std::atoi(from)), static_cast<size_t>(std::atoi(to)));
}

// How many pairs of positions of two switches there are in the forms.
size_t pairs_in(const std::vector<Form>& forms) {
  std::set<std::array<size_t, 4>> pairs;
  for (const Form& form : forms)
    for (size_t a = 0; a < form.positions.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        pairs.insert({a, b, form.positions.at(a), form.positions.at(b)});
  return pairs.size();
}

TEST_CASE_FIXTURE(Fixture, "the contract in all forms of answers, with all kinds of credentials") {
  CHECK(pairs_in(each(kStep)) == pairs_in(each(1)));
  std::deque<UfmClient> clients;
  for (const Auth auth : {Auth::password, Auth::token, Auth::certificate})
    clients.emplace_back(settings(auth));
  for (const Form& form : chosen()) {
    CAPTURE(form.auth());
    CAPTURE(to_json(form.rest()).text());
    ufm->rest().set_settings(form.rest());
    ufm->ufm().set_switches(form.switches());
    check_contract_in_form(clients[form.auth()]);
  }
}

TEST_CASE_FIXTURE(Fixture, "faults of a UFM: the code that a caller sees, and what UFM has then") {
  using fake_ufm::FaultKind;
  struct {
    FaultKind kind;
    int status;
    Code code;
    bool stored;
  } const cases[] = {
      {FaultKind::refuse, 500, Code::unavailable, false},
      {FaultKind::refuse, 503, Code::unavailable, false},
      {FaultKind::refuse, 400, Code::invalid, false},
      {FaultKind::html, 503, Code::unavailable, false},
      {FaultKind::half_done, 500, Code::unavailable, true},
      {FaultKind::lose_answer, 200, Code::unavailable, true},
      {FaultKind::hang, 200, Code::unavailable, false},
      {FaultKind::hang_after, 200, Code::unavailable, true},
  };
  ClientSettings hasty = settings(Auth::password);
  hasty.timeout = Duration(500);
  for (const auto& expected : cases) {
    CAPTURE(static_cast<int>(expected.kind));
    CAPTURE(expected.status);
    UfmClient client(expected.kind == FaultKind::hang || expected.kind == FaultKind::hang_after
                         ? hasty
                         : settings(Auth::password));
    ufm->ufm().set_partitions({});
    ufm->ufm().clear_faults();
    // As often as the client repeats it.
    ufm->ufm().inject({.kind = expected.kind,
                       .status = expected.status,
                       .operations = {Operation::post},
                       .times = 0});
    const Status added = client.add({.pkey = ib::PKey(5), .guids = {ib::Guid(1), ib::Guid(2)}});
    REQUIRE_FALSE(added);
    CHECK_MESSAGE(added.error().code() == expected.code, added.error().text());
    CHECK(ufm->ufm().partitions().contains(ib::PKey(5)) == expected.stored);
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "a POST that does not make the P_Key: it is made first, with its faults") {
  using fake_ufm::FaultKind;
  const Addition addition{.pkey = ib::PKey(5), .guids = {ib::Guid(1)}};
  UfmClient client(settings(Auth::password));
  ufm->ufm().set_switches({.post_creates = false});
  SUBCASE("the answer is lost: the next attempt finds it") {
    ufm->ufm().inject(
        {.kind = FaultKind::lose_answer, .operations = {Operation::add_empty}, .times = 0});
    CHECK_FALSE(client.add(addition));
    CHECK(ufm->ufm().partitions().contains(ib::PKey(5)));
    ufm->ufm().clear_faults();
    REQUIRE(client.partitions());
    CHECK(client.add(addition));
    CHECK(ufm->ufm().partitions().at(ib::PKey(5)).members.size() == 1);
  }
  SUBCASE("it is refused, and nothing is left") {
    ufm->ufm().inject({.kind = FaultKind::refuse,
                       .status = 409,
                       .operations = {Operation::add_empty},
                       .times = 0});
    const Status added = client.add(addition);
    REQUIRE_FALSE(added);
    CHECK(added.error().code() == Code::invalid);
    CHECK_FALSE(ufm->ufm().partitions().contains(ib::PKey(5)));
  }
  SUBCASE("UFM does not know the GUID: no P_Key is made for it") {
    ufm->ufm().set_switches({.accepts_unknown_guids = false});
    const Status added = client.add(addition);
    REQUIRE_FALSE(added);
    CHECK(added.error().code() == Code::invalid);
    CHECK(calls_of(ufm->ufm().log(), "ibpod-sm", Operation::add_empty).empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "a list that is cut, or of another program, is no list") {
  UfmClient client(settings(Auth::password));
  for (const auto kind : {fake_ufm::FaultKind::truncate, fake_ufm::FaultKind::html}) {
    ufm->ufm().clear_faults();
    ufm->ufm().inject({.kind = kind, .operations = {Operation::list}, .times = 0});
    const auto listed = client.partitions();
    REQUIRE_FALSE(listed);
    CHECK(listed.error().code() == Code::unavailable);
  }
  ufm->ufm().clear_faults();
  CHECK(client.partitions());
}

TEST_CASE_FIXTURE(Fixture,
                  "denied: a token that has expired, a password that was changed, a reader") {
  UfmClient by_token(settings(Auth::token)), by_password(settings(Auth::password));
  CHECK(by_token.version());
  ufm->accounts().expire_tokens();
  CHECK(by_token.version().error().code() == Code::denied);
  CHECK(by_password.version());
  ufm->accounts().set_password("ibpod-sm", "other");
  CHECK(by_password.version().error().code() == Code::denied);

  ClientSettings reading = settings(Auth::password);
  reading.auth = BasicAuth{"monitor", folder.write("monitor", "5ec7e8\n")};
  UfmClient monitor(reading);
  CHECK(monitor.partitions());
  CHECK(monitor.add({.pkey = ib::PKey(5), .guids = {ib::Guid(1)}}).error().code() == Code::denied);
  CHECK(monitor.remove(ib::PKey(5), {ib::Guid(1)}).error().code() == Code::denied);
}

TEST_CASE_FIXTURE(Fixture,
                  "a UFM that restarts, and one with the certificate of another authority") {
  UfmClient client(settings(Auth::certificate));
  CHECK(client.version());
  ufm->stop_serving();
  CHECK(client.version().error().code() == Code::unavailable);
  REQUIRE(ufm->serve());
  CHECK(client.version());
  const auto forged = TestCa().issue({.common_name = "ufm", .names = {"IP:127.0.0.1"}});
  REQUIRE(ufm->change_certificate({forged.certificate, forged.key, ca.certificate()}));
  CHECK_FALSE(client.version());
}

TEST_CASE_FIXTURE(Fixture,
                  "members without membership or index 0 have none, which is not a default") {
  ufm->rest().set_settings({.shows_membership = false, .shows_index0 = false});
  UfmClient client(settings(Auth::password));
  REQUIRE(client.add({.pkey = ib::PKey(5), .guids = {ib::Guid(1)}}));
  const auto read = client.partition(ib::PKey(5));
  REQUIRE(read);
  REQUIRE(read->has_value());
  CHECK((*read)->members == std::vector<UfmMember>{{ib::Guid(1)}});
}

TEST_CASE_FIXTURE(Fixture, "settings, ports and virtual ports, as far as UFM shows them") {
  UfmClient client(settings(Auth::password));
  CHECK(client.version().value() == "6.19.1-5");
  CHECK(client.settings().value() == SiteSettings{ib::Membership::limited, false});
  ufm->rest().set_settings({.default_membership = ib::Membership::full, .m_key_per_port = true});
  CHECK(client.settings().value() == SiteSettings{ib::Membership::full, true});
  ufm->rest().set_settings({.shows_default_membership = false, .shows_m_key_per_port = false});
  CHECK(client.settings().value() == SiteSettings{});
  CHECK(client.ports().value() == std::vector<ib::Guid>{ib::Guid(0xa), ib::Guid(0xb)});
  ufm->inventory().set_vports({{.guid = ib::Guid(0x1a), .port = ib::Guid(0xa)}});
  CHECK(client.vports().value().empty());
  ufm->inventory().set_virtualization(true);
  CHECK(client.vports().value() == std::vector<UfmVport>{{ib::Guid(0x1a), ib::Guid(0xa)}});
}

}  // namespace
}  // namespace ibpod::sm::ufm
