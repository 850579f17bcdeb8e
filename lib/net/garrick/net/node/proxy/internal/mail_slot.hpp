// Messages to a peer whose link somebody else is in, as bytes where that is possible.
//
// Problem: a visit in line for each message would cost a lock that the I/O thread wants, too, and
// an object; and the envelope would be read and freed by another thread than the one that fills the
// next one. So who finds the link busy encodes its message itself, puts the frame here, behind the
// others, and reuses its envelope. Only the first one brings a visit, which takes all. The more a
// link has to do, the more meet here.
//
// What only the link can encode waits here as it is, in its place: requests, which get a number
// there, handles, which are to be exported, signals, errors, and that nobody holds a proxy any
// more. So whatever one thread sends by way of a link is in one line.
//
// Invariants:
//   W1  Whoever makes this not empty brings a visit that takes all; if it cannot be made, whoever
//       finds that out loses all (`batch` does).
//   W2  What one thread adds is taken in its order, and nothing is taken before what was added
//       before it: who is let in at once takes what waits first.
//   W3  The proxy of each entry is held weakly until the next one was taken. Entries in a row with
//       one proxy share that hold.
//   W4  The answer to a request is due from outside of its asker's system from `add` until the
//       taker is done with the entry: the taker counts the answer itself by then, or has given it.
//       So the asker does not look idle meanwhile.
//
// Thread safety: any thread; each entry is one thread's, who adds it, then one who takes it.
#pragma once

#include <garrick/base/concurrency/spin_lock.hpp>
#include <garrick/base/time/clock.hpp>
#include <garrick/base/types/message_type.hpp>
#include <garrick/core/outside_work.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/core/seam/handles.hpp>
#include <garrick/net/layer/layer.hpp>
#include <garrick/net/packet.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace garrick::net::internal {

/// See above.
class mail_slot {
 public:
  /// What waits.
  enum class kind : std::uint8_t {
    message,  ///< or a request
    signal,   ///< which does not wait until the link has room
    answer,   ///< to a request of the peer, of which `about::to` is the answering cell; an
              ///< envelope, or its content, encoded
    release,  ///< nobody holds the proxy any more; there is no envelope
  };
  /// What is known of a message whose envelope is gone.
  struct about {
    core::cell* to = nullptr;  ///< its proxy
    const base::message_type* type = nullptr;
    std::uint64_t sender = 0;  ///< an actor here; 0: nobody. For an envelope: whose lane it takes.
                               ///< For an answer without one: its request's number
    lane_number lane = 0;
    std::uint32_t weight = 1;  ///< of an envelope: how many messages it has been counted as
    base::instant until = base::instant::never();  ///< the time of a request
  };
  /// What was taken.
  struct entry {
    about what;
    std::span<const std::byte> bytes{};  ///< `add`'s packet, until the next entry is taken; or
    packet whole{};                      ///< a large one; or
    core::envelope_ptr envelope{};       ///< what is still to be encoded, or has `whole` as its
                                         ///< payload
    kind as = kind::message;             ///< such an envelope, or none
    core::outside_work due{};            ///< the answer to a request
    /// Of a frame, in bytes.
    [[nodiscard]] std::size_t size() const noexcept { return bytes.size() + whole.size(); }
  };
  class batch;

  /// Room for so many bytes, as far as senders look. An entry takes some 50 besides its own.
  explicit mail_slot(std::size_t bytes) noexcept : most_bytes_(bytes) {}
  ~mail_slot();
  mail_slot(const mail_slot&) = delete;
  mail_slot& operator=(const mail_slot&) = delete;

  /// Adds a frame, or the payload of an answer. Returns true if nothing was here: then the caller
  /// brings a visit (W1). Throws std::bad_alloc, and then nothing was added. Requires that the
  /// caller holds the proxy.
  [[nodiscard]] bool add(const about& what, packet frame, kind as = kind::message);
  /// What is to be encoded by the link; no envelope for a release. As above, and then the envelope
  /// is as it was. Always true for a signal. `bytes`: how many a message takes besides itself.
  [[nodiscard]] bool add(const about& what, core::envelope_ptr& e, kind as, std::size_t bytes = 0);
  /// A request whose payload is encoded. As above.
  [[nodiscard]] bool add(const about& what, core::envelope_ptr& e, packet payload);
  /// False: too much waits for what has no credit to wait, too. All else is added without a look.
  /// Several who look at once may exceed it by what they add.
  [[nodiscard]] bool has_room() const noexcept {
    // order: relaxed; a limit that need not be exact
    return bytes_.load(std::memory_order_relaxed) + in_front_.load(std::memory_order_relaxed) <
           most_bytes_;
  }
  /// So many bytes wait in the link for the stack, and count as if they were here. For who is in
  /// the link.
  void wait_in_front(std::size_t bytes) noexcept {
    in_front_.store(bytes, std::memory_order_relaxed);  // order: as `has_room`
  }
  /// What is here stands, for the stack takes nothing. For who is in the link.
  void stand(bool it_does) noexcept {
    stands_.store(it_does, std::memory_order_relaxed);  // order: a hint
  }
  /// It stands, or is more than a little: what is added is to be counted with all its bytes.
  [[nodiscard]] bool is_long() const noexcept {
    // order: relaxed; hints
    return stands_.load(std::memory_order_relaxed) ||
           bytes_.load(std::memory_order_relaxed) > chunk_size;
  }
  /// Whether something is here, at least what this thread has added.
  [[nodiscard]] bool any() const noexcept {
    return any_.load(std::memory_order_relaxed);  // order: a thread sees what it has added itself
  }
  /// As above, of signals.
  [[nodiscard]] bool any_signals() const noexcept {
    return signals_.load(std::memory_order_relaxed) != 0;  // order: as above
  }
  /// Answers that are here.
  [[nodiscard]] std::uint32_t answers() const noexcept {
    return answers_.load(std::memory_order_relaxed);  // order: a limit that need not be exact
  }
  /// Adds all that is here to `to`, of which everything was taken. True: it was something.
  bool take(batch& to) noexcept;

