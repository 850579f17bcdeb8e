// The device that the programs of this group measure: the first one, unless `--device name` says
// part of another one's name. On a machine without one the program says so, and which are there.
#pragma once

#include <garrick/gpu/gpu.hpp>

#include <string>

#include "common/measure.hpp"

namespace bench {

inline garrick::gpu::device choose_device(arguments& args, const garrick::gpu::runtime& gpus) {
  const auto found = gpus.first({.name = args.text("device", "")});
  if (!found) {
    std::string why = "no OpenCL device to measure: " + found.error().to_string();
    for (const std::string& refused : gpus.refused()) why += "; " + refused;
    arguments::fail(why);
  }
  return *found;
}

// Names the device in the report, since the figures are this device's.
inline std::string device_text(const garrick::gpu::device& d) {
  const garrick::gpu::device_info& i = d.info();
  std::string text = i.name + ", " + i.platform + " " + i.driver_version + ", " +
                     std::to_string(i.compute_units) + " compute units";
  if (i.type == garrick::gpu::device_type::cpu)
    text += "\nThese are figures from a CPU driver: the device is the processors themselves.";
  return text;
}

}  // namespace bench
