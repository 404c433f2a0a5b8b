#include "lib/rpc/token_file.h"

#include "lib/base/join.h"
#include "lib/rpc/tsan_handover.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <grpcpp/security/credentials.h>

namespace ibpod::rpc {
namespace {

constexpr size_t kLargest = 7 << 10;

bool is_token_character(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

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

Error unusable(const Path& file, const std::string& why) {
  return Error(Code::unavailable, why).during(file.string());
}

}  // namespace

Result<std::string> read_token_file(const Path& file) {
  Result<std::string> token = read_file(file, kLargest);
  if (!token) return Error(Code::unavailable, token.error().text());
  if (token->ends_with('\n')) token->pop_back();
  if (token->empty()) return unusable(file, "expected a token, got an empty file");
  if (std::all_of(token->begin(), token->end(), is_token_character)) return token;
  return unusable(file, "expected one token, got other characters");
}

std::shared_ptr<grpc::CallCredentials> token_credentials(Path file) {
  return grpc::MetadataCredentialsFromPlugin(std::make_unique<TokenPlugin>(std::move(file)));
}

}  // namespace ibpod::rpc
