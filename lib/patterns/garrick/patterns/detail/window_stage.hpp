// The running parts of windows: by the tuples' times, by the clock, by number. And of the two nodes
// that windows are when replicas share a watermark: one that finds it and puts it among the tuples,
// and one that goes by it.
//
// A tuple is taken first, and then the watermark moves on, for which the tuple cannot be late. What
// is due then is put out before the next tuple is taken, as there is room. A result that throws is
// one failure, and the others stay.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right.
#pragma once

#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/watermark.hpp>
#include <garrick/patterns/event_time.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// Who gets tuples that are late.
template <class T>
class late_sink {
 public:
  late_sink() = default;
  virtual ~late_sink() = default;
  late_sink(const late_sink&) = delete;
  late_sink& operator=(const late_sink&) = delete;
  virtual void take(T&& late) const = 0;
};
template <class T, class P>
class late_to_actor final : public late_sink<T> {
 public:
  explicit late_to_actor(ref<P> to) : to_(std::move(to)) {}
  void take(T&& late) const override { send(to_, std::move(late)); }

 private:
  ref<P> to_;
};
template <class T>
using late_sink_ptr = std::shared_ptr<const late_sink<T>>;

/// Windows without a key.
struct keyless {
  template <class T>
  no_key operator()(const T&) const noexcept {
    return {};
  }
};

/// What all of them have.
template <class Windows>
class windows_stage : protected asks_tuples {
 public:
  void goes_on_after_failures() noexcept { windows_.goes_on_after_failures(); }
  /// The windows are lost, unless it was a tuple's time or key that has thrown. The watermark is
  /// not, or they would be put out a second time.
  void restart() noexcept {
    if (!has_only_asked()) windows_.clear();
  }
  void give_up() noexcept { windows_.clear(); }
  [[nodiscard]] std::size_t take_lost() noexcept { return windows_.counts().take_lost(); }

 protected:
  explicit windows_stage(Windows w) : windows_(std::move(w)) {}
  template <class KeyOf, class T>
  [[nodiscard]] decltype(auto) key_of(KeyOf& f, const T& in) {
    return asked([&]() -> decltype(auto) { return part_of(f, in); });
  }

  Windows windows_;
};

template <class T, class KeyOf, class Windows>
class counted_stage : public windows_stage<Windows> {
 public:
  counted_stage(KeyOf key, Windows w)
      : windows_stage<Windows>(std::move(w)), key_of_(std::move(key)) {}
  template <class To>
  void consume(T&& in, To& out) {
    decltype(auto) key = this->key_of(key_of_, in);
    this->windows_.take(key, std::move(in), out);
  }
  [[nodiscard]] std::size_t kept() const noexcept { return this->windows_.counts().kept(); }
  void input_has_ended() noexcept { this->windows_.end(); }
  [[nodiscard]] bool under_way() const noexcept { return this->windows_.is_due(); }
  template <class To>
  void go_on(To& out) {
    this->windows_.put_due(out);
  }

 private:
  [[no_unique_address]] KeyOf key_of_;
};

/// By the clock: a tuple's time is when it is taken, and it is never late.
template <class T, class KeyOf, class Windows>
class clock_stage : public windows_stage<Windows> {
 public:
  clock_stage(KeyOf key, Windows w)
      : windows_stage<Windows>(std::move(w)), key_of_(std::move(key)) {}
  void time_is(instant now) noexcept { now_ = now; }
  [[nodiscard]] instant deadline() const noexcept {
    return instant::at(duration::nanoseconds(this->windows_.next()));
  }
  template <class To>
  void on_time(instant now, To& out) {
    watermark_ = now.since_beginning().count();
    go_on(out);
  }
  /// Puts out what there is of all windows. Tuples that come later make new ones of the same times.
  template <class To>
  void flush(To& out) {
    is_flushed_ = true;
    go_on(out);
  }
  template <class To>
  void consume(T&& in, To& /*out*/) {
    if (std::exchange(is_flushed_, false)) this->windows_.watermark_is(watermark_);
    decltype(auto) key = this->key_of(key_of_, in);
    static_cast<void>(this->windows_.take(now_.since_beginning().count(), key, std::move(in)));
  }
  [[nodiscard]] std::size_t held() const noexcept { return this->windows_.counts().kept(); }
  void input_has_ended() noexcept { watermark_ = end_of_time; }
  [[nodiscard]] bool under_way() const noexcept { return this->windows_.is_due(due_until()); }
  template <class To>
  void go_on(To& out) {
    this->windows_.watermark_is(due_until());
    this->windows_.put_due(out);
  }

