// The kernel of many bursts for networks whose delays are several bursts, a unit of its own: others load none of it.
#define BURST_MANY
#define BURST_EVENT
#include "run_bursts.cu"
#include "late_bursts.cu"
#include "sum_bursts.cu"
