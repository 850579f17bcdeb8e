// The peers of a node that is fuzzed: an honest one, which keeps to the protocol and holds the node
// to it, and a stranger, which sends according to the fuzzer's input.
//
// Thread safety: one thread at a time.
#pragma once

#include <garrick/base/platform/assert.hpp>
#include <garrick/net/layer/actor_protocol.hpp>
#include <garrick/net/layer/framing.hpp>
#include <garrick/net/layer/redelivery.hpp>
#include <garrick/net/layer/session.hpp>
#include <garrick/net/layer/slicing.hpp>
#include <garrick/net/node/handle_codec.hpp>
#include <garrick/net/node/protocol_table.hpp>
#include <garrick/net/stack/stack.hpp>
#include <garrick/net/testkit/internal/fuzzed/actors.hpp>
#include <garrick/net/testkit/internal/fuzzed/links.hpp>
#include <garrick/net/wire/codec.hpp>
#include <garrick/net/wire/orders.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace garrick::net::testkit::internal::fuzzed {

using kind = frame_kind;

constexpr duration ms(std::int64_t n) { return duration::milliseconds(n); }

/// The rest of the input; zeros after its end.
class program {
 public:
  explicit program(std::span<const std::byte> all) : left_(all) {}
  [[nodiscard]] bool is_over() const noexcept { return left_.empty(); }
  unsigned take() {
    if (left_.empty()) return 0;
    const auto value = std::to_integer<unsigned>(left_[0]);
    left_ = left_.subspan(1);
    return value;
  }
  std::uint64_t take_long() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | take();
    return value;
  }
  std::span<const std::byte> take_bytes() {
    const std::size_t n = std::min<std::size_t>(take(), left_.size());
    const std::span<const std::byte> some = left_.first(n);
    left_ = left_.subspan(n);
    return some;
  }

 private:
  std::span<const std::byte> left_;
};

/// The top of a stranger's stack, which passes any bytes.
class any_bytes : public layer_defaults {
 public:
  static constexpr std::string_view wire_name = actor_protocol::wire_name;
};

/// The stack of the node, without its top layer.
using stack_of_any_bytes = stack<byte_stream, any_bytes, redelivery, slicing, session, framing>;

inline session_settings settings_of(const peer_identity& self, bool connects) {
  session_settings s;
  s.self = self;
  s.connects = connects;
  s.interval = ms(100);
  s.down_after = ms(400);
  s.resume_window = ms(300);
  s.handshake_limit = ms(400);
  s.seed = 5;
  return s;
}

inline bool asks(kind k) { return k == kind::request || k == kind::resolve || k == kind::spawn; }
inline bool is_answer(kind k) {
  return k == kind::response || k == kind::error || k == kind::resolved || k == kind::spawned;
}

/// Returns true if frames of this kind have a payload (docs/wire.md).
inline bool has_payload(kind k) {
  switch (k) {
    case kind::cancel:
    case kind::link:
    case kind::unlink:
    case kind::monitor:
    case kind::demonitor:
    case kind::release:
    case kind::credit:
    case kind::marker:
    case kind::marked: return false;
    default: return true;
  }
}

inline const protocol_table& of_host() { return protocol_table_of<host_type>(); }
inline const protocol_table& of_guest() { return protocol_table_of<guest_type>(); }

/// A peer of the node, over a link of its own.
class peer : protected link_owner {
 public:
  peer(const base::clock& time, const session_settings& s)
      : self_(s.self),
        time_(time),
        end_(time),
        link_(std::make_unique<stack_of_any_bytes>(static_cast<link_owner&>(*this), end_,
                                                   any_bytes(), redelivery(), slicing(), session(s),
                                                   framing())) {
    end_.carries_to(*link_);
  }
  virtual ~peer() = default;
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;

