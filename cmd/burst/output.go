package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// printJSON writes v as indented JSON.
func printJSON(cmd *cobra.Command, v any) error {
	e := json.NewEncoder(cmd.OutOrStdout())
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// widths are those of the columns of a table, in characters.
func widths(rows [][]string) []int {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	return width
}

// tableWidth is that of a line of a table.
func tableWidth(rows [][]string) int {
	all := -len("  ")
	for _, w := range widths(rows) {
		all += w + len("  ")
	}
	return all
}

// table writes rows of cells, the first row being the heads; all columns but the first are right-aligned.
func table(w io.Writer, rows [][]string) error {
	width := widths(rows)
	for _, row := range rows {
		for i, cell := range row {
			pad := fmt.Sprintf("%*s", width[i]-len([]rune(cell)), "")
			if i == 0 {
				cell += pad
			} else {
				cell = "  " + pad + cell
			}
			if _, err := io.WriteString(w, cell); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// pairs writes "name: value" lines with the values in one column.
func pairs(w io.Writer, kv ...string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := 0; i < len(kv); i += 2 {
		fmt.Fprintf(t, "%s\t%s\n", kv[i], kv[i+1])
	}
	return t.Flush()
}

// count writes a whole number with thousands separated.
func count(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// times writes a factor with three significant figures, from 1,000 on as a whole number.
func times(x float64) string {
	if x < 999.5 {
		return fmt.Sprintf("%.3g", x)
	}
	return count(uint64(math.Round(x)))
}

// seconds writes a time in seconds with three significant figures.
func seconds(s float64) string { return duration(time.Duration(s * float64(time.Second))) }

// duration writes a time with three significant figures.
func duration(d time.Duration) string {
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return fmt.Sprintf("%.3g s", d.Seconds())
	}
	return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
}
