// The kernels of projections that learn (plastic.cuh), a unit of its own: networks without them load none of it. It has places for the
// code of rules, rule_program, and of models of genomes.
#define BURST_MANY
#define BURST_CUSTOM
#define BURST_LEARN
#define BURST_MOVING
#include "learn_ranges.cu"
