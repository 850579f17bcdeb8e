// The conversation of the actors of two processes in captured_nodes.test.cpp: a frame of each kind
// that nodes send.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>
#include <garrick/net/wire/codec.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace garrick::tests {

/// A value that is written and cannot be read.
class smudged {
 public:
  using garrick_sendable = void;
};

}  // namespace garrick::tests

template <>
struct garrick::net::codec<garrick::tests::smudged> {
  static void encode(byte_writer& out, const garrick::tests::smudged&) {
    out.fixed(std::uint32_t{7});
  }
  static void decode(byte_reader& in, garrick::tests::smudged&) { in.fail("it is smudged"); }
};

namespace garrick::tests {

struct line {
  std::uint64_t n = 0;
  std::string text;
};
/// A question to a guest, which never answers 0, and answers less with an error.
struct query {
  std::int64_t n = 0;
};
struct retire {};
using guest_type = protocol<result<std::int64_t>(query), void(retire)>;
using listener_type = protocol<void(line)>;
/// Introduces an actor that gets each line from now on.
struct introduce {
  ref<listener_type> who;
};
struct guests_wanted {
  std::uint32_t count = 0;
};
using host_type = protocol<void(introduce), void(line), std::vector<ref<guest_type>>(guests_wanted),
                           void(smudged)>;
inline constexpr const char* host_name = "host";
inline constexpr const char* guest_name = "guest";
inline constexpr const char* listener_name = "listener";

class guest : public actor<guest_type> {
 public:
  guest(std::string name, std::int64_t factor) : name_(std::move(name)), factor_(factor) {}
  result<std::int64_t> on(query q) {
    if (q.n < 0) return make_error(errc::user, name_, "less than nothing");
    if (q.n > 0) return q.n * factor_;
    kept_.push_back(make_promise<std::int64_t>());
    return kept_.back();
  }
  void on(retire) { quit(make_error(errc::user, name_, "enough")); }

 private:
  std::string name_;
  std::int64_t factor_;
  std::vector<response_promise<std::int64_t>> kept_;
};

/// Publishes the introduced actor in its node.
class host : public actor<host_type> {
 public:
  explicit host(net::node& node) : node_(node) {}
  void on(const introduce& i) {
    listener_ = i.who;
    static_cast<void>(node_.unpublish(listener_name));
    if (listener_) static_cast<void>(node_.publish(listener_name, listener_));
  }
  void on(const line& l) {
    if (listener_) send(listener_, l);
  }
  std::vector<ref<guest_type>> on(guests_wanted w) {
    std::vector<ref<guest_type>> all;
    for (std::uint32_t i = 0; i != w.count; ++i)
      all.push_back(spawn<guest>("guest " + std::to_string(i), std::int64_t{i} + 2));
    return all;
  }
  void on(const smudged&) {}

 private:
  net::node& node_;
  ref<listener_type> listener_;
};

}  // namespace garrick::tests