 private:
  [[nodiscard]] std::int64_t due_until() const noexcept {
    return is_flushed_ ? end_of_time : watermark_;
  }

  [[no_unique_address]] KeyOf key_of_;
  instant now_{};
  std::int64_t watermark_ = watermark::unknown;
  bool is_flushed_ = false;  ///< until it takes the next tuple
};

/// What finds a watermark has. `Idles`: inputs may become idle.
template <class TimeOf, bool Idles>
class by_event_time {
 public:
  void inputs_are(inputs& in) { watermark_.inputs_are(in); }
  void reads_input(std::size_t i) { watermark_.reads(i); }
  void time_is(instant now) noexcept
    requires Idles
  {
    watermark_.time_is(now);
  }
  void was_not_read() noexcept
    requires Idles
  {
    watermark_.was_not_read();
  }
  [[nodiscard]] instant deadline() const noexcept
    requires Idles
  {
    return watermark_.deadline();
  }

 protected:
  by_event_time(TimeOf time, watermark w) : time_of_(std::move(time)), watermark_(std::move(w)) {}

  [[no_unique_address]] TimeOf time_of_;
  watermark watermark_;
};

/// By the tuples' times, in one node.
template <class T, class TimeOf, bool Idles, class KeyOf, class Windows>
class event_stage : public windows_stage<Windows>, public by_event_time<TimeOf, Idles> {
 public:
  event_stage(TimeOf time, watermark w, KeyOf key, Windows windows, late_sink_ptr<T> late)
      : windows_stage<Windows>(std::move(windows)),
        by_event_time<TimeOf, Idles>(std::move(time), std::move(w)),
        key_of_(std::move(key)),
        late_(std::move(late)) {
    this->watermark_.grain_is(this->windows_.grain());
  }
  template <class To>
  void consume(T&& in, To& /*out*/) {
    const std::int64_t t = this->asked([&] { return time_by(this->time_of_, std::as_const(in)); });
    decltype(auto) key = this->key_of(key_of_, in);
    this->windows_.watermark_is(this->watermark_.value());
    this->watermark_.saw(t);
    if (this->windows_.take(t, key, std::move(in))) [[likely]]
      return;
    ++late_count_;
    if (late_) late_->take(std::move(in));
  }
  template <class To>
  void on_time(instant now, To& out) {
    this->watermark_.on_time(now);
    go_on(out);
  }
  [[nodiscard]] std::size_t kept() const noexcept { return this->windows_.counts().kept(); }
  [[nodiscard]] std::size_t take_late() noexcept { return std::exchange(late_count_, 0); }
  void input_has_ended() noexcept { ended_ = true; }
  [[nodiscard]] bool under_way() const noexcept { return this->windows_.is_due(now()); }
  template <class To>
  void go_on(To& out) {
    this->windows_.watermark_is(now());
    this->windows_.put_due(out);
  }

 private:
  [[nodiscard]] std::int64_t now() const noexcept {
    return ended_ ? end_of_time : this->watermark_.value();
  }

  [[no_unique_address]] KeyOf key_of_;
  late_sink_ptr<T> late_;
  std::size_t late_count_ = 0;
  bool ended_ = false;
};

// --- one watermark for several replicas ---

/// A tuple and its time, or a watermark.
template <class T>
struct stamped {
  std::int64_t time;
  std::optional<T> tuple;
};
/// Watermarks are not counted.
template <class T>
inline constexpr bool always_tuples<stamped<T>> = false;
template <class T>
[[nodiscard]] bool is_tuple(const stamped<T>& item) noexcept {
  return item.tuple.has_value();
}
template <class T>
[[nodiscard]] T* content_of(stamped<T>& taken) noexcept {
  return taken.tuple ? &*taken.tuple : nullptr;
}

