// The running parts of windows: by the tuples' times, by the clock, by number. Also the two stages
// of windows whose replicas share a watermark: the first finds the watermark and puts it among the
// tuples, and the second follows it.
//
// A tuple is taken first, and then the watermark moves on, so the tuple is never late because of
// itself. Due windows are put out before the next tuple is taken, as there is room. Sessions are
// put out between two batches, since one may be due at each tuple. A result that throws is one
// failure, and the other results stay.
//
// Private: installed because templates need it.
//
// Thread safety: the holder of the node's run right.
#pragma once

#include <garrick/patterns/detail/dense_map.hpp>
#include <garrick/patterns/detail/inlet.hpp>
#include <garrick/patterns/detail/running.hpp>
#include <garrick/patterns/detail/watermark.hpp>
#include <garrick/patterns/event_time.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace garrick::patterns::detail {

/// The receiver of tuples that are late.
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

/// The key function of windows without a key.
struct keyless {
  template <class T>
  no_key operator()(const T&) const noexcept {
    return {};
  }
};

/// The common part of the stages of all windows.
template <class Windows>
class windows_stage : public stage_defaults {
 public:
  static constexpr bool has_counts = true;

  void goes_on_after_failures() noexcept { windows_.goes_on_after_failures(); }
  /// Drops the windows, unless a tuple's time or key has thrown. Keeps the watermark: otherwise
  /// windows would be put out a second time.
  void restart() noexcept {
    if (!windows_.has_only_asked()) windows_.clear();
  }
  void give_up() noexcept { windows_.clear(); }
  [[nodiscard]] std::size_t kept() const noexcept { return windows_.counts().kept(); }
  [[nodiscard]] std::size_t take_lost() noexcept { return windows_.counts().take_lost(); }

 protected:
  explicit windows_stage(Windows w) : windows_(std::move(w)) {}
  template <class KeyOf, class T>
  [[nodiscard]] decltype(auto) key_of(KeyOf& f, const T& in) {
    return windows_.asked([&]() -> decltype(auto) { return part_of(f, in); });
  }
  template <class Key>
  [[nodiscard]] std::size_t hash_of_key(const Key& key) {
    return windows_.asked([&] { return hash_of<Key>(key); });
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
  void input_has_ended() noexcept { this->windows_.end(); }
  [[nodiscard]] bool under_way() const noexcept { return this->windows_.is_due(); }
  template <class To>
  void go_on(To& out) {
    this->windows_.put_due(out);
  }

 private:
  [[no_unique_address]] KeyOf key_of_;
};

/// Windows by the clock: a tuple's time is the time when it is taken, and it is never late.
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
  /// Puts out all windows as they are. Tuples that come later make new ones of the same times.
  template <class To>
  void flush(To& out) {
    is_flushed_ = true;
    go_on(out);
  }
  template <class To>
  void consume(T&& in, To& /*out*/) {
    if (std::exchange(is_flushed_, false)) this->windows_.watermark_is(watermark_);
    decltype(auto) key = this->key_of(key_of_, in);
    static_cast<void>(this->windows_.take(now_.since_beginning().count(), key,
                                          this->hash_of_key(key), std::move(in)));
  }
  [[nodiscard]] std::size_t held() const noexcept { return this->windows_.counts().kept(); }
  [[nodiscard]] std::size_t kept() const noexcept { return 0; }  // `held` counts them
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

/// Windows by the tuples' times: a tuple may be late.
template <class T, class KeyOf, class Windows>
class timed_windows : public windows_stage<Windows> {
 public:
  [[nodiscard]] std::size_t take_late() noexcept { return std::exchange(late_count_, 0); }

 protected:
  timed_windows(KeyOf key, Windows w, late_sink_ptr<T> late)
      : windows_stage<Windows>(std::move(w)), key_of_(std::move(key)), late_(std::move(late)) {}
  /// Takes a tuple of time `t`, unless its windows are closed: then the tuple goes to the sink for
  /// late ones.
  template <class Key>
  void take_at(std::int64_t t, const Key& key, std::size_t hash, T&& in) {
    if (this->windows_.take(t, key, hash, std::move(in))) [[likely]]
      return;
    ++late_count_;
    if (late_) late_->take(std::move(in));
  }

