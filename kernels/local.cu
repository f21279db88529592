// The kernel of many bursts for small networks that learn, whose blocks hold all that their neurons need, a unit of its own: others load none
// of it.
#define BURST_MANY
#define BURST_CUSTOM
#define BURST_LEARN
#define BURST_MOVING
#define BURST_LOCAL
#include "local_bursts.cu"
