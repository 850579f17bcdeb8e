// What this end has asked the peer: requests of actors here, and names.
//
// A request leaves its envelope for this table before it is encoded, and ends here in one of four
// ways: the peer answers, the stack or the link gives it up, its time is over, or nobody waits for
// the answer any more. What the stack has not taken yet is here, too.
//
// Invariants
// Q1 A question is open from the moment when it leaves its envelope until it was answered or
//    withdrawn: exactly one of both happens to it, once (N1 of decision 0010).
// Q2 A requester's number for its request is known exactly while that request is open. So it can be
//    withdrawn by what the requester knows.
// Q3 An answer to a request is due from outside of its system (`outside_began`) while it is open.
//
// Thread safety: for the thread in the link.
#pragma once

#include <garrick/base/time/clock.hpp>
#include <garrick/base/values/result.hpp>
#include <garrick/core/seam/answers.hpp>
#include <garrick/core/seam/content.hpp>
#include <garrick/core/seam/environment.hpp>
#include <garrick/net/layer/layer.hpp>
#include <garrick/net/node/name_answer.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/node/proxy/internal/peer_hash.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

namespace garrick::net::internal {

/// See above.
class questions {
 public:
  struct question {
    core::pending_request request;          ///< of an actor here; or
    std::unique_ptr<name_answer> resolved;  ///< of a name, or of an actor that is wanted
    const signature_codec* signature = nullptr;
    const protocol_table* expected = nullptr;      ///< of a name
    lane_number lane = 1;                          ///< of the request
    base::instant until = base::instant::never();  ///< the time of the request, if it is known
  };
  /// An asker here, and its number for its request.
  struct asked_by {
    std::uint64_t requester = 0;
    std::uint64_t request = 0;
    bool operator==(const asked_by&) const = default;
  };
  using place = std::unordered_map<std::uint64_t, question>::iterator;

  /// The numbers of askers from another peer are chosen there, hence the hash.
  questions(core::environment& env, const peer_hash& hash)
      : env_(env), numbers_(0, asked_by_hash{hash}) {}
  questions(const questions&) = delete;
  questions& operator=(const questions&) = delete;

  /// A request that is on its way from now on. Takes it out of its envelope.
  void ask(std::uint64_t number, core::envelope& e, const signature_codec& s, lane_number lane,
           base::instant until);
  /// A question for an actor with a name, or by the name of a type. `done` becomes the table's.
  void ask_name(std::uint64_t number, std::unique_ptr<name_answer>& done, const protocol_table& as);

  /// The question with this number, if it `is_open`.
  [[nodiscard]] place find(std::uint64_t number) { return open_.find(number); }
  [[nodiscard]] bool is_open(place at) { return at != open_.end(); }
  /// The same for a question of a name.
  [[nodiscard]] bool is_name(place at) { return is_open(at) && at->second.resolved != nullptr; }
  [[nodiscard]] place find(const asked_by& who);
  /// Closes a question, which the caller answers or withdraws.
  [[nodiscard]] question take(place at);
  /// Gives the answer, or why there is none. An envelope becomes the requester's.
  void answer(question q, base::result<core::envelope*> with) noexcept;
  /// Nobody wants the answer to this request any more.
  void withdraw(const question& q) noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
  /// Answers all that is open with `why`.
  void end(const base::error& why) noexcept;

 private:
  struct asked_by_hash {
    peer_hash of;
    std::size_t operator()(const asked_by& a) const noexcept {
      return of(watch_key{{}, a.requester, a.request});
    }
  };

  core::environment& env_;
  std::unordered_map<std::uint64_t, question> open_;
  std::unordered_map<asked_by, std::uint64_t, asked_by_hash> numbers_;  // of requests in there
};

}  // namespace garrick::net::internal
