// Package exact holds the functions whose bits must be the same on every machine: counter-based random numbers, and
// exp, expm1, log and the normal quantile. Package math gives other bits with and without fused multiply-add; here every
// product stands in an explicit conversion, which Go never fuses.
package exact
