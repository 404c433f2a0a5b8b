#include "lib/rpc/token_credentials.h"

#include "lib/base/join.h"
#include "lib/base/token_file.h"
#include "lib/rpc/tsan_handover.h"

#include <map>
#include <utility>
#include <vector>

#include <grpcpp/security/credentials.h>

namespace ibpod::rpc {
namespace {

class TokenPlugin final : public grpc::MetadataCredentialsPlugin {
 public:
  explicit TokenPlugin(Path file) : file_(std::move(file)) { hand_over(this); }
  TokenPlugin(const TokenPlugin&) = delete;
  TokenPlugin& operator=(const TokenPlugin&) = delete;
  TokenPlugin(TokenPlugin&&) = delete;
  TokenPlugin& operator=(TokenPlugin&&) = delete;
  ~TokenPlugin() override { take_over(this); }
  // Its file is the kubelet's tmpfs: no thread is started for each call.
  bool IsBlocking() const override { return false; }
  const char* GetType() const override { return "token file"; }
  grpc::Status GetMetadata(grpc::string_ref, grpc::string_ref, const grpc::AuthContext&,
                           std::multimap<grpc::string, grpc::string>* metadata) override {
    take_over(this);
    const Result<std::string> token = read_token_file(file_);
    hand_over(this);
    if (!token) return {grpc::StatusCode::UNAVAILABLE, token.error().text()};
    metadata->emplace("authorization", join(std::vector<std::string>{"Bearer", *token}, " "));
    return grpc::Status::OK;
  }

 private:
  const Path file_;
};

}  // namespace

std::shared_ptr<grpc::CallCredentials> token_credentials(Path file) {
  return grpc::MetadataCredentialsFromPlugin(std::make_unique<TokenPlugin>(std::move(file)));
}

}  // namespace ibpod::rpc
