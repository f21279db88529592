// Package serve opens a run to clients: frames on a Unix socket, on an inherited socket and on a WebSocket (package wire), and
// routes under /v1 over HTTP. docs/live.md is the page for those who write a client.
//
// # Who may do what
//
// It listens on loopback addresses and in folders of the user alone. Whoever comes over a Unix socket must be of the user, whoever
// comes over HTTP has a token, of which there are two: one to view, one to control. Every request is held to Host, Origin, token,
// scope, rate and size, in this order, also the one that opens a WebSocket. No route opens a path that the network names.
//
// # What is shown
//
// A server has one subject: a live session, on which clients act; a run of package run, which goes its own way (Watch); or a recorded
// run, which a player gives to viewers burst by burst (View). Pictures, rasters and routes are the same for all three.
//
// People see all three on the page, whose files lie in the folder page.
//
// # Who waits for whom
//
// The run waits for the driver alone, and only in lock-step. Viewers are one Recorder, which sets a bit for each neuron that fires.
// Thirty times a second another goroutine takes the bits and makes a picture of them. A viewer who has not yet seen two pictures gets
// no third; what fires meanwhile is added to a picture of its own.
package serve