  [[nodiscard]] const peer_identity& self() const noexcept { return self_; }
  [[nodiscard]] far_end& end() noexcept { return end_; }
  [[nodiscard]] const far_end& end() const noexcept { return end_; }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] const std::vector<actor_id>& told() const noexcept { return told_; }
  void leave() { link_->leave(time_.now()); }

 protected:
  /// Returns false if the frame could not be sent.
  bool speak(packet whole, lane_number lane) {
    return is_open_ && !link_->send({std::move(whole), lane}, time_.now());
  }
  [[nodiscard]] std::size_t room() const { return frame_room + link_->header_size(); }
  virtual void heard(const frame& f) = 0;
  bool on_message(const incoming& m) override {
    const base::result<frame> f = decode_frame(m.bytes);
    GARRICK_ASSERT(f.has_value(), "a node's message is a frame");
    for (std::uint32_t i = 0; i < f->handles; ++i) told_.push_back(number_behind(*f, i));
    const bool names = f->kind == kind::resolved || f->kind == kind::spawned ||
                       f->kind == kind::monitor || f->kind == kind::link;
    if (names && f->sender) told_.push_back(f->sender);  // otherwise it is this peer's actor
    heard(*f);
    if (!holds_) return true;
    held_.push_back(m.lane);
    return false;
  }
  void on_event(const link_event& e) override {
    if (e.what == link_event::kind::opened) is_open_ = true;
    if (e.what == link_event::kind::down) is_open_ = false;
  }
  void confirm(std::size_t most) {
    while (!held_.empty() && most-- != 0) {
      link_->delivered(held_.front(), time_.now());
      held_.erase(held_.begin());
    }
  }
  bool holds_ = false;

 private:
  const peer_identity self_;
  const base::clock& time_;
  far_end end_;
  std::unique_ptr<any_link> link_;
  std::vector<actor_id> told_;
  std::vector<lane_number> held_;
  bool is_open_ = false;
};

/// Writes a handle to one actor in place of each empty handle.
class porter final : public handle_porter {
 public:
  explicit porter(const actor_id& who) : who_(who) {}
  void write(byte_writer& out, core::cell*, const protocol_table&) override {
    out.fixed(std::uint8_t{1});
    out.varint(numbers.size());
    numbers.push_back(who_);
  }
  core::cell* read(byte_reader&, const protocol_table&) override { return nullptr; }
  std::vector<actor_id> numbers{};

 private:
  const actor_id who_;
};

/// A peer that keeps to the protocol, and holds the node to it.
class honest final : public peer {
 public:
  explicit honest(const base::clock& time) : peer(time, patient()) {}

  struct answer {
    kind as;
    actor_id who;
    std::int64_t value = 0;
  };
  /// The answers, by the number of the question.
  std::map<std::uint64_t, answer> answers;
  std::uint64_t released = 0;  // the number of releases of its actor
  static constexpr actor_id own{77, 7};
  /// Returns settings for a peer that may connect long after it was made.
  [[nodiscard]] static session_settings patient() {
    session_settings s = settings_of({{9, 9}, 99}, true);
    s.handshake_limit = base::duration::seconds(3600);
    return s;
  }

  std::uint64_t resolve(const std::string& name, const protocol_table& as) {
    return put({.kind = kind::resolve}, resolve_order{name, *as.described()});
  }
  std::uint64_t request(const actor_id& who, std::int64_t n) {
    return put({.kind = kind::request, .receiver = who, .sender = {6, 6}, .type = type_id<ask>},
               ask{n});
  }
  /// Gives the host a handle to its actor.
  void show_oneself(const actor_id& to) {
    static_cast<void>(put(
        {.kind = kind::message, .receiver = to, .sender = {6, 6}, .type = type_id<keep>}, keep{}));
  }

