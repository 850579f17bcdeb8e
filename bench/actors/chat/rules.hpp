// The rules of workload `chat`, the same for every system.
//
// Clients belong to directories. In each turn every client acts once: it computes, posts to one of
// its chats, leaves one, or opens a chat and invites friends. An accumulator for each turn counts
// events that are still outstanding: it starts with one event a client, and an event that causes
// further ones announces them before they can end. All turns are started at once.
//
//   compute   client computes
//               -> stop(compute)
//   post      client -> chat: announces one delivery for each member, forwards
//               -> stop(post) from the chat, stop(delivery) from each member
//   leave     client -> chat -> client
//               -> stop(leave)
//   invite    client opens a chat, announces one join for each guest -> friends
//               -> stop(invite); friend -> chat -> stop(join)
//
// A client without a chat that should post or leave stops the event at once. A client's actions in
// a turn depend on both numbers alone, so the number of actions of each kind is known beforehand.
// The members of a chat depend on the order of messages.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "common/measure.hpp"

namespace bench {

enum class chat_event : std::uint8_t { compute, post, leave, invite, delivery, join };
inline constexpr std::size_t chat_event_kinds = 6;
using chat_counts = std::array<std::uint64_t, chat_event_kinds>;

struct chat_rules {
  std::uint32_t clients = 1024;
  std::uint32_t directories = 8;
  std::uint32_t turns = 32;
  std::uint32_t befriend = 10;  // per cent
  std::uint32_t compute = 15;   // the Fibonacci number that a computing client works out
};

inline chat_rules read_rules(arguments& args) {
  chat_rules rules;
  rules.clients = static_cast<std::uint32_t>(args.number("clients", rules.clients));
  rules.directories = static_cast<std::uint32_t>(args.number("directories", rules.directories));
  rules.turns = static_cast<std::uint32_t>(args.number("turns", rules.turns));
  rules.befriend = static_cast<std::uint32_t>(args.number("befriend", rules.befriend));
  rules.compute = static_cast<std::uint32_t>(args.number("compute", rules.compute));
  return rules;
}

constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

constexpr chat_event chat_action(std::uint32_t client, std::uint32_t turn) {
  const std::uint64_t dice = mix((std::uint64_t{client} << 32) | turn) % 100;
  if (dice < 55) return chat_event::compute;
  if (dice < 80) return chat_event::post;
  if (dice < 90) return chat_event::leave;
  return chat_event::invite;
}

constexpr bool are_friends(const chat_rules& rules, std::uint32_t client, std::uint32_t other) {
  return client != other && mix(~((std::uint64_t{client} << 32) | other)) % 100 < rules.befriend;
}

constexpr std::uint64_t fibonacci(std::uint32_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

// The work of a computing client. Not inlined: how far a compiler unrolls the recursion depends on
// the function that it is inlined into, and one system would compute with 20 per cent more
// instructions than the other.
[[gnu::noinline]] inline void compute(std::uint32_t n) {
  volatile std::uint64_t sink = fibonacci(n);
  static_cast<void>(sink);
}

// The counts that an accumulator has seen when its turn has ended.
struct chat_turn {
  chat_counts stopped{};
  chat_counts announced{};
};

// The actions that all clients take in all turns, by kind; deliveries and joins are left at zero.
inline chat_counts expected_actions(const chat_rules& rules) {
  chat_counts counts{};
  for (std::uint32_t client = 0; client < rules.clients; ++client) {
    for (std::uint32_t turn = 0; turn < rules.turns; ++turn)
      ++counts[static_cast<std::size_t>(chat_action(client, turn))];
  }
  return counts;
}

// Every action that was due happened, and every announced delivery and join ended.
inline void check_chat(result& out, const chat_rules& rules, const std::vector<chat_turn>& turns) {
  constexpr const char* names[chat_event_kinds] = {"compute", "post",     "leave",
                                                   "invite",  "delivery", "join"};
  chat_counts stopped{};
  chat_counts announced = expected_actions(rules);
  for (const chat_turn& turn : turns) {
    for (std::size_t i = 0; i < chat_event_kinds; ++i) {
      stopped[i] += turn.stopped[i];
      announced[i] += turn.announced[i];
      out.items += turn.stopped[i];
    }
  }
  out.expect("turns", rules.turns, turns.size());
  for (std::size_t i = 0; i < chat_event_kinds; ++i) out.expect(names[i], announced[i], stopped[i]);
}

// A client's own dice, for choosing among its chats and friends.
class chat_dice {
 public:
  explicit chat_dice(std::uint64_t seed = 0) : state_(seed) {}
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((state_ = mix(state_)) % n); }

 private:
  std::uint64_t state_;
};

}  // namespace bench
