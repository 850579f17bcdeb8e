// Kernels of OpenCL as actors: devices, programs, kernels, data that stays on a device, and stages
// of patterns.
//
//   using floats = std::vector<float>;
//   gpu::runtime gpus;   // before the system, so that it is destroyed after it
//   actor_system system;
//   const gpu::program program = gpu::build(system, source, {.on = gpus.find()}).get().value();
//   const auto add =
//       gpu::spawn<floats(floats, floats)>(system, program, "add", gpu::nd_range::per_element());
//   const floats sum = system.request(add, floats{1, 2}, floats{10, 20}).get().value();
//
// Thread safety: see each header.
#pragma once

#include <garrick/gpu/arguments.hpp>
#include <garrick/gpu/device.hpp>
#include <garrick/gpu/device_ref.hpp>
#include <garrick/gpu/error.hpp>
#include <garrick/gpu/figures.hpp>
#include <garrick/gpu/kernel.hpp>
#include <garrick/gpu/pinned.hpp>
#include <garrick/gpu/program.hpp>
#include <garrick/gpu/range.hpp>
#include <garrick/gpu/runtime.hpp>
#include <garrick/gpu/settings.hpp>
#include <garrick/gpu/split.hpp>
#include <garrick/gpu/stage.hpp>
#include <garrick/gpu/transfer.hpp>