/// A tuple goes to the replica of its key, a watermark to all.
template <class KeyOf>
class by_key_with_watermarks {
 public:
  static constexpr const char* name = "by_key";
  explicit by_key_with_watermarks(KeyOf key) : keyed_(value_by{std::move(key)}) {}
  template <class T, class Choices>
  std::size_t choose(const stamped<T>& item, const Choices& among) {
    return keyed_.choose(*item.tuple, among);
  }
  /// Does everybody get one like this?
  template <class T>
  [[nodiscard]] static bool is_for_all(const stamped<T>& item) noexcept {
    return !item.tuple;
  }
  template <class T>
  [[nodiscard]] static stamped<T> one_more(const stamped<T>& item) noexcept {
    return {item.time, std::nullopt};
  }

 private:
  struct value_by {
    [[no_unique_address]] KeyOf key;
    template <class T>
    decltype(auto) operator()(const T& of) {
      return part_of(key, of);
    }
  };
  keyed<value_by> keyed_;
};

/// Puts the watermark among the tuples.
template <class T, class TimeOf, bool Idles>
class stamping_stage : public by_event_time<TimeOf, Idles> {
 public:
  stamping_stage(TimeOf time, watermark w)
      : by_event_time<TimeOf, Idles>(std::move(time), std::move(w)) {}
  /// It knows no more than how far time is, which stays true.
  void restart() noexcept {}
  void give_up() noexcept { told_ = this->watermark_.value(); }
  [[nodiscard]] static std::size_t kept() noexcept { return 0; }
  template <class To>
  void consume(T&& in, To& out) {
    const std::int64_t t = time_by(this->time_of_, std::as_const(in));
    // A stamped tuple is built in its slot: a copy would wait for the stores to the original.
    out.put(t, std::move(in));
    this->watermark_.saw(t);
    if (under_way()) go_on(out);
  }
  template <class To>
  void on_time(instant now, To& out) {
    this->watermark_.on_time(now);
    if (under_way()) go_on(out);
  }
  [[nodiscard]] bool under_way() const noexcept { return told_ != this->watermark_.value(); }
  template <class To>
  void go_on(To& out) {
    told_ = this->watermark_.value();
    out.put(told_, std::nullopt);
  }

 private:
  std::int64_t told_ = watermark::unknown;
};

/// Goes by the watermark among its tuples.
template <class T, class KeyOf, class Windows>
class stamped_stage : public windows_stage<Windows> {
 public:
  stamped_stage(KeyOf key, Windows w, late_sink_ptr<T> late)
      : windows_stage<Windows>(std::move(w)), key_of_(std::move(key)), late_(std::move(late)) {}
  template <class To>
  void consume(stamped<T>&& in, To& /*out*/) {
    if (!in.tuple) {
      watermark_ = in.time;
      return;
    }
    decltype(auto) key = this->key_of(key_of_, *in.tuple);
    this->windows_.watermark_is(watermark_);
    if (this->windows_.take(in.time, key, std::move(*in.tuple))) [[likely]]
      return;
    ++late_count_;
    if (late_) late_->take(std::move(*in.tuple));
  }
  [[nodiscard]] std::size_t kept() const noexcept { return this->windows_.counts().kept(); }
  [[nodiscard]] std::size_t take_late() noexcept { return std::exchange(late_count_, 0); }
  void input_has_ended() noexcept { watermark_ = end_of_time; }
  [[nodiscard]] bool under_way() const noexcept { return this->windows_.is_due(watermark_); }
  template <class To>
  void go_on(To& out) {
    this->windows_.watermark_is(watermark_);
    this->windows_.put_due(out);
  }

 private:
  [[no_unique_address]] KeyOf key_of_;
  late_sink_ptr<T> late_;
  std::int64_t watermark_ = watermark::unknown;
  std::size_t late_count_ = 0;
};

}  // namespace garrick::patterns::detail
