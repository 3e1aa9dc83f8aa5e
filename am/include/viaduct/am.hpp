#pragma once
/// @file
/// All of Active Messages, for programs to include. docs/guide.md says how they are used.

#include "viaduct/runtime/language.hpp"

#include "viaduct/am/bundle.hpp"
#include "viaduct/am/context.hpp"
#include "viaduct/am/endpoint.hpp"
#include "viaduct/am/future.hpp"
#include "viaduct/am/task.hpp"
#include "viaduct/am/token.hpp"
