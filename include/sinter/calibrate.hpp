// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calibration, whole: observers and their results, files of parameters, operators on codes. A program that only runs a converted
// operator needs calibrate_convert.hpp and the generated header.
#pragma once

#include "calibrate_convert.hpp"
#include "calibrate_export.hpp"
#include "calibrate_graph.hpp"
#include "calibrate_observe.hpp"
