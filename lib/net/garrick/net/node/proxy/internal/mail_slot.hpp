// Messages to a peer whose link is occupied by another thread, as bytes where that is possible.
//
// Problem: a visit in line for each message would cost an object, and a lock that the I/O thread
// wants, too. And one thread would read and free the envelope, while another one fills the next. So
// a sender that finds the link busy encodes its message itself, puts the frame here, behind the
// others, and reuses its envelope. Only the first sender brings a visit, which takes all. The more
// a link has to do, the more frames meet here.
//
// Entries that only the link can encode wait here as they are, in their place: requests, which get
// a number in the link; messages with handles, which are to be exported; signals, errors, and
// released proxies. So everything that one thread sends through a link is in one line.
//
// Invariants:
//   W1  The thread that makes the slot not empty brings a visit that takes all; if the visit cannot
//       be made, the thread that discovers this loses all (by `batch`).
//   W2  The entries of one thread are taken in its order, and none before an entry that was added
//       before it: a thread that enters the link at once takes the waiting entries first.
//   W3  The proxy of each entry is held weakly until the next entry was taken. Entries in a row
//       with one proxy share that hold.
//   W4  The answer to a request is due from outside of its asker's system from `add` until the
//       taker is done with the entry: the taker counts the answer itself by then, or has given it.
//       So the asker does not look idle meanwhile.
//
// Thread safety: any thread; an entry belongs to the thread that adds it, then to the one that
// takes it.
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

/// The line of entries that wait for a link.
class mail_slot {
 public:
  /// The kind of an entry.
  enum class kind : std::uint8_t {
    message,  ///< or a request
    signal,   ///< does not wait until the link has room
    answer,   ///< to a request of the peer, of which `about::to` is the answering cell; an
              ///< envelope, or its content, encoded
    release,  ///< the last handle to the proxy was released; there is no envelope
  };
  /// The data of a message without its envelope.
  struct about {
    core::cell* to = nullptr;  ///< its proxy
    const base::message_type* type = nullptr;
    std::uint64_t sender = 0;  ///< an actor here, which decides an envelope's lane; 0: none. For an
                               ///< answer without envelope: its request's number
    lane_number lane = 0;
    std::uint32_t weight = 1;  ///< the number of messages that an envelope has been counted as
    base::instant until = base::instant::never();  ///< the time of a request
  };
  /// An entry that was taken.
  struct entry {
    about what;
    std::span<const std::byte> bytes{};  ///< `add`'s packet, until the next entry is taken; or
    packet whole{};                      ///< a large one; or
    core::envelope_ptr envelope{};       ///< an envelope that is still to be encoded, or has
                                         ///< `whole` as its payload
    kind as = kind::message;             ///< the kind of the envelope, or of the entry without one
    core::outside_work due{};            ///< the answer to a request
    /// Returns the size of a frame in bytes.
    [[nodiscard]] std::size_t size() const noexcept { return bytes.size() + whole.size(); }
  };
  class batch;

  /// Makes an empty slot with room for so many bytes, as far as senders respect the limit. An entry
  /// counts some 50 bytes besides its own.
  explicit mail_slot(std::size_t bytes) noexcept : most_bytes_(bytes) {}
  ~mail_slot();
  mail_slot(const mail_slot&) = delete;
  mail_slot& operator=(const mail_slot&) = delete;

