#include "sm/config/ufm_section.h"

#include "lib/base/files.h"

#include <regex>

#include <doctest/doctest.h>

namespace ibpod::sm::config {
namespace {

const std::string kAuth = R"("user": "ibpod", "passwordFile": "/p")";
const std::string kEvery =
    R"({"engine": "ufm", "stateDir": "/srv/sm", "pkeys": [{"first": "0x0100", "last": "0x01ff"}],
        "opensm": {"mKeyFile": "/m"}, "defaults": {"ipoib": true}, "defaultPartition": {"others": "full"},
        "ufm": {"addresses": ["https://ufm-1.example.com", "https://10.0.0.2:8443", "https://[fd00::2]:443"],
          "user": "ibpod", "passwordFile": "/p", "caFile": "/ca", "timeoutSeconds": 300,
          "foreignMembers": "remove", "physicalVirtualMapping": true, "readSeconds": 5, "effectSeconds": 0}})";

std::string section_of(const std::string& keys) {
  return R"({"engine": "ufm", "ufm": {)" + keys + "}}";
}
// With one address and credentials.
std::string ufm_with(const std::string& keys) {
  return section_of(R"("addresses": ["https://ufm"], )" + kAuth + ", " + keys);
}
std::string ufm_at(const std::string& addresses) {
  return section_of(R"("addresses": )" + addresses + ", " + kAuth);
}
std::string ufm_by(const std::string& credentials) {
  return section_of(R"("addresses": ["https://ufm"])" +
                    (credentials.empty() ? "" : ", " + credentials));
}

TEST_CASE("every key of the section arrives") {
  const Result<Config> config = read_config(kEvery);
  REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
  CHECK(config->engine == EngineKind::ufm);
  REQUIRE(config->ufm);
  const ufm::ClientSettings& client = config->ufm->client;
  CHECK(client.addresses == std::vector<std::string>{"https://ufm-1.example.com",
                                                     "https://10.0.0.2:8443",
                                                     "https://[fd00::2]:443"});
  REQUIRE(std::holds_alternative<ufm::BasicAuth>(client.auth));
  CHECK(std::get<ufm::BasicAuth>(client.auth).user == "ibpod");
  CHECK(std::get<ufm::BasicAuth>(client.auth).password_file == "/p");
  CHECK(client.ca == "/ca");
  CHECK(client.timeout == Duration(300'000));
  const ufm::EngineSettings& engine = config->ufm->engine;
  CHECK(engine.foreign_members == ufm::ForeignMembers::remove);
  CHECK(engine.map_vfs);
  CHECK(engine.read_interval == Duration(5'000));
  CHECK(engine.effect == Duration(0));
  CHECK(engine.folder == "/srv/sm/ufm");
  CHECK(engine.pkeys.covers({0x100, 0x1ff}));
  CHECK_FALSE(engine.pkeys.covers({0x200}));
  CHECK(config->opensm.launcher.opensm.keys.m_key == "/m");
  CHECK(config->policy.ipoib);
}

TEST_CASE("the defaults are those of the document") {
  const Result<Config> config = read_config(ufm_by(R"("tokenFile": "/t")"));
  REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
  CHECK(config->ufm->client.ca.empty());
  CHECK(config->ufm->client.timeout == Duration(10'000));
  CHECK(config->ufm->engine.foreign_members == ufm::ForeignMembers::report);
  CHECK_FALSE(config->ufm->engine.map_vfs);
  CHECK(config->ufm->engine.read_interval == Duration(60'000));
  CHECK(config->ufm->engine.effect == Duration(60'000));
  REQUIRE(std::holds_alternative<ufm::TokenAuth>(config->ufm->client.auth));
  CHECK(std::get<ufm::TokenAuth>(config->ufm->client.auth).token_file == "/t");
  const auto certificate = read_config(ufm_by(R"("certificate": "/c", "key": "/k")"));
  REQUIRE(certificate);
  const auto& files = std::get<ufm::CertificateAuth>(certificate->ufm->client.auth);
  CHECK(files.certificate == "/c");
  CHECK(files.key == "/k");
}

TEST_CASE("every key of the section has its row in the document, and the example is right") {
  const std::string document = read_file("docs/ibpod-sm.md").value();
  const size_t begin = document.find("Keys under `ufm`");
  REQUIRE(begin != document.npos);
  const std::string rows = document.substr(begin, document.find("\n#", begin) - begin);
  for (const char* key :
       {"addresses", "user", "passwordFile", "tokenFile", "certificate", "key", "caFile",
        "timeoutSeconds", "foreignMembers", "readSeconds", "effectSeconds"}) {
    CAPTURE(key);
    CHECK(rows.find("`" + std::string(key) + "`") != rows.npos);
  }
  const std::string page = read_file("docs/ufm.md").value();
  const size_t block = page.find("```json\n");
  REQUIRE(block != page.npos);
  const auto example = read_config(page.substr(block + 8, page.find("```", block + 8) - block - 8));
  REQUIRE_MESSAGE(example, example.error().text());
  CHECK(example->engine == EngineKind::ufm);
}

TEST_CASE("what is wrong is told by its key, its value and what would be right") {
  const std::string token = R"("tokenFile": "/t")";
  const struct {
    std::string text, told;
  } table[] = {
      {R"({"engine": "ufm"})", "ufm: missing: with \"engine\": \"ufm\" it has UFM's addresses"},
      {R"({"ufm": {"addresses": ["https://ufm"], )" + token + "}}",
       "ufm: it has no effect without \"engine\": \"ufm\""},
      {R"({"engine": "observe", "ufm": {"addresses": ["https://ufm"], )" + token + "}}",
       "ufm: it has no effect without \"engine\": \"ufm\""},
      {R"({"engine": "ufm", "ufm": []})", "ufm: expected an object"},
      {section_of(kAuth),
       "ufm.addresses: expected 1 to 8 of https://HOST or https://HOST:PORT, got none"},
      {ufm_at("[]"), "ufm.addresses: expected 1 to 8 addresses, got 0"},
      {ufm_at(R"(["https://u1", "https://u2", "https://u3", "https://u4", "https://u5",
                  "https://u6", "https://u7", "https://u8", "https://u9"])"),
       "ufm.addresses: expected 1 to 8 addresses, got 9"},
      {ufm_at(R"(["https://u1", "https://u2", "https://u1"])"),
       "ufm.addresses: \"https://u1\" is listed twice"},
      {ufm_at(R"(["http://ufm"])"),
       "ufm.addresses[0]: expected https://HOST or https://HOST:PORT, got \"http://ufm\": without "
       "TLS every machine on the way could read ibpod-sm's credentials"},
      {ufm_at(R"(["https://ufm", "https://ufm/ufmRest"])"),
       "ufm.addresses[1]: expected https://HOST or https://HOST:PORT, got "
       "\"https://ufm/ufmRest\": no path"},
      {ufm_by(""), "got none"},
      {ufm_by(kAuth + ", " + token),
       "ufm: expected one kind of credentials (user and passwordFile, tokenFile, or certificate "
       "and key), got user, passwordFile, tokenFile"},
      {ufm_by(token + R"(, "certificate": "/c", "key": "/k")"), "got tokenFile, certificate, key"},
      {ufm_by(R"("user": "ibpod")"), "ufm.passwordFile: missing: ufm.user has no effect"},
      {ufm_by(R"("passwordFile": "/p")"), "ufm.user: missing: ufm.passwordFile has no effect"},
      {ufm_by(R"("certificate": "/c")"), "ufm.key: missing: ufm.certificate has no effect"},
      {ufm_by(R"("key": "/k")"), "ufm.certificate: missing: ufm.key has no effect"},
      {ufm_by(R"("user": "a:b", "passwordFile": "/p")"),
       "ufm.user: expected 1 to 256 bytes without \":\" and control characters, got \"a:b\""},
      {ufm_by(R"("user": "", "passwordFile": "/p")"), "ufm.user: expected 1 to 256 bytes"},
      {ufm_by(R"("tokenFile": "t")"), "ufm.tokenFile: "},
      {ufm_with(R"("timeoutSeconds": 0)"), "ufm.timeoutSeconds: "},
      {ufm_with(R"("timeoutSeconds": 301)"), "ufm.timeoutSeconds: "},
      {ufm_with(R"("readSeconds": 4)"), "ufm.readSeconds: "},
      {ufm_with(R"("effectSeconds": 3601)"), "ufm.effectSeconds: "},
      {ufm_with(R"("foreignMembers": "keep")"),
       "ufm.foreignMembers: expected report or remove, got \"keep\""},
      {ufm_with(R"("adresses": [])"), "did you mean \"addresses\"?"},
  };
  for (const auto& [text, expected] : table) {
    CAPTURE(text);
    const Result<Config> config = read_config(text);
    REQUIRE_FALSE(config);
    CHECK_MESSAGE(config.error().text().find(expected) != std::string::npos, config.error().text());
    // One fault is one error.
    CHECK(config.error().text().find("; ufm") == std::string::npos);
  }
}

TEST_CASE("an address is a scheme, a host and perhaps a port") {
  const auto accepted = [](const std::string& address) {
    return read_config(ufm_at("[\"" + address + "\"]")).ok();
  };
  for (const char* good : {"https://ufm", "https://UFM-1.Example.com:443", "https://10.0.0.1",
                           "https://[::1]", "https://[fd00::1]:8443", "https://ufm1:65535"}) {
    CAPTURE(good);
    CHECK(accepted(good));
  }
  for (const char* bad :
       {"ufm",           "https://",           "https://:443",    "https://ufm:",
        "https://ufm:0", "https://ufm:65536",  "https://ufm:x",   "https://ufm/",
        "https://ufm?x", "https://ufm#x",      "https://fd00::1", "https://[fd00::1",
        "https://[ufm]", "https://10.0.0.300", "https://ufm_1",   "https://-ufm",
        "https://ufm ",  "https://ufm\\u0000", "HTTPS://ufm",     "https://ufm:443:443",
        "https://[]"}) {
    CAPTURE(bad);
    CHECK_FALSE(accepted(bad));
  }
}

TEST_CASE("a password in an address is not repeated") {
  for (const char* address : {"https://admin:123456@ufm", "http://admin:123456@ufm"}) {
    const auto refused = read_config(ufm_at("[\"" + std::string(address) + "\"]"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().text().find("ufm.user and ufm.passwordFile") != std::string::npos);
    CHECK(refused.error().text().find("123456") == std::string::npos);
  }
}

TEST_CASE("keys that UFM cannot be given are refused with the engine ufm, and with no other") {
  const std::string config_test = read_file("sm/config/config_test.cc").value();
  const size_t begin = config_test.find("\"opensm\": {");
  const std::string section =
      config_test.substr(begin + 11, config_test.find('}', begin) - begin - 11);
  const std::regex key("\"(\\w+)\": (\"[^\"]*\"|\\w+)");
  size_t refused = 0;
  const auto check = [&](const std::string& object, const std::string& name,
                         const std::string& value) {
    const std::string keys = ", \"" + object + "\": {\"" + name + "\": " + value + "}}";
    std::string text = ufm_by(kAuth);
    text.replace(text.size() - 1, 1, keys);
    const Result<Config> config = read_config(text);
    CAPTURE(name);
    REQUIRE((name == "mKeyFile") == config.ok());
    if (config) return;
    CHECK(config.error().text().find(object + "." + name + ": " + value +
                                     " has no effect with the engine ufm: ") != std::string::npos);
    ++refused;
  };
  for (std::sregex_iterator at(section.begin(), section.end(), key), end; at != end; ++at)
    check("opensm", (*at)[1], (*at)[2]);
  CHECK(refused == 17);
  check("defaults", "mtu", "4096");
  check("defaults", "rate", "100");
  check("defaults", "sl", "0");
  check("defaultPartition", "ipoib", "false");
  CHECK(read_config(R"({"defaults": {"mtu": 4096, "rate": 100}})"));
  // In whatever case readers accept it.
  const std::string other_case = R"({"engine": "ufm", "DEFAULTS": {"MTU": 4096}, "ufm": {)";
  const auto config = read_config(other_case + R"("addresses": ["https://ufm"], )" + kAuth + "}}");
  REQUIRE_FALSE(config);
  CHECK(config.error().text().find("4096 has no effect") != std::string::npos);
}

TEST_CASE("a user's name is UTF-8") {
  const auto config = read_config(ufm_by(R"("user": "jos\u00e9", "passwordFile": "/p")"));
  REQUIRE_MESSAGE(config, (config ? "" : config.error().text()));
  CHECK(std::get<ufm::BasicAuth>(config->ufm->client.auth).user == "jos\u00e9");
  for (const std::string user : {"a\\u0001", "a\\u007f"})
    CHECK_FALSE(read_config(ufm_by("\"user\": \"" + user + R"(", "passwordFile": "/p")")));
}

TEST_CASE("partitions can have with UFM what UFM can be given") {
  const state::Policy policy = read_config(kEvery)->policy;
  for (const std::string& why :
       {policy.unsupported.both, policy.unsupported.sl, policy.unsupported.group})
    CHECK(why.find("UFM") != std::string::npos);
  CHECK(read_config("{}")->policy.unsupported.group.empty());
  CHECK(read_config(R"({"engine": "observe"})")->policy.unsupported.group.empty());
}

}  // namespace
}  // namespace ibpod::sm::config
