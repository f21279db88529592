package record

import (
	"encoding/csv"
	"io"
	"strconv"
)

// csvWriter begins a CSV text; its first error is told by Error after Flush.
func csvWriter(w io.Writer, head []string) *csv.Writer {
	c := csv.NewWriter(w)
	c.Write(head)
	return c
}

func whole(n uint64) string { return strconv.FormatUint(n, 10) }