  /// Adds a frame, or the payload of an answer. Returns true if the slot was empty: then the caller
  /// brings a visit (W1). Throws std::bad_alloc, with nothing added. Requires that the caller holds
  /// the proxy.
  [[nodiscard]] bool add(const about& what, packet frame, kind as = kind::message);
  /// Adds an envelope that the link is to encode, or none for a release; otherwise as above. After
  /// an exception the envelope is as it was. Always returns true for a signal. `bytes` is counted
  /// in addition to the size of the content's type.
  [[nodiscard]] bool add(const about& what, core::envelope_ptr& e, kind as, std::size_t bytes = 0);
  /// Adds a request whose payload is encoded; otherwise as above.
  [[nodiscard]] bool add(const about& what, core::envelope_ptr& e, packet payload);
  /// Returns false if so much waits that a message without credit must not be added. Other entries
  /// are added without this check. Threads that check at the same time may together exceed the
  /// limit by their messages.
  [[nodiscard]] bool has_room() const noexcept {
    // order: relaxed; a limit that need not be exact
    return bytes_.load(std::memory_order_relaxed) + in_front_.load(std::memory_order_relaxed) <
           most_bytes_;
  }
  /// Sets the number of bytes that wait in the link for the stack, which count as if they were
  /// here. For the thread in the link.
  void wait_in_front(std::size_t bytes) noexcept {
    in_front_.store(bytes, std::memory_order_relaxed);  // order: as `has_room`
  }
  /// Sets whether the entries stand still because the stack takes nothing. For the thread in the
  /// link.
  void stand(bool it_does) noexcept {
    stands_.store(it_does, std::memory_order_relaxed);  // order: a hint
  }
  /// Returns true if the entries stand still, or fill more than a chunk: then added messages are
  /// counted with all their bytes.
  [[nodiscard]] bool is_long() const noexcept {
    // order: relaxed; hints
    return stands_.load(std::memory_order_relaxed) ||
           bytes_.load(std::memory_order_relaxed) > chunk_size;
  }
  /// Returns true if there is an entry; sees at least those of this thread.
  [[nodiscard]] bool any() const noexcept {
    return any_.load(std::memory_order_relaxed);  // order: a thread sees its own additions
  }
  /// The same for signals.
  [[nodiscard]] bool any_signals() const noexcept {
    return signals_.load(std::memory_order_relaxed) != 0;  // order: as above
  }
  /// Returns the number of waiting answers.
  [[nodiscard]] std::uint32_t answers() const noexcept {
    return answers_.load(std::memory_order_relaxed);  // order: a limit that need not be exact
  }
  /// Moves all entries to `to`, which must be exhausted. Returns true if there were any.
  bool take(batch& to) noexcept;

 private:
  enum class form : std::uint8_t { bytes, packet, envelope, request };
  struct head {
    about what;
    std::uint32_t size;  ///< the number of bytes behind it
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
    chunk* last = nullptr;  ///< null if there is none
    std::size_t number = 0;

    void push(std::unique_ptr<chunk> c) noexcept;
    std::unique_ptr<chunk> pop() noexcept;
  };
  /// Calls `write` for an entry of this size under the lock, when there is a chunk for it. No
  /// thread allocates under the lock.
  template <class Write>
  bool write_entry(std::size_t size, Write write);
  /// Adds a request, which counts as so many bytes.
  bool add_request(const about& what, core::envelope_ptr& e, packet payload, std::size_t bytes);
  /// Writes the head of an entry and returns the place for the bytes behind it. Under lock_.
  /// Requires that the last chunk has room.
  [[nodiscard]] std::byte* place(const about& what, form lies_as, kind as,
                                 std::size_t size) noexcept;
  void count(std::size_t bytes) noexcept;
  void count(kind as, std::size_t bytes) noexcept;
  [[nodiscard]] bool was_empty() noexcept;

  // Each `add` holds it for some fifty instructions and a copy of a short message: a mutex would
  // cost another locked operation, some ten nanoseconds.
  base::spin_lock lock_;
  chunks chunks_;                          // under lock_
  std::unique_ptr<chunk> spare_;           // under lock_: an empty one in reserve
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
  /// The entries left over at the end are lost: `lose` reports each to its sender.
  explicit batch(void (*lose)(entry&) noexcept) noexcept : lose_(lose) {}
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch();
  /// Takes the next entry; returns false if there is none.
  [[nodiscard]] bool next(entry& e) noexcept;
  [[nodiscard]] bool any_signals() const noexcept { return signals_ != 0; }
  [[nodiscard]] std::uint32_t answers() const noexcept { return answers_; }
  /// Returns true if all entries were taken.
  [[nodiscard]] bool empty() const noexcept {
    return chunks_.number == 0 || (chunks_.number == 1 && offset_ == chunks_.last->used);
  }

 private:
  friend class mail_slot;

  void (*const lose_)(entry&) noexcept;
  chunks chunks_;                 // the first has the next entry
  std::unique_ptr<chunk> spent_;  // the last chunk of which all was taken
  std::uint32_t signals_ = 0;     // signals that are left
  std::uint32_t answers_ = 0;     // as above
  std::size_t offset_ = 0;        // of the next entry
  core::cell* held_ = nullptr;
};

}  // namespace garrick::net::internal
