package tabular

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	pieceSize = 4 << 20  // bytes of a CSV file that are read or written at a time
	maxLine   = 64 << 10 // bytes, without the line's end
)

// csvFile is a CSV file cut into pieces of whole lines: a line belongs to the piece in which it begins.
type csvFile struct {
	f     File
	start int64 // of the line behind the header
	size  int64
	piece int64
	names []string
}

func openCSV(f File, size, piece int64) (*csvFile, error) {
	head := make([]byte, min(size, int64(lineRoom)))
	if _, err := f.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	line, _, found := cutLine(head)
	if len(line) > maxLine {
		return nil, fmt.Errorf("line 1: a line of more than %d bytes, want a header", maxLine)
	}
	end := len(head)
	if found {
		end = bytes.IndexByte(head, '\n') + 1
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(head[:end], []byte("\ufeff"))))
	r.TrimLeadingSpace = true
	names, err := r.Read()
	switch {
	case err == io.EOF:
		return nil, errors.New("no header, want a first line with names of columns")
	case err != nil:
		return nil, fmt.Errorf("header: %w", parseError(err))
	}
	for i := range names {
		names[i] = strings.TrimRight(names[i], " \t")
	}
	return &csvFile{f: f, start: int64(end), size: size, piece: piece, names: names}, nil
}

// lineRoom is how far to read for the end of a line: where it is not met, the line is too long.
const lineRoom = maxLine + len("\r\n")

// cutLine cuts the first line of a text, without its end, from what is behind it; found says whether its end was there.
func cutLine(text []byte) (line, rest []byte, found bool) {
	line, rest, found = bytes.Cut(text, []byte("\n"))
	if found {
		line = bytes.TrimSuffix(line, []byte("\r"))
	}
	return line, rest, found
}