 private:
  template <class T>
  std::uint64_t put(frame f, const T& payload) {
    porter own_one(own);
    byte_writer out(
        {.front = room(), .context = codec_context(static_cast<handle_porter&>(own_one))});
    encode_value(out, payload);
    append_numbers(out, own_one.numbers);
    f.handles = static_cast<std::uint32_t>(own_one.numbers.size());
    if (f.number == 0 && f.kind != kind::message) f.number = ++asked_;
    packet p = std::move(out).finish().value();
    prepend_header(f, p);
    GARRICK_ASSERT(speak(std::move(p), lane_of(f)), "an honest peer may speak");
    return f.number;
  }
  void heard(const frame& f) override {
    if (is_answer(f.kind)) {
      answer a{f.kind, f.sender};
      if (f.kind == kind::response) a.value = *decode<std::int64_t>(f.payload);
      GARRICK_ASSERT(f.number <= asked_ && answers.emplace(f.number, a).second,
                     "an answer that was not asked for, or is the second one");
      return;
    }
    if (f.kind == kind::credit || f.kind == kind::decode_error) return;
    GARRICK_ASSERT(f.receiver == own, "a frame to an actor that was not shown");
    if (f.kind == kind::release) released += f.number;
    if (f.kind != kind::request) return;
    const base::result<ask> asked = decode<ask>(f.payload);
    GARRICK_ASSERT(asked.has_value(), "a request that is none");
    static_cast<void>(put({.kind = kind::response,
                           .receiver = f.sender,
                           .sender = own,
                           .number = f.number,
                           .type = type_id<std::int64_t>},
                          std::int64_t{asked->n + 1}));
  }

  std::uint64_t asked_ = 0;
};

/// A peer that sends according to the program.
class stranger final : public peer {
 public:
  stranger(const base::clock& time, const peer_identity& self, bool connects, program& in,
           const peer& other)
      : peer(time, settings_of(self, connects)), in_(in), other_(other) {}

  /// True if the node must not deliver its messages.
  bool is_barred = false;

  void say_bytes() {
    packet p = packet::with_room(room(), 0);
    p.append(in_.take_bytes());
    put(std::move(p), lane());
  }
  void say_frame() {
    frame f{.kind = static_cast<kind>(1 + in_.take() % 21)};
    f.receiver = id(4);
    f.sender = id(3);
    f.number = number();
    const unsigned how = in_.take();
    f.urgent = (how & 1) != 0;
    if ((how & 2) != 0) f.time_left = ms(in_.take());
    handles_.clear();
    packet p = payload(f, (how & 4) != 0);
    prepend_header(f, p);
    if ((how & 16) != 0) p = changed(p);
    put(std::move(p), (how & 32) != 0 ? lane() : lane_of(f));
  }
  void resolve(const std::string& name, const protocol_table& as) {
    put_value({.kind = kind::resolve, .number = 1 + in_.take() % 16u},
              resolve_order{name, *as.described()});
  }
  void order(const std::string& name) {
    put_value({.kind = kind::spawn, .number = 1 + in_.take() % 16u}, spawn_of(name));
  }
  /// Releases all handles that it was given.
  void release_all() {
    for (const auto& [one, times] : std::map(given_))
      if (times != 0) put_value({.kind = kind::release, .receiver = one, .number = times});
  }
  /// Returns true if it knows all handles that it was given.
  [[nodiscard]] bool is_sure() const noexcept { return is_sure_; }
  void is_in_doubt() noexcept { is_sure_ = false; }
  /// Sends `n` messages to the first actor that it knows.
  void say_often(unsigned n) {
    if (told().empty()) return;
    for (unsigned i = 0; i != n; ++i)
      put_value({.kind = kind::message,
                 .receiver = told()[0],
                 .sender = own(i % 3),
                 .type = type_id<say>},
                say{"again"});
  }
  void grant() { put_value({.kind = kind::credit, .number = 100}); }
  void hold(bool on) { holds_ = on; }
  void confirm_some(std::size_t n) { confirm(n); }

 private:
  // ---- sending ---------------------------------------------------------------------------------

