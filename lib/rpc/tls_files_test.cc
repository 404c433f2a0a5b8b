#include "lib/rpc/tls_files.h"

#include "tests/support/in_time.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_ca.h"

#include <doctest/doctest.h>

namespace ibpod::rpc {
namespace {

const std::string kDamaged = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

struct Fixture {
  TestCa ca;
  TestCa::Issued own = ca.issue({.common_name = "node-7"});
  TempFolder folder;
  TlsFiles files{folder.path() / "tls.crt", folder.path() / "tls.key", folder.path() / "ca.crt"};

  Fixture() { put(own.certificate, own.key, ca.certificate()); }
  void put(const std::string& certificate, const std::string& key,
           const std::string& authorities) const {
    folder.write("tls.crt", certificate);
    folder.write("tls.key", key);
    folder.write("ca.crt", authorities);
  }
  std::string refusal() const {
    const auto read = FollowedTls::open(files);
    return read ? std::string() : read.error().text().substr(folder.path().string().size() + 1);
  }
};

TEST_CASE("TLS files: a certificate, its chain, its key and several CAs are read as they are") {
  const Fixture fixture;
  const std::string chain = fixture.own.certificate + fixture.ca.certificate() + "a comment\n";
  fixture.put(chain, fixture.own.key,
              "# ours\n" + fixture.ca.certificate() + TestCa().certificate());
  const auto followed = FollowedTls::open(fixture.files);
  REQUIRE(followed);
  const auto read = (*followed)->now();
  CHECK(read->certificate == chain);
  CHECK(read->key == fixture.own.key);
  CHECK(read->expires > std::chrono::system_clock::now());
  CHECK(read->expires < std::chrono::system_clock::now() + std::chrono::hours(2));
}

TEST_CASE("TLS files: a client without a certificate needs a CA alone, and follows it") {
  const Fixture fixture;
  const TlsFiles files{{}, {}, fixture.files.ca};
  const auto followed = FollowedTls::open(files).value();
  const auto first = followed->now();
  CHECK(first->certificate.empty());
  CHECK(first->key.empty());
  CHECK(first->ca == fixture.ca.certificate());
  CHECK(followed->now() == first);
  CHECK(followed->usable());
  CHECK_FALSE(followed->expires());
  const TestCa next;
  fixture.folder.write("ca.crt", next.certificate());
  CHECK(followed->now()->ca == next.certificate());
  fixture.folder.write("ca.crt", "");
  CHECK(followed->now()->ca == next.certificate());
  CHECK_FALSE(followed->state());
  // Half of the two is neither.
  CHECK_FALSE(FollowedTls::open({fixture.files.certificate, {}, fixture.files.ca}));
}

TEST_CASE("TLS files: what cannot be used is refused, and the file is named") {
  const Fixture fixture;
  const std::string certificate = fixture.own.certificate, key = fixture.own.key,
                    ca = fixture.ca.certificate();
  const TestCa::Issued other = fixture.ca.issue({.common_name = "node-8"});
  const auto refusal = [&](const std::string& c, const std::string& k, const std::string& a) {
    fixture.put(c, k, a);
    return fixture.refusal();
  };
  CHECK(refusal(certificate, key, ca).empty());
  CHECK(refusal(certificate, key, "").starts_with("ca.crt: the file has no certificate"));
  CHECK(refusal(certificate, key, key).starts_with("ca.crt: the file has no certificate"));
  CHECK(refusal(certificate, key, ca + kDamaged + TestCa().certificate()).starts_with("ca.crt: "));
  CHECK(refusal(certificate, key, ca.substr(0, 200)).starts_with("ca.crt: "));
  CHECK(refusal("", key, ca).find("the first file has no certificate") != std::string::npos);
  CHECK(refusal(certificate + kDamaged, key, ca).find("damaged") != std::string::npos);
  CHECK(refusal(certificate, certificate, ca).find("no private key") != std::string::npos);
  CHECK(refusal(certificate, other.key, ca).find("does not belong to the certificate") !=
        std::string::npos);
  CHECK(refusal(other.certificate + certificate, key, ca).find("does not belong") !=
        std::string::npos);
}

TEST_CASE("TLS files: a certificate that is not valid today is refused, with its day") {
  const Fixture fixture;
  const auto refusal = [&](long from, long until) {
    const TestCa::Issued issued =
        fixture.ca.issue({.common_name = "node-7", .from = from, .until = until});
    fixture.put(issued.certificate, issued.key, fixture.ca.certificate());
    return fixture.refusal();
  };
  CHECK(refusal(-60, 60).empty());
  constexpr long kYear = 31'556'952;
  CHECK(refusal(-60, 500 * kYear).empty());  // beyond the end of the clock
  CHECK(refusal(-60, 7900 * kYear).empty());
  CHECK(refusal(-60, -30).starts_with("tls.crt: expired at 20"));
  CHECK(refusal(30, 60).starts_with("tls.crt: is not valid before 20"));
}

TEST_CASE("TLS files: one of a whole folder's turn, as a Secret is replaced") {
  const Fixture fixture;
  const Path root = fixture.folder.path();
  for (const char* name : {"a", "b"}) {
    const TestCa::Issued issued = fixture.ca.issue({.common_name = name});
    std::filesystem::create_directory(root / name);
    fixture.folder.write(std::string(name) + "/tls.crt", issued.certificate);
    fixture.folder.write(std::string(name) + "/tls.key", issued.key);
    fixture.folder.write(std::string(name) + "/ca.crt", fixture.ca.certificate());
  }
  std::filesystem::create_directory_symlink("a", root / "..data");
  const auto followed =
      FollowedTls::open({root / "..data/tls.crt", root / "..data/tls.key", root / "..data/ca.crt"})
          .value();
  const auto first = followed->now();
  CHECK(followed->now() == first);
  std::filesystem::create_directory_symlink("b", root / "..new");
  std::filesystem::rename(root / "..new", root / "..data");
  const auto second = followed->now();
  CHECK(second->certificate == read_file(root / "b/tls.crt").value());
  CHECK(second->key == read_file(root / "b/tls.key").value());
  std::filesystem::remove(root / "..data");
  CHECK(followed->now() == second);
  CHECK_FALSE(followed->state());
}

TEST_CASE("TLS files: who goes on without them is told why and has them once they are there") {
  const Fixture fixture;
  const TestCa::Issued expired =
      fixture.ca.issue({.common_name = "node-7", .from = -60, .until = -30});
  fixture.put(expired.certificate, expired.key, fixture.ca.certificate());
  const auto followed = FollowedTls::follow(fixture.files);
  CHECK(followed->now() == nullptr);
  CHECK(followed->state().error().text().find("tls.crt: expired at 20") != std::string::npos);
  REQUIRE(followed->expires());
  CHECK(*followed->expires() < std::chrono::system_clock::now());
  std::filesystem::remove(fixture.files.certificate);
  CHECK(followed->now() == nullptr);
  CHECK(followed->state().error().code() == Code::not_found);
  CHECK_FALSE(followed->expires());
  fixture.put(fixture.own.certificate, fixture.own.key, fixture.ca.certificate());
  REQUIRE(followed->now() != nullptr);
  CHECK(followed->state());
  CHECK(*followed->expires() > std::chrono::system_clock::now());
}

TEST_CASE("TLS files: what is in use and expires is told with its end, and not read again") {
  const Fixture fixture;
  const TestCa::Issued brief = fixture.ca.issue({.common_name = "node-7", .from = -60, .until = 3});
  fixture.put(brief.certificate, brief.key, fixture.ca.certificate());
  const auto followed = FollowedTls::follow(fixture.files);
  const auto used = followed->now();
  REQUIRE(used != nullptr);
  REQUIRE(in_time([&] { return !followed->state(); }));
  CHECK(followed->state().error().text().find("tls.crt: expired at 20") != std::string::npos);
  CHECK(followed->now() == used);
  fixture.folder.write("tls.key", "none");
  CHECK(followed->now() == used);
  CHECK(followed->state().error().text().find(", which expired at 20") != std::string::npos);
}

TEST_CASE("TLS files: a certificate that is not valid yet is used once it is, as the same files") {
  const Fixture fixture;
  const TestCa::Issued early = fixture.ca.issue({.common_name = "node-7", .from = 3, .until = 600});
  fixture.put(early.certificate, early.key, fixture.ca.certificate());
  const auto followed = FollowedTls::follow(fixture.files);
  (void)followed->now();
  CHECK(in_time([&] { return followed->now() != nullptr; }));
  CHECK(followed->state());
}

}  // namespace
}  // namespace ibpod::rpc
