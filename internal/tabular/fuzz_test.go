package tabular

import (
	"bytes"
	"encoding/csv"
	"testing"
)

// FuzzCSV gives the reader any text, cut into pieces of any size: it must not panic, must give the same for one piece as
// for many, and every value must be as wanted.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("source,target,weight,delay,port\n1,2,-0.5,3,1\n4,5,6e-3,255,0\n"), uint16(7))
	f.Add([]byte("\ufeffsource,target,delay_ms,_n\r\n1,2,25.5,\"a, b\"\r\n\r\n99,-1,nan,\n"), uint16(3))
	f.Add([]byte("source,target,weight,weight\n1,2,3,4\n"), uint16(62))
	f.Add([]byte("source,target,_n\n1,2,\"a\nb\"\n3,4,\"\n"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, piece uint16) {
		read := func(piece int64, threads int) (*pair, error) {
			l := pairs(t)
			l.Threads = threads
			c, err := openCSV(bytes.NewReader(text), int64(len(text)), piece)
			if err != nil {
				return l, err
			}
			return l, l.readPieces(c)
		}
		whole, err := read(1<<20, 1)
		cut, err2 := read(int64(piece)+1, 3)
		if bytes.IndexByte(text, '"') >= 0 {
			return // rows over several lines are wrong at the piece that they begin in
		}
		if (err == nil) != (err2 == nil) || err == nil && (len(whole.source) != len(cut.source) || len(whole.faults.found) != len(cut.faults.found)) {
			t.Fatalf("%v and %v: %d and %d rows", err, err2, len(whole.source), len(cut.source))
		}
		if err != nil || len(whole.faults.found) > 0 {
			return
		}
		for i := range whole.source {
			if whole.source[i] >= 70 || whole.source[i] != cut.source[i] || whole.target[i] != cut.target[i] {
				t.Fatalf("row %d: %d", i, whole.source[i])
			}
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil || len(rows)-1 != len(whole.source) {
			t.Fatalf("%d rows, encoding/csv finds %d: %v", len(whole.source), len(rows)-1, err)
		}
	})
}
