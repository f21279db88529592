// The kernels of many bursts for callers that act between them, a unit of its own: others load none of it.
#define BURST_MANY
#define BURST_LASTING
#include "lasting_bursts.cu"
