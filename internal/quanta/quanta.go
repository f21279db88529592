// Package quanta has the rules by which amounts become whole numbers of quanta, and delays whole numbers of bursts.
package quanta

import (
	"fmt"
	"math"
)

const (
	MaxScale = 1 << 24 // quanta per unit
	MaxDelay = 65_535  // bursts
	Overflow = 1 << 31 // the magnitude that stands for every amount outside int32

	MaxApart = 255 // bursts, of delays of synapses that learn by FEAGI's rules or follow the potential of their source
)

// Nearest rounds to a whole number, halves away from zero.
func Nearest(x float64) float64 {
	a := math.Abs(x)
	whole := math.Floor(a)
	if a-whole >= 0.5 {
		whole++
	}
	return math.Copysign(whole, x)
}

// belowHalf is the largest number below 1/2.
const belowHalf = 0x1.fffffffffffffp-2

// Of is value·scale to the nearest whole, halves away from zero; ±Overflow where int32 cannot hold it.
func Of(value, scale float64) int64 {
	x := float64(value * scale)
	if math.Abs(x) < 1<<31-1 {
		return Small(x)
	}
	q := Nearest(x)
	if math.Abs(q) > math.MaxInt32 {
		q = math.Copysign(Overflow, q)
	}
	return int64(q)
}

// Small is Of for a product that int32 holds: many are rounded without a call for each.
func Small(product float64) int64 {
	return int64(product + math.Copysign(belowHalf, product)) // a half itself, and no less, makes the sum round up to the next whole
}

// Magnitude is |q|.
func Magnitude(q int64) uint64 { return uint64(max(q, -q)) }

// Clamp is the nearest to q that int32 holds, its smallest value excepted.
func Clamp(q int64) int32 { return int32(max(-math.MaxInt32, min(q, math.MaxInt32))) }

// TooSmall is an error text if an amount other than 0 becomes 0 quanta, else empty.
func TooSmall(amount, scale float64) string {
	if amount == 0 || Of(amount, scale) != 0 {
		return ""
	}
	need := math.Ceil(0.5 / math.Abs(amount))
	if need > MaxScale {
		return fmt.Sprintf("%v becomes 0 quanta even at the largest scale, %d; use a smaller unit for the whole network", amount, MaxScale)
	}
	return fmt.Sprintf("%v becomes 0 quanta at scale %.0f; write scale: %.0f or more", amount, scale, need)
}

// TooLarge is an error text if int32 cannot hold an amount by itself, else empty.
func TooLarge(amount, scale float64) string {
	if Magnitude(Of(amount, scale)) < Overflow {
		return ""
	}
	fits := math.Floor(math.MaxInt32 / math.Abs(amount))
	if Magnitude(Of(amount, fits+1)) < Overflow { // up to half a quantum more is rounded down
		fits++
	}
	advice := "not even scale: 1 holds it; use a larger unit for the whole network"
	if fits > 0 {
		advice = fmt.Sprintf("the largest scale that holds it is %.0f", fits)
	}
	return fmt.Sprintf("%v becomes more than %d quanta at scale %.0f; %s", amount, math.MaxInt32, scale, advice)
}

// Delay rounds a delay to whole bursts, and reports whether a synapse can have it where most is the longest.
func Delay(bursts float64, most int) (nearest float64, ok bool) {
	d := Nearest(bursts)
	return d, 1 <= d && d <= float64(most)
}