  void put(packet p, lane_number l) {
    const base::result<frame> f = decode_frame(p.bytes());
    const packet copy = packet::copy_of(p.bytes());
    if (!speak(std::move(p), l) || !f) return;
    const base::result<frame> said = decode_frame(copy.bytes());
    if (asks(said->kind)) ++questions_[said->number];
    if (said->kind == kind::monitor) ++monitors_[said->number];
    if (const auto held = given_.find(said->receiver); held != given_.end())
      if (said->kind == kind::release && said->number <= held->second) held->second -= said->number;
    const bool is_mail = said->kind == kind::message || said->kind == kind::request;
    // Both peers' numbers come from one seed, so this peer may name an actor of which only the
    // other peer was given a handle.
    if (is_mail && !is_barred &&
        (is_told(*this, said->receiver) || is_told(other_, said->receiver)))
      ++house::here->allowed;
  }
  static bool is_told(const peer& of, const actor_id& who) {
    return std::find(of.told().begin(), of.told().end(), who) != of.told().end();
  }
  void put_value(const frame& f) {
    packet p = packet::with_room(room(), 0);
    prepend_header(f, p);
    put(std::move(p), lane_of(f));
  }
  template <class T>
  void put_value(frame f, const T& value) {
    handles_.clear();
    packet p = written(value, f);
    prepend_header(f, p);
    put(std::move(p), lane_of(f));
  }
  lane_number lane() { return static_cast<lane_number>(in_.take() % layer_lane); }
  /// Returns an actor's number: mostly one of the node's actors if `usual` is 4, and one of this
  /// peer's own actors if `usual` is 3.
  actor_id id(unsigned usual) {
    const unsigned how = in_.take();
    const auto any_of = [&](const std::vector<actor_id>& all) {
      return all.empty() ? actor_id{} : all[how / 8 % all.size()];
    };
    switch (how % 8) {
      case 0: return {};
      case 1: return {in_.take_long(), in_.take_long()};
      case 2: return any_of(other_.told());
      case 3: return own(how / 8);
      case 4: return any_of(told());
      default: return usual == 4 ? any_of(told()) : own(how / 8);
    }
  }
  static actor_id own(std::uint64_t n) { return {n % 5 + 1, 7}; }
  std::uint64_t number() {
    const unsigned how = in_.take();
    if (how < 128) return how % 16;
    if (how < 248) return numbers_.empty() ? 1 : numbers_[how % numbers_.size()];
    return how == 255 ? ~std::uint64_t{0} : in_.take_long();
  }
  packet changed(const packet& p) {
    const std::size_t at = in_.take();
    bytes all(p.bytes().begin(), p.bytes().end());
    if (!all.empty()) all[at % all.size()] = static_cast<std::byte>(in_.take());
    packet other = packet::with_room(room(), 0);
    other.append(std::span<const std::byte>(all));
    return other;
  }

  // ---- payloads -------------------------------------------------------------------------------

  /// Writes a handle in place of each empty one, according to the program.
  class forger final : public handle_porter {
   public:
    explicit forger(stranger& of) : of_(of) {}
    void write(byte_writer& out, core::cell*, const protocol_table&) override {
      const unsigned how = of_.in_.take();
      switch (how % 8) {
        case 0: return out.fixed(std::uint8_t{0});
        case 1:
          out.fixed(static_cast<std::uint8_t>(of_.in_.take()));
          return out.varint(of_.in_.take());
        case 2:
        case 3: {
          const actor_id who = of_.id(4);
          out.fixed(std::uint8_t{2});
          out.fixed(who.low);
          return out.fixed(who.high);
        }
        default:
          out.fixed(std::uint8_t{1});
          out.varint(of_.handles_.size());
          of_.handles_.push_back(how / 8 == 31 ? of_.id(3) : own(how / 8));
      }
    }
    core::cell* read(byte_reader&, const protocol_table&) override { return nullptr; }

   private:
    stranger& of_;
  };

