// Lanes that are held up while a worker decodes a large message, or while the peer's budget for
// decoding is overdrawn.
//
// A worker decodes a message of more than 256 KiB without handles (decoding.hpp), so the thread in
// the link goes on with other lanes. Later messages of the same lane are held behind it, undecoded.
// A lane continues when the worker is done, or when the link takes the message back because no
// worker begins with it.
//
// While the budget (decoding_budget.hpp) is overdrawn, no frame is read that has to be decoded. It
// is held, and so are all later frames of its lane. When the budget has grown, the lanes go on in
// turn: a lane that overdraws it again is the last to go on the next time.
//
// Invariants
// H1 While a worker decodes a message, all later messages of its lane are held behind it. Each is
//    read, and then delivered, once, in order, unless the link ends before. The stack counts held
//    messages as not delivered, which limits their number and their bytes.
// H2 `deadline` is set while a message waits for a worker. No call from below postpones it.
// H3 After a message was taken back, no message goes to a worker until the actor that was to decode
//    it has had its turn. So these actors do not pile up.
// H4 While the budget is overdrawn, neither the link nor a worker begins to decode a frame, and
//    `deadline` is the end of that time, or earlier.
//
// Thread safety: for the thread in the link. A worker visits the link when it is done (`go_on`).
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/net/layer/internal/growing_bytes.hpp>
#include <garrick/net/layer/layer.hpp>
#include <garrick/net/node/internal/decoding_budget.hpp>
#include <garrick/net/node/link/internal/decoding.hpp>
#include <garrick/net/node/link_source.hpp>
#include <garrick/net/transport/hosted.hpp>
#include <garrick/net/wire/frame.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

namespace garrick::net::internal {

/// The held lanes of one link.
class held_lanes {
 public:
  /// The owner of the lanes reads the frames.
  class owner {
   public:
    /// Returns the codec of the message that a frame carries, or null if the tables have none.
    [[nodiscard]] virtual const content_codec* codec_of(const frame& f) = 0;
    /// Reads a frame that was held. `by` has its decoded value; null: the payload is still to be
    /// read. May end the link.
    virtual void read_held(const frame& f, bool is_late, decoding* by) = 0;
    /// Tells the stack that one held message of this lane has been read.
    virtual void delivered(lane_number lane) = 0;

   protected:
    owner() = default;
    ~owner() = default;
    owner(const owner&) = default;
    owner& operator=(const owner&) = default;
  };

  /// `self`: the link, which workers visit. `budget`: which the owner pays from.
  held_lanes(owner& of, core::environment& env, const link_source& source, const connection& self,
             decoding_budget& budget)
      : owner_(of), env_(env), source_(source), self_(self), budget_(budget) {}
  held_lanes(const held_lanes&) = delete;
  held_lanes& operator=(const held_lanes&) = delete;

  /// Has later messages decoded with the peer's names of error categories.
  void counts_names_for(std::shared_ptr<foreign_names> peer) noexcept { names_ = std::move(peer); }
  [[nodiscard]] bool empty() const noexcept { return lanes_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
  /// Holds the message if its lane is held up, if a worker is to decode it, or if the budget is
  /// overdrawn and the message has to be decoded. Returns true if it is held; `owner::delivered` is
  /// called for it when it has been read.
  [[nodiscard]] bool keep(const incoming& m);
  /// Continues all lanes in which the first message is decoded, or is left to the link, and those
  /// that have waited for the budget.
  void go_on();
  /// Returns the time for the next call of `go_on` if no worker has begun with a message, or if the
  /// budget is overdrawn.
  [[nodiscard]] base::instant deadline() const noexcept {
    return std::min(next_taking_, not_overdrawn_);
  }
  /// Drops all held messages at the end of the link, without `owner::delivered`.
  void end() noexcept;

 private:
  /// An incoming frame that was not read yet.
  struct kept_frame {
    growing_bytes bytes{};  ///< with the payload of the frame
    frame what{};
    bool is_late = false;
    base::instant until = base::instant::never();  ///< the end of the time of a limited request
  };
  struct lane {
    kept_frame first{};              ///< without its bytes; none if `by` is null
    std::shared_ptr<decoding> by{};  ///< decodes `first`; null: the lane waits for the budget
    std::uint32_t looks = 0;         ///< how often the link has looked at the workers since `begin`
    std::deque<kept_frame> behind{};
    ~lane() {
      if (by != nullptr && by->take()) static_cast<void>(by->take_bytes());
    }
  };

  /// A look at the workers.
  struct look {
    bool is_due;         ///< false: none now
    bool takes;          ///< messages are taken back from all workers that have not begun
    base::instant next;  ///< the time of the next one
  };

  [[nodiscard]] base::instant now() const { return source_.now(); }
  /// Returns the time of the local actors' clock, by which requests are limited.
  [[nodiscard]] base::instant actors_now() const { return env_.clock->now(); }
  [[nodiscard]] bool all_workers_wait() const noexcept;
  [[nodiscard]] const content_codec* decoded_by_worker(const frame& f, bool is_late);
  [[nodiscard]] kept_frame kept(const incoming& m) const;
  void withdraw(lane& l, std::uint64_t request);
  void begin(lane& l, kept_frame first, const content_codec& how);
  void go_on_between(lane_number from, lane_number last, const look& now);
  void go_on_in(lane_number n);
  [[nodiscard]] bool has_to_wait(const frame& f);

  owner& owner_;
  core::environment& env_;
  const link_source& source_;
  const connection& self_;
  decoding_budget& budget_;
  std::shared_ptr<foreign_names> names_;  // may be null
  std::map<lane_number, lane> lanes_;
  const base::message_type* for_the_link_ = nullptr;      // the last content that needed the link
  base::instant next_taking_ = base::instant::never();    // see `deadline`
  base::instant not_overdrawn_ = base::instant::never();  // if a lane waits for the budget
  lane_number first_ = 0;                                 // the lane that goes on before others
  std::weak_ptr<decoding> taken_back_;  // the last one taken back; its actor keeps it (H3)
};

}  // namespace garrick::net::internal
