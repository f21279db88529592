// Package wire is what clients of `burst serve` and the server say to each other: frames, the same on a Unix socket, an inherited
// socket and a WebSocket, and a client in Go. All numbers are little-endian.
//
//	header   u32 bytes of the body, u8 type, u8 version = 1, u16 0, u64 burst
//	amounts  u16 handle, u16 coding, u32 count, then f32 × count (coding 0), or u32 entries × count and f32 × count (coding 1)
//
//	type        from    burst              body
//	1  hello    both    0; next            JSON: Hello; Welcome
//	2  view     server  next               u32 bursts, u16 areas, u16 0; each u16 area, u8 coding, u8 grain, f32 Hz, u32 bytes, data
//	3  raster   server  the first          u32 bursts, u32 lost, u32 n; n times u16 bursts after the first, u16 neuron
//	4  step     driver  it begins at       u32 bursts, u16 inputs, u16 0; amounts of each
//	5  stepped  server  next               u64 digest, u64 spikes, u16 outputs, u16 0; each u16 handle, u16 kind, u32 count, u32 or f32 × count
//	6  feed     feeder  not before; 0 now  u16 inputs, u16 0; amounts of each
//	7  notice   server  next               JSON: Notice
//	8  control  client  0                  JSON: Control; answered by a notice
//	9  seen     viewer  that of the view   nothing
//	10 bind     both    0                  JSON: Bind; Bound
//
// The data of a view's area is padded to 4 bytes. Its coding is 1: varints, the first point that has fired and then what each is more
// than the one before it; 2: a bit for each point, the lowest first; 3: a byte for each point, of how many neurons have fired, 255 at
// most. Without anything that has fired an area has no data, and coding 0.
package wire
