#pragma once
// What the programs that send Active Messages and must not compile have in common.

#include <span>

#include "viaduct/am/endpoint.hpp"

namespace am = viaduct::am;

void on_short(am::Token&, int, double);
void on_medium(am::Token&, std::span<const int>, int);
void on_bulk(am::Token&, std::span<int>, int);