 private:
  enum class form : std::uint8_t { bytes, packet, envelope, request };
  struct head {
    about what;
    std::uint32_t size;  ///< behind it
    form lies_as;
    kind as;
    bool holds;  ///< the proxy, weakly
  };
  static constexpr std::size_t chunk_size = (std::size_t{16} << 10) - 64;
  static constexpr std::size_t largest_copied = 2048;
  struct waiting_request {
    core::envelope* request;
    packet payload;  ///< empty: the link encodes it
    core::outside_work answer;
  };
  struct chunk {
    std::unique_ptr<chunk> next{};
    std::uint32_t used = 0;
    alignas(8) std::byte bytes[chunk_size];
  };
  /// Chunks in their order.
  struct chunks {
    std::unique_ptr<chunk> first{};
    chunk* last = nullptr;  ///< null: there is none
    std::size_t number = 0;

    void push(std::unique_ptr<chunk> c) noexcept;
    std::unique_ptr<chunk> pop() noexcept;
  };
  /// Calls `write` for an entry of this size under the lock, when there is a chunk for it. Nobody
  /// allocates under the lock.
  template <class Write>
  bool write_entry(std::size_t size, Write write);
  /// Adds a request, for which so many bytes are counted.
  bool add_request(const about& what, core::envelope_ptr& e, packet payload, std::size_t bytes);
  /// Room for an entry, whose head is written; under lock_, and there is room.
  [[nodiscard]] std::byte* place(const about& what, form lies_as, kind as,
                                 std::size_t size) noexcept;
  void count(std::size_t bytes) noexcept;
  void count(kind as, std::size_t bytes) noexcept;
  [[nodiscard]] bool was_empty() noexcept;

  // Whoever adds takes it for some fifty instructions and a copy of a short message: a mutex would
  // be a locked operation more, of some ten nanoseconds.
  base::spin_lock lock_;
  chunks chunks_;                          // under lock_
  std::unique_ptr<chunk> spare_;           // under lock_: an empty one for what comes next
  core::cell* last_ = nullptr;             // under lock_: the proxy of the last entry
  std::atomic<bool> any_{false};           // written under lock_
  std::atomic<std::uint32_t> signals_{0};  // as above
  std::atomic<std::uint32_t> answers_{0};  // as above
  std::atomic<std::size_t> bytes_{0};      // as above, of messages and requests with their heads
  std::atomic<std::size_t> in_front_{0};   // see wait_in_front
  std::atomic<bool> stands_{false};
  const std::size_t most_bytes_;
};

/// Entries that were taken, in order.
class mail_slot::batch {
 public:
  /// What is left in the end, is lost: `lose` says so to whom it concerns.
  explicit batch(void (*lose)(entry&) noexcept) noexcept : lose_(lose) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch();
  /// The next one; false: there is none.
  [[nodiscard]] bool next(entry& e) noexcept;
  [[nodiscard]] bool any_signals() const noexcept { return signals_ != 0; }
  [[nodiscard]] std::uint32_t answers() const noexcept { return answers_; }
  /// True if all was taken.
  [[nodiscard]] bool empty() const noexcept {
    return chunks_.number == 0 || (chunks_.number == 1 && offset_ == chunks_.last->used);
  }

 private:
  friend class mail_slot;

  void (*const lose_)(entry&) noexcept;
  chunks chunks_;                 // the first has the next entry that is left
  std::unique_ptr<chunk> spent_;  // the last of which all was taken
  std::uint32_t signals_ = 0;     // that are left
  std::uint32_t answers_ = 0;     // as above
  std::size_t offset_ = 0;        // of the next entry
  core::cell* held_ = nullptr;
};

}  // namespace garrick::net::internal
