#pragma once
/// @file
/// The PMIx client: which rank this process is, by the launcher's word. The library is loaded when
/// a PMIx server is there, so that programs run without it where there is none
/// (docs/decisions/008-pmix-by-dlopen.md).

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace viaduct {

class Pmix {
 public:
  /// Loads the library and reaches the server that PMIX_NAMESPACE speaks of.  Throws Error with the
  /// remedy.
  Pmix();
  ~Pmix();
  Pmix(const Pmix&) = delete;
  Pmix& operator=(const Pmix&) = delete;

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Ranks on this node, by the launcher's word.
  [[nodiscard]] std::uint32_t local_size() const noexcept { return local_size_; }

  void publish(const char* key, const std::string& text);
  /// Waits until @p rank has published it; nothing when @p limit is over. Asks again and again
  /// where the server answers at once that there is nothing yet.  Throws Error when the server
  /// refuses.
  [[nodiscard]] std::optional<std::string> fetch(std::uint32_t rank, const char* key,
                                                 std::chrono::nanoseconds limit);

  /// Tells the server that this rank ends well. Without it a launcher reports the rank.
  void finalize() noexcept;

 private:
  struct Library;
  [[nodiscard]] int ask_text(std::uint32_t rank, const char* key,
                             std::chrono::steady_clock::time_point limit, std::string& text) const;
  [[nodiscard]] std::uint32_t ask_number(const char* key) const;
  std::unique_ptr<Library> library_;
  std::string name_space_;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  std::uint32_t local_size_ = 1;
};

}  // namespace viaduct