  [[no_unique_address]] KeyOf key_of_;

 private:
  late_sink_ptr<T> late_;
  std::size_t late_count_ = 0;
};

/// A stage, Base, that finds a watermark. `Idles`: inputs may become idle.
template <class Base, class TimeOf, bool Idles>
class by_event_time : public Base {
 public:
  void inputs_are(inputs& in) { watermark_.inputs_are(in); }
  void reads_input(std::size_t i) { watermark_.reads(i); }
  void time_is(instant now) noexcept { watermark_.time_is(now); }
  void was_not_read() noexcept { watermark_.was_not_read(); }
  [[nodiscard]] instant deadline() const noexcept
    requires Idles
  {
    return watermark_.deadline();
  }

 protected:
  template <class... OfBase>
  by_event_time(TimeOf time, watermark w, OfBase&&... of_base)
      : Base(std::forward<OfBase>(of_base)...),
        time_of_(std::move(time)),
        watermark_(std::move(w)) {}

  [[no_unique_address]] TimeOf time_of_;
  watermark watermark_;
};

/// Windows by the tuples' times, in one node.
template <class T, class TimeOf, bool Idles, class KeyOf, class Windows>
class event_stage : public by_event_time<timed_windows<T, KeyOf, Windows>, TimeOf, Idles> {
  using base = by_event_time<timed_windows<T, KeyOf, Windows>, TimeOf, Idles>;

 public:
  event_stage(TimeOf time, watermark w, KeyOf key, Windows windows, late_sink_ptr<T> late)
      : base(std::move(time), std::move(w), std::move(key), std::move(windows), std::move(late)) {
    this->watermark_.grain_is(this->windows_.grain());
  }
  template <class To>
  void consume(T&& in, To& /*out*/) {
    if constexpr (Windows::needs_every_watermark) amid_batch_ = true;
    const std::int64_t t =
        this->windows_.asked([&] { return time_by(this->time_of_, std::as_const(in)); });
    decltype(auto) key = this->key_of(this->key_of_, in);
    const std::size_t hash = this->hash_of_key(key);
    this->windows_.watermark_is(this->watermark_.value());
    this->watermark_.saw(t);  // not for a tuple whose time, key or hash has thrown
    this->take_at(t, key, hash, std::move(in));
  }
  template <class To>
  void on_time(instant now, To& out) {
    this->watermark_.on_time(now);
    go_on(out);
  }
  /// Called at the beginning of each step, also of the one after the last batch.
  void inputs_are(inputs& in) {
    amid_batch_ = false;
    base::inputs_are(in);
  }
  void input_has_ended() noexcept { ended_ = true; }
  [[nodiscard]] bool under_way() const noexcept {
    return this->windows_.is_due(now()) && (!amid_batch_ || this->windows_.is_overfull());
  }
  template <class To>
  void go_on(To& out) {
    this->windows_.watermark_is(now());
    this->windows_.put_due(out);
  }

 private:
  [[nodiscard]] std::int64_t now() const noexcept {
    return ended_ ? end_of_time : this->watermark_.value();
  }

  bool ended_ = false;
  bool amid_batch_ = false;  ///< used for windows that need every watermark
};

// --- one watermark for several replicas ---

/// A tuple and its time, or a watermark.
template <class T>
struct stamped {
  using garrick_perhaps_a_tuple = void;
  std::int64_t time;
  std::optional<T> tuple;

  [[nodiscard]] stamped without_tuple() const noexcept { return {time, std::nullopt}; }
};
/// A tuple, its time and the watermark that it meets; or a watermark alone.
template <class T>
struct marked {
  using garrick_perhaps_a_tuple = void;
  std::int64_t time;
  std::int64_t watermark;
  std::optional<T> tuple;

