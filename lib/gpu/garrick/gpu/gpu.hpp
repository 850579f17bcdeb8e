// Kernels of OpenCL as actors: devices, programs, kernels, data that stays on a device, and stages
// of patterns.
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