  template <class T>
  packet written(const T& value, frame& f, bool more_handles = false) {
    forger forged(*this);
    byte_writer out(
        {.front = room(), .context = codec_context(static_cast<handle_porter&>(forged))});
    encode_value(out, value);
    if (more_handles)
      for (unsigned n = in_.take() % 4; n != 0; --n) handles_.push_back(id(3));
    append_numbers(out, handles_);
    f.handles = static_cast<std::uint32_t>(handles_.size());
    return std::move(out).finish().value();
  }
  packet payload(frame& f, bool raw) {
    if (!has_payload(f.kind)) return packet::with_room(room(), 0);
    if (raw) {
      f.type = in_.take_long();
      packet p = packet::with_room(room(), 0);
      p.append(in_.take_bytes());
      return p;
    }
    switch (f.kind) {
      case kind::message:
      case kind::request: return message(f);
      case kind::response: return answer(f);
      case kind::error:
      case kind::decode_error:
        f.type = type_id<say>;
        return written(make_error(errc::user, "s", "no"), f);
      case kind::down:
      case kind::exit: return written(exit_reason(static_cast<exit_code>(in_.take() % 8)), f);
      case kind::kill:
        return written(kill_order{exit_reason(exit_code::kill), in_.take() % 2 != 0}, f);
      case kind::resolve:
        return written(
            resolve_order{name(), *(in_.take() % 2 == 0 ? of_host() : of_guest()).described()}, f);
      case kind::resolved:
      case kind::spawned:
        return written(*(in_.take() % 4 != 0 ? of_guest() : of_host()).described(), f);
      default: return written(spawn_of(name()), f);
    }
  }
  std::string name() {
    static constexpr std::array<const char*, 5> all{"host", "guest", "companion", "none", ""};
    return all[in_.take() % all.size()];
  }
  packet message(frame& f) {
    const unsigned which = in_.take();
    const bool more = which >= 128;
    const auto n = static_cast<std::uint8_t>(in_.take());
    const auto as = [&](const auto& value) {
      f.type = type_id<std::remove_cvref_t<decltype(value)>>;
      return written(value, f, more);
    };
    switch (which % 9) {
      case 0: return as(say{n == 1 ? "quit" : n == 2 ? "fail" : std::string(n, 'x')});
      case 1: return as(ask{n - 20});
      case 2:
      case 3: return as(keep{{}, n});
      case 4: return as(crowd{std::vector<ref<guest_type>>(n % 4u), {{"one", 1}}});
      case 5: return as(give{n});
      case 6: return as(later{n});
      case 7: return as(pass{n});
      default: return as(bring{});
    }
  }
  packet answer(frame& f) {
    const unsigned which = in_.take();
    const auto as = [&](const auto& value) {
      f.type = type_id<std::remove_cvref_t<decltype(value)>>;
      return written(value, f, which >= 128);
    };
    if (which % 4 == 0) return as(ref<guest_type>());
    if (which % 4 == 1) return as(say{"no answer"});
    return as(static_cast<std::int64_t>(which));
  }
  spawn_order spawn_of(const std::string& of) {
    const auto n = static_cast<std::int64_t>(in_.take());
    forger forged(*this);
    byte_writer out({.context = codec_context(static_cast<handle_porter&>(forged))});
    const bool is_companion = of == "companion";
    static const base::result<schema> guests = schema_of<std::tuple<std::string, std::int64_t>>();
    static const base::result<schema> companions = schema_of<std::tuple<ref<guest_type>>>();
    if (is_companion)
      encode_value(out, std::tuple<ref<guest_type>>());
    else
      encode_value(out, std::tuple<std::string, std::int64_t>(n == 7   ? "none"
                                                              : n == 8 ? "late"
                                                                       : "one",
                                                              n));
    const packet p = std::move(out).finish().value();
    return {of, {p.bytes().begin(), p.bytes().end()}, is_companion ? *companions : *guests};
  }

  // ---- receiving -------------------------------------------------------------------------------

  void heard(const frame& f) override {
    for (std::uint32_t i = 0; i < f.handles; ++i) ++given_[number_behind(f, i)];
    if (f.kind == kind::resolved) GARRICK_ASSERT(!f.sender == !!f.receiver, "it has one number");
    if ((f.kind == kind::resolved || f.kind == kind::spawned) && f.sender) ++given_[f.sender];
    if (asks(f.kind) || f.kind == kind::monitor) {
      numbers_.push_back(f.number);
      if (numbers_.size() > 16) numbers_.erase(numbers_.begin());
    }
    if (is_answer(f.kind))
      GARRICK_ASSERT(questions_[f.number]-- > 0, "more answers than questions");
    if (f.kind == kind::down) GARRICK_ASSERT(monitors_[f.number]-- > 0, "more ends than monitors");
  }

  program& in_;
  const peer& other_;
  std::vector<actor_id> handles_;            // in the frame that is written
  std::vector<std::uint64_t> numbers_;       // numbers that the node has chosen
  std::map<actor_id, std::uint64_t> given_;  // handles to the node's actors, with their counts
  bool is_sure_ = true;
  std::map<std::uint64_t, std::int64_t> questions_, monitors_;  // the open ones, by number
};

}  // namespace garrick::net::testkit::internal::fuzzed