  [[nodiscard]] marked without_tuple() const noexcept { return {time, watermark, std::nullopt}; }
};
/// The policy that sends a tuple to the replica of its key, and a watermark to all. A tuple whose
/// key or hash throws is a failure of the node that sends it, even if there is one replica, and
/// does not move the watermark.
template <class KeyOf>
class by_key_with_watermarks {
 public:
  static constexpr const char* name = "by_key";
  static constexpr bool may_refuse = true;
  explicit by_key_with_watermarks(KeyOf key) : key_(std::move(key)) {}
  template <class Item, class Choices>
  std::size_t choose(const Item& item, const Choices& among) {
    decltype(auto) key = part_of(key_, *item.tuple);
    return member_of_hash(hash_of<std::decay_t<decltype(key)>>(key), among.size());
  }
  /// Returns true if all replicas get an item like this.
  template <class Item>
  [[nodiscard]] static bool is_for_all(const Item& item) noexcept {
    return !item.tuple;
  }
  template <class Item>
  [[nodiscard]] static Item one_more(const Item& item) noexcept {
    return item.without_tuple();
  }

 private:
  [[no_unique_address]] KeyOf key_;
};
using awaited_ptr = std::shared_ptr<awaited_watermarks>;
/// The same, but a watermark goes only to the replicas that wait for it.
template <class KeyOf>
class by_key_with_awaited : public by_key_with_watermarks<KeyOf> {
 public:
  by_key_with_awaited(KeyOf key, awaited_ptr awaited)
      : by_key_with_watermarks<KeyOf>(std::move(key)), awaited_(std::move(awaited)) {}
  template <class T>
  [[nodiscard]] bool goes_to(const marked<T>& item, std::size_t i) const noexcept {
    return awaited_->awaits(i, item.watermark);
  }

 private:
  awaited_ptr awaited_;
};

/// Puts the watermark among the tuples.
template <class T, class TimeOf, bool Idles>
class stamping_stage : public by_event_time<stage_defaults, TimeOf, Idles> {
 public:
  stamping_stage(TimeOf time, watermark w)
      : by_event_time<stage_defaults, TimeOf, Idles>(std::move(time), std::move(w)) {}
  /// Does nothing: the stage's whole state is the progress of time, which stays true.
  void restart() noexcept {}
  void give_up() noexcept { told_ = this->watermark_.value(); }
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

/// Follows the watermarks among its tuples.
template <class T, class KeyOf, class Windows>
class stamped_stage : public timed_windows<T, KeyOf, Windows> {
 public:
  stamped_stage(KeyOf key, Windows w, late_sink_ptr<T> late)
      : timed_windows<T, KeyOf, Windows>(std::move(key), std::move(w), std::move(late)) {}
  template <class To>
  void consume(stamped<T>&& in, To& /*out*/) {
    if (!in.tuple) {
      watermark_ = in.time;
      return;
    }
    decltype(auto) key = this->key_of(this->key_of_, *in.tuple);
    this->windows_.watermark_is(watermark_);
    this->take_at(in.time, key, this->hash_of_key(key), std::move(*in.tuple));
  }
  void input_has_ended() noexcept { watermark_ = end_of_time; }
  [[nodiscard]] bool under_way() const noexcept { return this->windows_.is_due(watermark_); }
  template <class To>
  void go_on(To& out) {
    this->windows_.watermark_is(watermark_);
    this->windows_.put_due(out);
  }

 private:
  std::int64_t watermark_ = watermark::unknown;
};

// --- the same for windows that need every watermark ---

/// Puts beside each tuple the watermark that it meets. Watermarks alone follow between two batches,
/// if a replica may wait for them: replicas without tuples have windows to close, too.
template <class T, class TimeOf, bool Idles>
class marking_stage : public by_event_time<stage_defaults, TimeOf, Idles> {
  using base = by_event_time<stage_defaults, TimeOf, Idles>;

