// The kernels of a burst for networks in which some models are the genome's own: custom of neural_dynamics_fcl.cu.
#define BURST_CUSTOM
#define BURST_MOVING
#include "burst.cu"
