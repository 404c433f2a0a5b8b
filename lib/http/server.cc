#include "lib/http/server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

namespace ibpod::http {
namespace {

constexpr size_t kClients = 256;
constexpr size_t kWorkers = 4;
// Without a free descriptor a client stays in the kernel's queue, and poll() never waits.
constexpr Duration kDeafFor{200};

bool asks_for_health(std::string_view request) {
  return request.starts_with("GET /healthz") || request.starts_with("GET /readyz");
}

int milliseconds(const Deadline& deadline) { return static_cast<int>(deadline.left().count()) + 1; }

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const Address& address, Pages pages) {
  Fd listening = TRY(listen_on(address));
  Address bound = TRY(bound_address(listening, address));
  Fd wake(TRY(sys("eventfd", [] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); })));
  return std::unique_ptr<Server>(
      new Server(std::move(bound), std::move(listening), std::move(wake), std::move(pages)));
}

Server::Server(Address address, Fd listening, Fd wake, Pages pages)
    : address_(std::move(address)),
      listening_(std::move(listening)),
      wake_(std::move(wake)),
      exchange_(std::move(pages)),
      clients_(kClients),
      workers_(kWorkers),
      thread_([this] { run(); }) {}

Server::~Server() {
  stopping_ = true;
  wake();
  thread_.join();
  if (!address_.socket.empty()) ::unlink(address_.socket.c_str());
}

void Server::run() {
  while (!stopping_) {
    await();
    deliver();
    clients_.drop_ended();
    full_ = full_ && !clients_.has_room();
  }
  clients_.all().clear();
}

// Waits for the next event: a client, bytes, an answer, or the deadline of a client.
void Server::await() {
  if (deaf_ && deaf_->passed()) deaf_.reset();
  const short listens = deaf_ || full_ ? 0 : POLLIN;
  std::vector<pollfd> waiting{{wake_.get(), POLLIN, 0}, {listening_.get(), listens, 0}};
  std::vector<Number> numbers;
  int timeout_ms = deaf_ ? milliseconds(*deaf_) : -1;
  for (const auto& [number, entry] : clients_.all()) {
    const Connection& client = entry.connection;
    waiting.push_back({client.descriptor(), client.wants(), 0});
    numbers.push_back(number);
    if (!client.waits_for_client()) continue;
    const int left = milliseconds(client.deadline());
    timeout_ms = timeout_ms < 0 ? left : std::min(timeout_ms, left);
  }
  if (!sys("poll", [&] { return ::poll(waiting.data(), waiting.size(), timeout_ms); })) return;
  for (size_t n = 0; n < numbers.size(); ++n) {
    if (waiting[n + 2].revents != 0) proceed(numbers[n]);
  }
  if (waiting[1].revents != 0) full_ = !greet();
}

// Lets in who waits, as many as there are places: then the others have their turn. Who has sent the
// request already is not one that could give way to the next. False: there is no place.
bool Server::greet() {
  for (size_t n = 0; n < kClients; ++n) {
    if (!clients_.has_room()) return false;
    auto accepted = sys("accept", [&] {
      return ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    });
    if (!accepted && accepted.error().error_number() != EAGAIN) deaf_ = Deadline::in(kDeafFor);
    if (!accepted) return true;
    proceed(clients_.add(Fd(*accepted)));
  }
  return true;
}

void Server::proceed(Number number) {
  Connection* const client = clients_.find(number);
  if (client == nullptr) return;
  std::optional<std::string> request = client->proceed();
  if (!request) return;
  const bool first = asks_for_health(*request);
  Workers::Job job = [this, number, text = std::move(*request)] {
    std::string answer = exchange_.answer(text);
    const std::lock_guard lock(mutex_);
    answers_.push_back({number, std::move(answer)});
    wake();
  };
  workers_.add(std::move(job), first ? Workers::Priority::first : Workers::Priority::last);
}

void Server::deliver() {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t count = ::read(wake_.get(), &ignored, sizeof ignored);
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    answers.swap(answers_);
  }
  for (Answer& answer : answers) {
    Connection* const client = clients_.find(answer.client);
    if (client != nullptr) client->answer(std::move(answer.text));
  }
}

void Server::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace ibpod::http
