// The kernel of many bursts for networks with neurons that change at inputs alone, a unit of its own: others load none of it.
#define BURST_MANY
#define BURST_EVENT
#define BURST_MOVING
#include "event_bursts.cu"
