package tables

import (
	"encoding/csv"
	"io"
	"strconv"
)

// CSV begins a CSV text; its first error is told by Error after Flush.
func CSV(w io.Writer, head []string) *csv.Writer {
	c := csv.NewWriter(w)
	c.Write(head)
	return c
}

// Whole is a number as text.
func Whole(n uint64) string { return strconv.FormatUint(n, 10) }

// RatesHead is the first line of rates.csv; a line follows for each area in each bin.
var RatesHead = []string{"burst", "bursts", "area", "spikes", "rate_hz"}
