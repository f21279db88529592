package record

// chunkRows is how many rows make a chunk at least; it ends with the burst that reaches them.
const chunkRows = 1 << 18
