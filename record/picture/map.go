package picture

import (
	"burst/internal/durable"
)

// Map is a table of numbers to be drawn as a heat map.
type Map struct {
	Name        string // of its file, without the ending
	Title, X, Y string
	Key         string      // what the numbers are
	Columns     []string    // from the left
	Rows        []string    // from below
	Values      [][]float64 // of the rows; NaN stays blank
}

// WriteMaps draws maps into a folder, in a format of Formats, and returns the paths of their files.
func WriteMaps(dir, format string, maps []Map) ([]string, error) {
	var files []string
	for i := range maps {
		m := &maps[i]
		h := heat{title: m.Title, x: m.X, y: m.Y, key: m.Key, x1: 1, columns: m.Columns, cells: len(m.Columns) <= 12, empty: "no figures"}
		for k := range m.Rows { // heat's are from the top
			h.rows, h.values = append(h.rows, m.Rows[len(m.Rows)-1-k]), append(h.values, m.Values[len(m.Rows)-1-k])
		}
		p, err := h.picture(m.Name, m.Title)
		if err != nil {
			return nil, err
		}
		data, err := p.Encode(format)
		if err != nil {
			return nil, err
		}
		files = append(files, Into(dir, format)(m.Name))
		if err := durable.Replace(files[i], data); err != nil {
			return nil, err
		}
	}
	return files, nil
}
