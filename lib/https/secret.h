// Secret: text that is overwritten in memory when it is no longer needed.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace ibpod::https {

// Overwrites the content, and makes the text empty.
void wipe(std::string& text);

class Secret {
 public:
  Secret() = default;
  // Wipes its argument.
  explicit Secret(std::string&& text) : text_(std::move(text)) { wipe(text); }
  Secret(Secret&& other) noexcept : text_(std::move(other.text_)) { wipe(other.text_); }
  Secret& operator=(Secret&& other) noexcept;
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { wipe(text_); }

  // Leaves no copy where the text was before it grew.
  Secret& append(std::string_view text);
  // Without one end of line, which editors and echo leave.
  void strip_newline();

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
};

}  // namespace ibpod::https
