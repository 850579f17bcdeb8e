// expect: cannot_be_encoded<
// expect: message.1
// expect: means_nothing_elsewhere
// An object on a device means nothing to another process.
#include <garrick/gpu/device_ref.hpp>
#include <garrick/net/wire/codec.hpp>

struct work {
  int number;
#ifndef GARRICK_CONTROL
  garrick::gpu::device_ref<float> data;
#endif
};

int main() { static_cast<void>(garrick::net::encode(work{})); }
