// A cell that asks and counts its answers, for tests of a link's duties to it.
//
// Thread safety: one thread's.
#pragma once

#include <garrick/core/seam/handles.hpp>
#include <garrick/core/seam/proxy_cell.hpp>
#include <garrick/core/send.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace link_test {

using namespace garrick;

GARRICK_NO_VIRTUAL_DESTRUCTORS_BEGIN

/// See above. It begins with one strong handle, which is the caller's.
class asking_cell final : public core::proxy_cell {
 public:
  explicit asking_cell(core::environment& env, int& freed) : proxy_cell(env), freed_(freed) {}
  std::string_view type_name() const noexcept override { return "asking"; }

  /// Returns a request of this cell. Its number is `id`.
  [[nodiscard]] core::envelope_ptr request(std::uint64_t id) {
    core::envelope_ptr e(core::detail::make_envelope<int>(1));
    add_strong();
    e->requester = this;
    e->word |= id;
    e->set(core::envelope_flag::request);
    return e;
  }

  std::vector<std::uint64_t> answers;   ///< the numbers of answered requests
  std::vector<std::uint64_t> failures;  ///< the numbers of failed requests

 private:
  ~asking_cell() = default;
  void forward(core::envelope_ptr e, base::instant) noexcept override {
    (e->is(core::envelope_flag::failure) ? failures : answers).push_back(e->id());
  }
  void forward_signal(core::envelope_ptr) noexcept override {}
  void free_self() noexcept override {
    ++freed_;
    delete this;
  }

  int& freed_;
};

GARRICK_NO_VIRTUAL_DESTRUCTORS_END

}  // namespace link_test
