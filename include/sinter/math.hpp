// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All functions of lane values that are more than one instruction. Each is one published algorithm over the lane
// primitives, with its bound beside it; math_core.hpp says how they are written. This header only gathers them.
#pragma once

#include "math_activation.hpp"
#include "math_divide.hpp"
#include "math_erf.hpp"
#include "math_exp.hpp"
#include "math_log.hpp"
#include "math_power.hpp"
#include "math_trig.hpp"
