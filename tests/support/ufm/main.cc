#include "tests/support/ufm/fake_ufm.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace ibpod::fake_ufm {
namespace {

std::string text_of(const char* what, const std::optional<http::Address>& address) {
  return address ? std::string(" ") + what + "=" + address->text() : "";
}

// Until SIGTERM or SIGINT.
Status serve(const Path& file) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int one : {SIGTERM, SIGINT}) sigaddset(&signals, one);
  // Before any thread is started: all of them inherit the mask.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  const std::string text = TRY(read_file(file));
  const Config config = TRY(read_config(text).during(file.string()));
  const auto ufm = TRY(FakeUfm::start(config));
  std::printf("fake_ufm is ready:%s%s%s\n", text_of("tls", ufm->tls_address()).c_str(),
              text_of("plain", ufm->plain_address()).c_str(),
              text_of("control", ufm->control_address()).c_str());
  std::fflush(stdout);
  int number = 0;
  sigwait(&signals, &number);
  if (ufm->writer() != nullptr) return ufm->writer()->status();
  return ok();
}

}  // namespace
}  // namespace ibpod::fake_ufm

// fake_ufm CONFIG
int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fake_ufm CONFIG\n");
    return EXIT_FAILURE;
  }
  const ibpod::Status ended = ibpod::fake_ufm::serve(arguments[1]);
  if (ended) return EXIT_SUCCESS;
  std::fprintf(stderr, "fake_ufm: %s\n", ended.error().text().c_str());
  return EXIT_FAILURE;
}
