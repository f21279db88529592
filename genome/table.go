package genome

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/plain"
	"burst/internal/tabular"
)

// maxTable is the largest number of projections in a table.
const maxTable = 1 << 20

// tableKeys are the keys of a table of projections.
func tableKeys() []key {
	return []key{{Name: "file", Form: formFile, Required: true, Doc: "table in the genome's folder with a projection in each row: .csv, .parquet, .arrow or .arrows"}}
}

// isTable reports whether an element of the list of projections is a table: it names a file and nothing else.
func isTable(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "file"
}

// table is a table of projections. Each row is read as the mapping that it stands for.
type table struct {
	file  string
	node  *yaml.Node // of the file's name
	at    *path
	names map[string]*cells // by the column's name without its unit
	keys  []key             // of projections, that have a column of their own in it
}

// cells are the texts of a column, "" where a row has none.
type cells struct {
	unit string
	text []string
}

// tableRow is a row that is being read.
type tableRow struct {
	*table
	number uint64 // from 0
	line   func(file string, row uint64) uint64
}

// table reads the table that a mapping names.
func (p *parser) table(n *yaml.Node, at *path) {
	f, ok := p.fields(n, at, tableKeys())
	if !ok {
		return
	}
	node, at, _ := f.get("file")
	if node == nil {
		return
	}
	name, ok := p.scalar(node, at, "the name of a table")
	if !ok {
		return
	}
	t := &table{file: name, node: node, at: at, names: map[string]*cells{}}
	rows := uint64(0)
	err := p.read(name, tabular.Options{
		Header: t.header,
		Allowed: func(n uint64) error {
			if n > maxTable {
				return fmt.Errorf("%d rows, want at most %d", n, maxTable)
			}
			return nil
		},
		Room: func(n uint64) error {
			rows = n
			for _, c := range t.names {
				c.text = make([]string, n)
			}
			return nil
		},
	})
	if p.fileFault(node, at, name, err) {
		return
	}
	for _, k := range projectionKeys() {
		if inTable(&k) && t.names[k.Name] != nil {
			t.keys = append(t.keys, k)
		}
	}
	p.g.Projections = slices.Grow(p.g.Projections, int(rows))
	list := &path{name: "projections"}
	for i := range rows {
		if p.full() {
			break
		}
		p.row = &tableRow{table: t, number: i, line: p.g.lineOf}
		if n := t.row(p, i); n != nil {
			p.projection(n, list.item(int(i)))
		}
	}
	p.row = nil
}

// header finds the columns by their names. Names that begin with an underscore are left to the user.
func (t *table) header(names []string) (found []tabular.Column, err error) {
	for at, name := range names {
		base, unit := cutUnit(name)
		switch {
		case strings.HasPrefix(name, "_"):
			continue
		case base == "":
			return nil, unknownColumn(name, names)
		case t.names[base] != nil:
			return nil, fmt.Errorf("column %q found twice", base)
		}
		c := &cells{unit: unit}
		t.names[base] = c
		found = append(found, tabular.Column{
			Name: name, At: at, Optional: true,
			Text: func(row uint64, s string) string { c.text[row] = cellText(s); return "" },
			Real: func(row uint64, x float64) string { c.text[row] = decimalText(x); return "" },
		})
	}
	for _, name := range []string{"source", "target", "rule"} {
		if t.names[name] == nil {
			return nil, fmt.Errorf("no column %q, want source, target and rule; a list of synapses wants rule: edges beside the file", name)
		}
	}
	return found, nil
}

