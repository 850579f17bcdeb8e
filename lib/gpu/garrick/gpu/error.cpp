#include "garrick/gpu/error.hpp"

#include <string>
#include <string_view>

namespace garrick::gpu {
namespace {

class gpu_category final : public base::error_category {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "garrick.gpu"; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    switch (static_cast<gpu_errc>(code)) {
      case gpu_errc::no_device: return "there is no such device";
      case gpu_errc::device_lost: return "the device is lost";
      case gpu_errc::build_failed: return "the program does not compile";
      case gpu_errc::kernel_not_found: return "the program has no such kernel";
      case gpu_errc::wrong_arguments: return "the kernel takes other arguments";
      case gpu_errc::wrong_size: return "an argument has the wrong number of elements";
      case gpu_errc::empty_argument: return "an argument is empty";
      case gpu_errc::bad_range: return "the device cannot run this range";
      case gpu_errc::out_of_memory: return "the device's memory is used up";
      case gpu_errc::unsupported: return "the device cannot do this";
      case gpu_errc::deadline: return "the device was not done in time";
      case gpu_errc::overload: return "too many requests wait for the device";
      case gpu_errc::other_device: return "an argument lies on another device";
      case gpu_errc::closed: return "the runtime has ended";
      case gpu_errc::driver: return "the driver has failed";
    }
    return {};
  }
};

constinit const gpu_category category{};

}  // namespace

const base::error_category& error_category_of(gpu_errc) noexcept { return category; }

}  // namespace garrick::gpu
