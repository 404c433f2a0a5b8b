// Sends to every other pod by all ways there are, and judges all that comes.
#pragma once

#include "lib/base/fd.h"
#include "tests/vm/probes/pair.h"

#include <filesystem>

namespace ibpod::probes {

class Prober {
 public:
  struct Self {
    std::string pod;
    Tenants tenants;
    std::string address;  // of its IPoIB interface; "-": none
  };
  static Result<Prober> open(Self self, std::filesystem::path folder, Tally& tally);

  // Makes queue pairs for indexes and pods that are new, lets those of pods that have gone go, and
  // says so on its card.
  Status look_round();
  // One message by every way.
  void send();
  // Takes the packets that have come since the last call.
  void take();

 private:
  struct ConnectionKey {
    std::string peer;
    uint32_t session = 0;
    Index mine = 0, theirs = 0;
    auto operator<=>(const ConnectionKey&) const = default;
  };
  struct Connection {
    std::unique_ptr<Pair> pair;
    unsigned life = 0;
    bool receives = false, sends = false;  // in this life
    uint32_t sequence = 0;                 // of the next message, in all its lives
    bool worked = false;                   // it has delivered something in this life
  };

  Prober(Self self, std::filesystem::path folder, Tally& tally, Port port)
      : self_(std::move(self)),
        folder_(std::move(folder)),
        tally_(&tally),
        port_(std::move(port)) {}

  Status make_datagrams();
  Status make_connections();
  const PeerInfo::Connection* other_end(const ConnectionKey& key) const;
  Status start_over(const ConnectionKey& key, Connection& connection, unsigned others_life);
  Status join(const ConnectionKey& key, Connection& connection);
  bool begins(const ConnectionKey& key, unsigned life) const;
  PeerInfo own_info() const;
  std::string message(const std::string& way, uint32_t sequence) const;
  void send_datagrams(const PeerInfo& peer);
  void send_by_ip(const PeerInfo& peer);
  void take_from(const ibv_wc& completion);
  void take_by_ip();

  Self self_;
  std::filesystem::path folder_;
  Tally* tally_;
  Port port_;
  uint32_t session_ = 0;
  uint16_t lid_ = 0;
  unsigned looks_ = 0;
  Fd socket_;
  std::vector<Index> indexes_;
  Peers peers_;
  PeerInfo published_;
  std::map<Index, std::unique_ptr<Pair>> datagrams_;
  std::map<uint16_t, Way> ways_;  // by LID
  std::map<ConnectionKey, Connection> connections_;
  std::map<std::pair<std::string, std::string>, uint32_t> sequences_;  // by peer and way
};

}  // namespace ibpod::probes
