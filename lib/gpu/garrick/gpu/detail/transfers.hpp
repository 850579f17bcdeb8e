// Calls without a kernel: transfers, pinned memory, and the figures of a device.
//
// Private: installed because templates need it.
//
// Thread safety: like call.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/gpu/arguments.hpp>
#include <garrick/gpu/detail/call.hpp>
#include <garrick/gpu/device.hpp>
#include <garrick/gpu/error.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace garrick::gpu::detail {

/// A call with an R as its result.
template <class R>
class transfer_call : public call {
 public:
  explicit transfer_call(const std::shared_ptr<internal::device_core>& where) : where_(where) {}

  void answers(completion<R> done) { done_.emplace(std::move(done)); }
  /// Returns the device; null if there is none.
  [[nodiscard]] const std::shared_ptr<internal::device_core>& target() const noexcept {
    return where_;
  }

 protected:
  /// Returns the result. Called once, after success.
  [[nodiscard]] virtual R take() = 0;

 private:
  void fulfil(const error& why) noexcept final {
    const completion<R> done = *std::exchange(done_, std::nullopt);
    if (why) return done.fail(why);
    try {
      done(take());
    } catch (...) { done.fail(make_error(errc::receiver_failed, "no memory for the answer")); }
  }

  const std::shared_ptr<internal::device_core> where_;
  std::optional<completion<R>> done_;
};

/// Gives a call to its device. Fails the call if there is no device, or if an argument has no bytes
/// or too many.
void begin_transfer(std::shared_ptr<call> c, const std::shared_ptr<internal::device_core>& to);

/// Returns the device's setting `gpu.deadline`; infinite without a device.
[[nodiscard]] duration deadline_of(const std::shared_ptr<internal::device_core>& d) noexcept;

/// Begins a call, and returns the response that will have its result. The device's deadline limits
/// the wait for it, unless the caller sets another limit with `within`.
template <class R, class From>
[[nodiscard]] auto transfer(From& from, std::shared_ptr<transfer_call<R>> c) {
  const duration limit = deadline_of(c->target());
  const auto start = [c = std::move(c)](completion<R> done) {
    c->answers(std::move(done));
    begin_transfer(c, c->target());
  };
  const auto ask = [&](auto& me) {
    pending_response<R> p = adapt<R>(me, start);  // `p` refers to no temporary of the caller
    if (!limit.is_infinite()) static_cast<void>(std::move(p).within(limit));
    return p;
  };
  if constexpr (std::is_base_of_v<actor_base, From>)
    return ask(from);
  else
    return system::blocking_response<R>(from.env(), ask);
}

template <class T, class C>
class upload_call final : public transfer_call<device_ref<T>> {
 public:
  upload_call(const device& to, C container)
      : transfer_call<device_ref<T>>(to.core()), container_(std::move(container)) {
    this->what = "an upload";
    this->arguments.push_back({.kind = argument_kind::input,
                               .stays = true,
                               .host = container_.data(),
                               .bytes = container_.size() * sizeof(T)});
  }

 private:
  device_ref<T> take() override { return device_ref<T>(std::move(this->arguments[0].buffer)); }
  C container_;
};

template <class T>
class download_call final : public transfer_call<std::vector<T>> {
 public:
  explicit download_call(device_ref<T>&& from)
      : transfer_call<std::vector<T>>(from ? from.buffer()->owner() : nullptr),
        elements_(from.size()) {
    this->what = "a download";
    this->arguments.push_back({.kind = argument_kind::fetch,
                               .host = elements_.data(),
                               .bytes = elements_.size() * sizeof(T),
                               .buffer = from.buffer()});
    from = {};
  }

 private:
  std::vector<T> take() override {
    this->arguments[0].buffer = {};
    return std::move(elements_);
  }
  std::vector<T> elements_;
};

template <class T>
class pin_call final : public transfer_call<pinned<T>> {
 public:
  pin_call(const device& where, std::size_t elements) : transfer_call<pinned<T>>(where.core()) {
    this->what = "pinned memory";
    this->arguments.push_back({.kind = argument_kind::pin, .bytes = elements * sizeof(T)});
  }

 private:
  pinned<T> take() override { return pinned<T>(std::move(this->arguments[0].host_memory)); }
};

class figures_call final : public transfer_call<device_figures> {
 public:
  explicit figures_call(const device& of) : transfer_call<device_figures>(of.core()) {
    this->what = "figures";
  }
  void looked_at(const device_figures& so_far) noexcept override { figures_ = so_far; }

 private:
  device_figures take() override { return figures_; }
  device_figures figures_;
};

}  // namespace garrick::gpu::detail