 public:
  marking_stage(TimeOf time, watermark w) : base(std::move(time), std::move(w)) {}
  /// Sets the object in which replicas say which watermarks they wait for. Before the first tuple.
  void looks_at(awaited_ptr awaited) noexcept { awaited_ = std::move(awaited); }

  /// Does nothing: the stage's whole state is the progress of time, which stays true.
  void restart() noexcept {}
  void give_up() noexcept { is_told(); }
  /// Called at the beginning of each step, also of the one after the last batch.
  void inputs_are(inputs& in) {
    base::inputs_are(in);
    look();
  }
  template <class To>
  void consume(T&& in, To& out) {
    const std::int64_t t = time_by(this->time_of_, std::as_const(in));
    // A tuple is built in its slot: a copy would wait for the stores to the original.
    out.put(t, this->watermark_.value(), std::move(in));
    this->watermark_.saw(t);
  }
  template <class To>
  void on_time(instant now, To& out) {
    this->watermark_.on_time(now);
    look();
    if (under_way()) go_on(out);
  }
  [[nodiscard]] bool under_way() const noexcept { return tells_; }
  template <class To>
  void go_on(To& out) {
    is_told();
    out.put(told_, told_, std::nullopt);
  }

 private:
  void look() noexcept {
    const std::int64_t w = this->watermark_.value();
    tells_ = w != told_ && awaited_->some_awaits(w);
  }
  void is_told() noexcept {
    told_ = this->watermark_.value();
    tells_ = false;
  }

  awaited_ptr awaited_;
  std::int64_t told_ = watermark::unknown;
  bool tells_ = false;
};

/// Follows the watermarks that its tuples meet, and watermarks that come alone.
template <class T, class KeyOf, class Windows>
class marked_stage : public timed_windows<T, KeyOf, Windows> {
 public:
  marked_stage(KeyOf key, Windows w, late_sink_ptr<T> late)
      : timed_windows<T, KeyOf, Windows>(std::move(key), std::move(w), std::move(late)) {}
  /// Makes this stage replica `number`, which says in `awaited` which watermarks it waits for.
  /// Called before the first tuple.
  void says_to(awaited_ptr awaited, std::size_t number) noexcept {
    awaited_ = std::move(awaited);
    number_ = number;
  }
  [[nodiscard]] std::int64_t shortest() const noexcept { return this->windows_.shortest(); }

  template <class To>
  void consume(marked<T>&& in, To& /*out*/) {
    amid_batch_ = true;
    watermark_ = in.watermark;
    this->windows_.watermark_is(watermark_);
    if (!in.tuple) return say();
    if (watermark_ >= says_at_) say();
    decltype(auto) key = this->key_of(this->key_of_, *in.tuple);
    this->take_at(in.time, key, this->hash_of_key(key), std::move(*in.tuple));
  }
  void inputs_are(inputs& /*in*/) noexcept { amid_batch_ = false; }
  void reads_input(std::size_t /*i*/) noexcept {}
  void input_has_ended() noexcept { watermark_ = end_of_time; }
  [[nodiscard]] bool under_way() const noexcept {
    return this->windows_.is_due(watermark_) && (!amid_batch_ || this->windows_.is_overfull());
  }
  template <class To>
  void go_on(To& out) {
    this->windows_.watermark_is(watermark_);
    this->windows_.put_due(out);
    say();
  }

 private:
  /// Says which watermark the replica waits for. While a result is due, and at the end, it says
  /// nothing.
  void say() noexcept {
    if (this->windows_.is_due(watermark_) || watermark_ == end_of_time) return;
    awaited_->says(number_, watermark_, this->windows_.next());
    // now and then even if nothing is due: a replica that says nothing would be sent each watermark
    says_at_ = watermark_ + std::max(this->windows_.shortest() / 4, std::int64_t{1});
  }

  awaited_ptr awaited_;
  std::size_t number_ = 0;
  std::int64_t watermark_ = watermark::unknown;
  std::int64_t says_at_ = watermark::unknown;
  bool amid_batch_ = false;
};

}  // namespace garrick::patterns::detail
