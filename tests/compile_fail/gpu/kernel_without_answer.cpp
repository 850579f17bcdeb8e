// expect: garrick: this kernel answers with nothing: name an output, or an in_out argument
// max-lines: clang 16: the check is a class of its own, since more errors follow one in the middle
// A kernel without an answer for its results.
#include <garrick/gpu/kernel.hpp>

using namespace garrick;
using floats = std::vector<float>;
#ifdef GARRICK_CONTROL
using signature = void(gpu::in_out<floats>);
#else
using signature = void(floats);
#endif

gpu::kernel_ref<signature> f(actor_system& system, gpu::program p) {
  return gpu::spawn<signature>(system, p, "k", gpu::nd_range(1));
}

int main() {}
