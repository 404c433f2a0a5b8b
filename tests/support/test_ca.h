// A certificate authority for tests: certificates as they are needed, made in memory.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace ibpod {

class TestCa {
 public:
  struct CertificateRequest {
    std::string common_name;
    std::vector<std::string> names = {};  // as OpenSSL writes them: DNS:localhost, IP:127.0.0.1
    // Seconds from now.
    long from = -3600;
    long until = 3600;
    std::string usage = "serverAuth,clientAuth";
  };
  struct Issued {
    std::string certificate;  // PEM, both
    std::string key;
  };

  TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;
  ~TestCa();

  // Its own certificate.
  const std::string& certificate() const { return certificate_; }
  // Each with a key of its own.
  Issued issue(const CertificateRequest& asked) const;

 private:
  struct Keys;
  std::unique_ptr<Keys> keys_;
  std::string certificate_;
};

}  // namespace ibpod
