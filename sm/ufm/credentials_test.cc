#include "sm/ufm/credentials.h"

#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

namespace ibpod::sm::ufm {
namespace {

struct Fixture {
  TempFolder folder;

  Credentials basic(const std::string& password, const std::string& user = "Aladdin") const {
    return Credentials(BasicAuth{user, folder.write("password", password)});
  }
  Credentials token(const std::string& text) const {
    return Credentials(TokenAuth{folder.write("token", text)});
  }
  Credentials certificate(const TestCa::Issued& issued) const {
    return Credentials(CertificateAuth{folder.write("tls.crt", issued.certificate),
                                       folder.write("tls.key", issued.key)});
  }
};

std::string error_of(const Credentials& credentials) {
  const auto identity = credentials.read();
  REQUIRE_FALSE(identity);
  CHECK(identity.error().code() == Code::denied);
  CHECK(identity.error().text().starts_with("credentials for UFM: "));
  CHECK(identity.error().text().find("5ec7e7") == std::string::npos);
  return identity.error().text();
}

std::string header_of(const Credentials& credentials) {
  const auto identity = credentials.read();
  REQUIRE_MESSAGE(identity.ok(), identity.error().text());
  CHECK(identity->certificate.empty());
  CHECK(identity->key.empty());
  return identity->authorization.text();
}

TEST_CASE("a password is sent in base64, with the user") {
  const Fixture fixture;
  CHECK(fixture.basic("x").base_path() == "/ufmRest");
  CHECK(header_of(fixture.basic("open sesame\n")) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
}

TEST_CASE("base64 has the right padding") {
  const Fixture fixture;
  // RFC 7617's pair, and its neighbors in length.
  CHECK(header_of(fixture.basic("ab", "u")) == "Basic dTphYg==");
  CHECK(header_of(fixture.basic("abc", "u")) == "Basic dTphYmM=");
  CHECK(header_of(fixture.basic("abcd", "u")) == "Basic dTphYmNk");
  CHECK(header_of(fixture.basic("\xff\xfe", "u")) == "Basic dTr//g==");
}

TEST_CASE("a token is sent as it is, to paths of its own") {
  const Fixture fixture;
  const Credentials credentials = fixture.token("aB3.-_\r\n");
  CHECK(credentials.base_path() == "/ufmRestV3");
  CHECK(header_of(credentials) == "Basic aB3.-_");
}

TEST_CASE("a file is read again for each call") {
  const Fixture fixture;
  const Credentials credentials = fixture.token("first");
  CHECK(header_of(credentials) == "Basic first");
  fixture.token("second");
  CHECK(header_of(credentials) == "Basic second");
}

TEST_CASE("secrets that cannot be sent are refused, and never quoted") {
  const Fixture fixture;
  CHECK(error_of(fixture.basic("")).find("is empty") != std::string::npos);
  CHECK(error_of(fixture.basic("\n")).find("is empty") != std::string::npos);
  CHECK(error_of(fixture.basic("5ec7e7\n\n")).find("control characters") != std::string::npos);
  CHECK(error_of(fixture.basic(std::string("5ec7e7\0x", 8))).find("control") != std::string::npos);
  CHECK(error_of(fixture.basic("5ec7e7" + std::string(1'100, 'x'))).find("larger than") !=
        std::string::npos);
  CHECK(error_of(fixture.basic("5ec7e7", "")).find("user name") != std::string::npos);
  CHECK(error_of(fixture.basic("5ec7e7", "a:b")).find("user name") != std::string::npos);
  CHECK(error_of(fixture.basic("5ec7e7", "a\nb")).find("user name") != std::string::npos);
  CHECK(error_of(fixture.token("5ec7e7 x")).find("without spaces") != std::string::npos);
  CHECK(error_of(fixture.token("5ec7e7\nHost: x")).find("without spaces") != std::string::npos);
  CHECK(error_of(fixture.token("5ec7e7\xc3\xa4")).find("without spaces") != std::string::npos);
}

TEST_CASE("a file that other users can read is refused, with the command that fixes it") {
  const Fixture fixture;
  const auto open_to_others = [&](const std::string& name) {
    std::filesystem::permissions(
        fixture.folder.path() / name,
        std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
  };
  const Credentials basic = fixture.basic("5ec7e7");
  open_to_others("password");
  CHECK(error_of(basic).find("chmod 0600") != std::string::npos);
  const Credentials token = fixture.token("5ec7e7");
  open_to_others("token");
  CHECK(error_of(token).find("chmod 0600") != std::string::npos);
  const Credentials pair = fixture.certificate(TestCa().issue({.common_name = "ibpod-sm"}));
  open_to_others("tls.key");
  CHECK(error_of(pair).find("chmod 0600") != std::string::npos);
  CHECK(error_of(Credentials(TokenAuth{fixture.folder.path() / "none"})).find("none") !=
        std::string::npos);
}

TEST_CASE("a certificate is sent with the key that belongs to it") {
  const Fixture fixture;
  const TestCa ca;
  const TestCa::Issued own = ca.issue({.common_name = "ibpod-sm"});
  const Credentials credentials = fixture.certificate(own);
  CHECK(credentials.base_path() == "/ufmRest");
  const auto identity = credentials.read();
  REQUIRE_MESSAGE(identity.ok(), identity.error().text());
  CHECK(identity->certificate == own.certificate);
  CHECK(identity->key.text() + "\n" == own.key);
  CHECK(identity->authorization.empty());

  const TestCa::Issued other = ca.issue({.common_name = "other"});
  CHECK(error_of(fixture.certificate({own.certificate, other.key})).find("does not belong") !=
        std::string::npos);
  CHECK(error_of(fixture.certificate(ca.issue({.common_name = "old", .from = -200, .until = -100})))
            .find("expired") != std::string::npos);
}

TEST_CASE("an error that quotes a server hides password, token and header") {
  const Fixture fixture;
  const https::Identity basic = fixture.basic("open sesame").read().value();
  CHECK(basic.redacted("no user Aladdin with open sesame, Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") ==
        "no user Aladdin with ***, Basic ***");
  const https::Identity token = fixture.token("aaa").read().value();
  CHECK(token.redacted("aaaaaaa") == "******a");
}

TEST_CASE("the CA: the file's certificates, or the system's") {
  const Fixture fixture;
  const TestCa ca;
  CHECK(read_ca({}).value().empty());
  const Path path = fixture.folder.write("ca.crt", ca.certificate());
  CHECK(read_ca(path).value() == ca.certificate());
  std::filesystem::permissions(path, std::filesystem::perms::all);
  const auto writable = read_ca(path);
  REQUIRE_FALSE(writable);
  CHECK(writable.error().code() == Code::unavailable);
  CHECK(writable.error().text().find("chmod go-w") != std::string::npos);
  const auto damaged = read_ca(fixture.folder.write("ca.crt", "no certificate"));
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().text().starts_with("the CA of UFM: "));
  CHECK(read_ca(fixture.folder.path() / "none").error().code() == Code::unavailable);
}

}  // namespace
}  // namespace ibpod::sm::ufm
