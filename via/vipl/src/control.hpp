#pragma once
/// @file
/// Control messages between the processes of a job: over a VI of the provider for each pair that
/// has something to say, so that they take the path of the data and need nothing else. A sender has
/// at most kWindow messages under way that the receiver has not acknowledged; receives are posted
/// for those and the acknowledgements, so that no message finds an empty queue.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "via/vipl/src/message.hpp"
#include "viaduct/job.hpp"
#include "viaduct/via/nic.hpp"

namespace viaduct::via::vipl {

/// The owner of a provider's VI, to which its `context` points. All members but one are null.
struct Vi;
struct Link;
struct ViOwner {
  Vi* user = nullptr;
  Link* link = nullptr;
};

class Control {
 public:
  using Handler = std::function<void(Rank from, const Message&)>;
  /// @p handler runs within progress().  Throws Error.
  Control(Job& job, via::Nic& nic, Handler handler);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// Sends @p message, as soon as there is a connection and room. Nothing when @p to is lost.
  /// Throws Error when a connection cannot be asked for.
  void send(Rank to, const Message& message);
  /// Moves connections and messages on.  Blocks never.
  void progress();
  /// Whether something waits to be sent.
  [[nodiscard]] bool is_busy() const noexcept;

 private:
  static constexpr std::uint32_t kWindow = 16;
  static constexpr std::uint32_t kReceives = 2 * kWindow;
  static constexpr std::uint32_t kSends = 2 * kWindow;

  Link& link_to(Rank rank);
  void give(Link& link, Descriptor& receive);
  void flush(Link& link);
  bool post(Link& link, Message message);
  void take(Link& link, Descriptor& descriptor);
  void update(Link& link);

  Job& job_;
  via::Nic& nic_;
  Handler handler_;
  ProtectionTag tag_{};
  std::unique_ptr<via::CompletionQueue> queue_;
  std::vector<std::unique_ptr<Link>> links_;
  std::deque<Message> to_self_;
};

}  // namespace viaduct::via::vipl
