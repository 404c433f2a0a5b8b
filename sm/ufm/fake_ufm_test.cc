// The client with the stand-in for UFM, over TLS: in every form that releases of UFM are known to
// answer in, with every kind of credentials.
#include "tests/support/ufm/fake_ufm.h"

#include "sm/ufm/test_api_contract.h"
#include "sm/ufm/ufm_client.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <functional>
#include <memory>
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

struct Form {
  RestSettings rest;
  bool missing_is_404 = true;
};

// Every combination of the forms of lists, of spellings, of removals, and of a missing P_Key.
std::vector<Form> all_forms() {
  std::vector<Form> forms{{}};
  const auto multiply = [&forms](const std::vector<std::function<void(Form&)>>& variants) {
    std::vector<Form> more;
    for (const Form& form : forms)
      for (const auto& vary : variants) vary(more.emplace_back(form));
    forms = std::move(more);
  };
  const auto keep = [](Form&) {};
  multiply({keep, [](Form& form) { form.rest.plain_list = PlainList::objects; },
            [](Form& form) { form.rest.plain_list = PlainList::map; }});
  multiply({keep, [](Form& form) { form.rest.guids_list = GuidsList::objects; },
            [](Form& form) { form.rest.guids_list = GuidsList::ignored; }});
  multiply({keep, [](Form& form) { form.rest.pads_pkeys = true; }});
  multiply({keep, [](Form& form) { form.rest.upper_case = true; }});
  multiply({keep, [](Form& form) { form.rest.prefixes_guids = true; }});
  multiply({keep, [](Form& form) { form.rest.serves_guid_removal = false; },
            [](Form& form) { form.rest.serves_removal_action = false; }});
  multiply({keep, [](Form& form) { form.missing_is_404 = false; }});
  return forms;
}

TEST_CASE_FIXTURE(Fixture,
                  "the contract in every form of answers, with every kind of credentials") {
  const std::vector<Form> forms = all_forms();
  REQUIRE(forms.size() == 432);
  for (const Auth auth : {Auth::password, Auth::token, Auth::certificate}) {
    CAPTURE(static_cast<int>(auth));
    UfmClient client(settings(auth));
    for (size_t n = 0; n < forms.size(); ++n) {
      CAPTURE(n);
      ufm->rest().set_settings(forms[n].rest);
      ufm->ufm().set_switches({.missing_is_404 = forms[n].missing_is_404});
      check_contract_in_form(client);
    }
  }
}

}  // namespace
}  // namespace ibpod::sm::ufm