func parseError(err error) error {
	if e := (*csv.ParseError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

func (c *csvFile) pieces() int { return int((c.size - c.start + c.piece - 1) / c.piece) }

// lines reads the lines that begin in piece i into buf, which grows to a piece and a line. One that is too long is cut off
// where it is known to be so.
func (c *csvFile) lines(i int, buf *[]byte) ([]byte, error) {
	first := c.start + int64(i)*c.piece
	lead := min(int64(i), 1) // the byte before the piece, which tells whether a line begins with it
	last := lead + c.piece - 1
	most := min(last+int64(lineRoom), c.size-first+lead)
	*buf = slices.Grow((*buf)[:0], int(most))[:most]
	if n, err := c.f.ReadAt(*buf, first-lead); err != nil && err != io.EOF {
		return nil, err
	} else if int64(n) < most {
		return nil, io.ErrUnexpectedEOF
	}
	text := *buf
	begin := int64(0)
	if lead > 0 {
		begin = int64(bytes.IndexByte(text, '\n')) + 1
		if begin == 0 || begin > c.piece {
			return nil, nil // inside a line that begins before
		}
	}
	if last < most {
		if length := bytes.IndexByte(text[last:], '\n'); length >= 0 {
			text = text[:last+int64(length)+1]
		}
	}
	return text[begin:], nil
}

// readCSV counts the rows of every piece, makes room, and reads the pieces.
func (r *reader) readCSV(f File, size int64) error {
	c, err := openCSV(f, size, pieceSize)
	if err != nil {
		return err
	}
	return r.readPieces(c)
}

// span is where a piece of a CSV file stands: rows and lines before it, and its rows.
type span struct{ row, line, rows uint64 }

func (r *reader) readPieces(c *csvFile) error {
	if err := r.header(c.names); err != nil {
		return err
	}
	counts, long := make([]span, c.pieces()), make([]span, c.pieces())
	err := r.each(c, func(i int, text []byte) {
		counts[i].rows, counts[i].line, long[i] = countLines(text, math.MaxUint64)
	})
	if err != nil {
		return err
	}
	row, line := uint64(0), uint64(1)
	for i, n := range counts {
		if at := long[i]; at.line > 0 {
			return Faults{{Row: row + at.row, Line: line + at.line, Message: fmt.Sprintf("a line of more than %d bytes, want at most so many", maxLine)}}
		}
		counts[i].row, counts[i].line = row, line
		row, line = row+n.rows, line+n.line
	}
	if err := r.room(row); err != nil {
		return err
	}
	return r.each(c, func(i int, text []byte) { r.parse(text, counts[i], len(c.names)) })
}

// each calls work on every piece, several at a time.
func (r *reader) each(c *csvFile, work func(i int, text []byte)) error {
	var g errgroup.Group
	buffers := make(chan []byte, r.Threads)
	for range r.Threads {
		buffers <- nil
	}
	g.SetLimit(r.Threads)
	for i := range c.pieces() {
		g.Go(func() error {
			buf := <-buffers
			defer func() { buffers <- buf }()
			text, err := c.lines(i, &buf)
			if err == nil {
				work(i, text)
			}
			return err
		})
	}
	return g.Wait()
}

// Line is the line of a CSV file that a row stands in, both from 1, as Read counts them; 0 in files of other formats.
func Line(f File, name string, row uint64) (uint64, error) {
	if Format(name) != ".csv" {
		return 0, nil
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	c, err := openCSV(f, size, pieceSize)
	if err != nil {
		return 0, err
	}
	return c.line(row)
}

// line looks for the line of a row that the file has.
func (c *csvFile) line(row uint64) (uint64, error) {
	line, buf := uint64(1), []byte(nil)
	for i := range c.pieces() {
		text, err := c.lines(i, &buf)
		if err != nil {
			return 0, err
		}
		rows, lines, _ := countLines(text, row)
		row, line = row-rows, line+lines
		if row == 0 {
			break
		}
	}
	return line, nil
}

// countLines gives the rows of whole lines and the lines, of which empty ones are no rows, up to the last of most rows; long is
// where the first line stands that is too long, both counted from 1.
func countLines(text []byte, most uint64) (rows, lines uint64, long span) {
	for len(text) > 0 && rows < most {
		line, rest, _ := cutLine(text)
		text = rest
		lines++
		if len(line) > 0 {
			rows++
		}
		if len(line) > maxLine && long.line == 0 {
			long = span{row: rows, line: lines}
		}
	}
	return rows, lines, long
}

// parse reads the rows of a piece.
func (r *reader) parse(text []byte, where span, fields int) {
	c := csv.NewReader(bytes.NewReader(text))
	c.ReuseRecord, c.TrimLeadingSpace, c.FieldsPerRecord = true, true, fields
	for i := where.row; ; i++ {
		record, err := c.Read()
		if err == io.EOF && i == where.row+where.rows {
			return
		}
		if err == io.EOF || i == where.row+where.rows {
			r.faults.add(Fault{Row: where.row + 1, Line: where.line + 1, Message: "a text in quotes goes over the end of its line, in this row or a later one, want every row in one line"})
			return
		}
		fault := func(name string, wrong string) {
			line := 1
			if e := (*csv.ParseError)(nil); errors.As(err, &e) {
				line = e.Line
			} else {
				line, _ = c.FieldPos(0)
			}
			r.faults.add(Fault{Row: i + 1, Line: where.line + uint64(line), Column: name, Message: wrong})
		}
		switch {
		case errors.Is(err, csv.ErrFieldCount):
			fault("", fmt.Sprintf("%d columns, want %d as in the header", len(record), fields))
		case err != nil:
			fault("", parseError(err).Error())
		default:
			for k := range r.columns {
				if wrong := r.columns[k].field(i, record[r.columns[k].At]); wrong != "" {
					fault(r.columns[k].Name, wrong)
				}
			}
		}
	}
}

// field reads one field.
func (c *Column) field(row uint64, s string) (wrong string) {
	s = strings.TrimRight(s, " \t")
	switch {
	case s == "" && c.Optional:
		return ""
	case c.Text != nil:
		return c.text(row, s)
	case c.Real != nil:
		return c.decimal(row, s)
	}
	x, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return fmt.Sprintf("%q, want a whole number", Clip(s))
	}
	return c.Whole(row, x)
}

// decimal reads a number that may have a fraction: decimal digits, as other programs write it, not as Go does.
func (c *Column) decimal(row uint64, s string) (wrong string) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(x, 0) || strings.ContainsAny(s, "_xX") {
		return fmt.Sprintf("%q, want a number", Clip(s))
	}
	if x == 0 && !isZero(s) {
		return fmt.Sprintf("%s is too small for a number of 64 bits, want 0 or a larger one", Clip(s))
	}
	return c.Real(row, x)
}

// isZero says whether all digits of a number are 0, but for its exponent.
func isZero(s string) bool {
	digits, _, _ := strings.Cut(strings.ToLower(s), "e")
	return !strings.ContainsAny(digits, "123456789")
}
