// Package eager makes sockets that look for their answer for a moment before they sleep. To fall asleep and be woken takes about 10 µs,
// which is most of the round trip of a short step. Server and client both use it.
package eager