// decimalText writes a number so that a whole one has digits alone.
func decimalText(x float64) string {
	if math.IsInf(x, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
	}
	if x == float64(int64(x)) && x > -1e15 && x < 1e15 {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// cellText is the text of a cell; of a whole number its digits alone, because programs write 7.0 in a column with gaps.
func cellText(s string) string {
	if s == "+inf" || s == "Infinity" {
		return "inf"
	}
	if strings.ContainsAny(s, ".eE") && numeric(s) == len(s) {
		if x, m := number(s); m == nil {
			return decimalText(x)
		}
	}
	return s
}

// valueColumns are the endings of columns of weights and delays: value, spread, bounds, and what becomes of draws beyond them.
func valueColumns() []string { return []string{"", "_sd", "_min", "_max", "_distribution", "_bounds"} }

// tableColumns are the names of columns that a table may have, without units.
func tableColumns() []string {
	names := []string{"source", "target", "port", "rule"}
	for _, value := range []string{"weight", "delay"} {
		for _, ending := range valueColumns() {
			names = append(names, value+ending)
		}
	}
	for _, k := range projectionKeys() {
		if inTable(&k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// inTable reports whether a key of projections stands in a column of its own.
func inTable(k *key) bool {
	switch k.Form {
	case formWhole, formNumber, formFlag, formChoice, formKernel:
		return k.Name != "rule"
	}
	return false
}

// cutUnit cuts a column's name from the unit behind it; name is empty if there is no such column.
func cutUnit(column string) (name, unit string) {
	known := tableColumns()
	if slices.Contains(known, column) {
		return column, ""
	}
	for _, u := range units() {
		base, is := strings.CutSuffix(column, "_"+u.name)
		if !is || !slices.Contains(known, base) || strings.HasSuffix(base, "_distribution") || strings.HasSuffix(base, "_bounds") {
			continue
		}
		switch k := index(projectionKeys(), keyFor(base)); projectionKeys()[k].Form {
		case formValue, formNumber:
			if d := projectionKeys()[k].Dims; slices.Contains(d, u.dim) || slices.Contains(d, Bursts) && u.dim == Time {
				return base, u.name
			}
		}
	}
	return "", ""
}

// keyFor is the key of a projection that a column belongs to.
func keyFor(column string) string {
	switch column {
	case "source":
		return "from"
	case "target", "port":
		return "to"
	}
	for _, value := range []string{"weight", "delay"} {
		if ending, is := strings.CutPrefix(column, value); is && slices.Contains(valueColumns(), ending) {
			return value
		}
	}
	return column
}

// columnFor is the column that a fault at a key of a projection is about.
func columnFor(key string) string {
	switch key {
	case "from":
		return "source"
	case "to", "area":
		return "target"
	}
	return key
}

func unknownColumn(name string, names []string) error {
	text := fmt.Sprintf("unknown column %q, want one of %s", short(name), strings.Join(tableColumns(), ", "))
	base, _, _ := strings.Cut(name, "_")
	switch near := Nearest(name, tableColumns()); {
	case near != "":
		text += fmt.Sprintf("; did you mean %q?", near)
	case len(names) == 1 && strings.ContainsAny(name, ";\t "):
		text += "; columns are separated by commas"
	case base == "weight" || base == "delay":
		text += "; a unit stands at the end, as in " + base + "_sd_" + map[string]string{"weight": "pA", "delay": "ms"}[base]
	default:
		text += "; begin its name with _ to have it left out"
	}
	return fmt.Errorf("%s", text)
}

// fault moves a fault of a row to the name of its table.
func (r *tableRow) fault(at *path, format string, args []any) (*yaml.Node, *path, string, []any) {
	for at != nil && at.name == "" {
		at = at.up
	}
	row := tabular.Fault{Row: r.number + 1, Line: r.line(r.file, r.number+1), Message: plain.Sprintf(format, args...)}
	if at != nil && at.name != "projections" {
		row.Column = columnFor(at.name)
	}
	return r.node, r.at, "%s: %s", []any{short(r.file), row.Error()}
}

// row is the mapping that a row stands for; nil after a fault.
func (t *table) row(p *parser, i uint64) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Line: t.node.Line, Column: t.node.Column}
	word := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Line: t.node.Line, Column: t.node.Column}
	}
	put := func(into *yaml.Node, key, value string) {
		if value != "" {
			into.Content = append(into.Content, word(key), word(value))
		}
	}
	put(n, "from", t.cell("source", i))
	if port := t.cell("port", i); port != "" {
		to := &yaml.Node{Kind: yaml.MappingNode, Line: t.node.Line, Column: t.node.Column}
		put(to, "area", t.cell("target", i))
		put(to, "port", port)
		n.Content = append(n.Content, word("to"), to)
	} else {
		put(n, "to", t.cell("target", i))
	}
	put(n, "rule", t.cell("rule", i))
	for _, name := range []string{"weight", "delay"} {
		text, wrong := t.value(p, name, i)
		if wrong != "" {
			p.fault(n, &path{name: name}, "", "%s", wrong)
			return nil
		}
		put(n, name, text)
	}
	for k := range t.keys {
		put(n, t.keys[k].Name, t.quantity(t.keys[k].Name, baseUnit(&t.keys[k]), i))
	}
	return n
}

// baseUnit is the unit of a column's numbers where its name gives none.
func baseUnit(k *key) string {
	if k.Form == formNumber {
		return k.Dims[0].BaseUnit()
	}
	return ""
}

// cell is the text of a column in a row; "" if there is none.
func (t *table) cell(name string, i uint64) string {
	if c := t.names[name]; c != nil {
		return c.text[i]
	}
	return ""
}

// quantity is a number with its unit, or another text as it is.
func (t *table) quantity(name, base string, i uint64) string {
	text := t.cell(name, i)
	if text == "" || numeric(text) != len(text) {
		return text
	}
	if unit := t.names[name].unit; unit != "" {
		base = unit
	}
	if base == "" {
		return text
	}
	return text + " " + base
}

// value is the text of a weight or delay: a number, or a distribution with its bounds; or what is wrong with its columns.
func (t *table) value(p *parser, name string, i uint64) (text, wrong string) {
	base := ""
	if name == "weight" {
		base = t.weightUnit(p, i)
	}
	part := func(ending string) string { return t.quantity(name+ending, base, i) }
	mean, sd, low, high := part(""), part("_sd"), part("_min"), part("_max")
	kind, beyond := t.cell(name+"_distribution", i), t.cell(name+"_bounds", i)
	if kind == "" && sd != "" {
		kind = "normal"
	}
	if low == "-inf" {
		low = ""
	}
	if high == "inf" {
		high = ""
	}
	switch {
	case beyond != "" && beyond != "redraw" && beyond != "clip":
		return "", fmt.Sprintf("found %q in %s_bounds, want redraw or clip", short(beyond), name)
	case kind == "" && (low != "" || high != ""):
		return "", fmt.Sprintf("found bounds, but neither %s_sd nor %[1]s_distribution", name)
	case kind == "":
		return mean, ""
	case kind == "uniform" && (mean != "" || sd != "" || low == "" || high == "" || beyond != ""):
		return "", fmt.Sprintf("expects %s_min and %[1]s_max alone for a uniform distribution", name)
	case kind == "uniform":
		return fmt.Sprintf("uniform(%s, %s)", low, high), ""
	}
	text = fmt.Sprintf("%s(%s, %s)", kind, mean, sd)
	if beyond == "clip" {
		return fmt.Sprintf("clip(%s, %s, %s)", text, low, high), ""
	}
	if low != "" {
		text += " >= " + low
	}
	if high != "" {
		text += " <= " + high
	}
	return text, ""
}

// weightUnit is the base unit of the weights of a row, which its target's port gives.
func (t *table) weightUnit(p *parser, i uint64) string {
	area, ok := p.areas[t.cell("target", i)]
	if !ok || area < 0 || p.g.Areas[area].Model == nil {
		return ""
	}
	ports := p.g.Areas[area].Model.Ports
	if at := slices.IndexFunc(ports, func(x Port) bool { return x.Name == t.cell("port", i) }); at >= 0 {
		return ports[at].Unit.BaseUnit()
	}
	if len(ports) == 0 {
		return ""
	}
	return ports[0].Unit.BaseUnit()
}
