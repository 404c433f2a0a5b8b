// Places: how many calls are in progress, in all and of one caller.
#pragma once

#include "lib/base/result.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace ibpod::fabricapi {

// From any thread. It lives as long as any place of it is taken.
class Places : public std::enable_shared_from_this<Places> {
 public:
  // An eighth of all places, and a quarter of each caller's, are kept free of ordinary calls: who
  // fills them can still end what it has begun, and others and administrators get in.
  enum class Share {
    ordinary,
    reserved,  // an administrator's; what ends something, or says that something is still there
  };
  // What is counted, for the refusal: "calls".
  Places(std::string what, size_t most, size_t most_of_one)
      : what_(std::move(what)), most_(most), most_of_one_(most_of_one) {}

  // Free again when it goes.
  class Place {
   public:
    Place(std::shared_ptr<Places> places, std::string who)
        : places_(std::move(places)), who_(std::move(who)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Place(Place&&) = delete;
    Place& operator=(Place&&) = delete;
    ~Place() { places_->free(who_); }

   private:
    std::shared_ptr<Places> places_;
    std::string who_;
  };

  // unavailable where there is none.
  Result<std::shared_ptr<Place>> take(const std::string& who, Share share = Share::ordinary);

 private:
  Status check_room(const std::string& who, Share share) const;
  void free(const std::string& who);

  const std::string what_;
  const size_t most_, most_of_one_;
  std::mutex mutex_;
  size_t taken_ = 0;
  std::map<std::string, size_t> of_;
};

}  // namespace ibpod::fabricapi
