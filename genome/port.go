package genome

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Port is an input of a neuron. What arrives at it in a burst is added up apart from what arrives at the others.
type Port struct {
	Name string
	Unit Dimension // of weights and amounts
}

// BySign reports whether an amount needs no port: there is one, or there are two in the same unit, of which the first takes
// amounts ≥ 0 and the second those < 0.
func (m *Model) BySign() bool {
	return len(m.Ports) == 1 || len(m.Ports) == 2 && m.Ports[0].Unit == m.Ports[1].Unit
}

// Unit is the unit of amounts for a port, counted from 1; for 0 that of the first.
func (m *Model) Unit(port int) Dimension { return m.Ports[max(1, port)-1].Unit }

// PortNames are the names of the ports, in order.
func (m *Model) PortNames() (names []string) {
	for _, port := range m.Ports {
		names = append(names, port.Name)
	}
	return names
}

// toKeys are the keys of a mapping that names a port.
func toKeys(area string) []key {
	return []key{
		{Name: "area", Form: formArea, Doc: area},
		{Name: "port", Form: formName, Doc: "input of its model, by name"},
	}
}

// severalOf are such keys where the area may be a list.
func severalOf(keys []key) []key {
	keys[0].Several = true // area
	return keys
}

// target reads an area that takes input, or a mapping of one and a port; the area is −1 after a fault. listed says that a list in a
// file may tell the ports.
func (f *fields) target(name string, listed bool) (area, port int) {
	n, at, k := f.get(name)
	if n == nil || n.Kind != yaml.MappingNode {
		return f.portless(name, listed)
	}
	e, ok := f.p.fields(n, at, k.Keys)
	if !ok {
		return -1, 0
	}
	if e.lacks("area") {
		f.p.fault(n, at, "", "key %q is missing", "area")
	}
	if !e.has("port") {
		return e.portless("area", listed)
	}
	if area = e.inputArea("area"); area < 0 || f.p.g.Areas[area].Model == nil {
		return area, 0
	}
	if port, ok = e.port(&f.p.g.Areas[area]); !ok {
		return -1, 0
	}
	return area, port
}

// portless reads an area alone.
func (f *fields) portless(name string, listed bool) (area, port int) {
	area = f.inputArea(name)
	if area < 0 {
		return area, 0
	}
	a := &f.p.g.Areas[area]
	m := a.Model
	if m == nil || m.BySign() || listed && !slices.ContainsFunc(m.Ports, func(p Port) bool { return p.Unit != m.Ports[0].Unit }) {
		return area, 0
	}
	n, at, _ := f.get(name)
	f.p.fault(n, at, "", "expects a port beside the area, as in to: {area: %s, port: %s}: its model %s has the ports %s", a.Name, m.Ports[0].Name, m.Name, strings.Join(m.PortNames(), ", "))
	return -1, 0
}

// receiver reads the area of a stimulus, and its port.
func (f *fields) receiver() (area, port int) {
	switch {
	case f.has("area") && f.has("to"):
		f.faultKey("to", "", "expects either area or to, found both")
	case f.has("to"):
		return f.target("to", false)
	case f.has("area"):
		return f.portless("area", false)
	case f.lacks("area", "to"):
		f.p.fault(f.node, f.at, "", "key %q is missing", "area")
	}
	return -1, 0
}

// ownPort reads the port of a drive.
func (f *fields) ownPort(a *Area) (port int, ok bool) {
	n, at, k := f.get("to")
	if n == nil {
		if a.Model.BySign() {
			return 0, true
		}
		f.p.fault(f.node, f.at, "", "expects a port, as in to: {port: %s}: the model %s has the ports %s", a.Model.Ports[0].Name, a.Model.Name, strings.Join(a.Model.PortNames(), ", "))
		return 0, false
	}
	e, ok := f.p.fields(n, at, k.Keys)
	if !ok {
		return 0, false
	}
	if n, at, _ := e.get("area"); n != nil && n.Value != a.Name && !slices.Contains(a.Aliases, n.Value) {
		f.p.fault(n, at, a.Name, "expects the area of the drive itself, found %s", found(n))
	}
	return e.port(a)
}

// port reads the name of a port of an area. It is 0 where there is but one.
func (f *fields) port(a *Area) (port int, ok bool) {
	n, at, _ := f.get("port")
	if n == nil {
		f.p.fault(f.node, f.at, "", "key %q is missing; it is one of %s", "port", strings.Join(a.Model.PortNames(), ", "))
		return 0, false
	}
	text, ok := f.p.scalar(n, at, "the name of a port")
	if !ok {
		return 0, false
	}
	names := a.Model.PortNames()
	switch i := slices.Index(names, text); {
	case i < 0:
		f.p.fault(n, at, Nearest(text, names), "expects a port of %s, whose model %s has %s, found %q", a.Name, a.Model.Name, strings.Join(names, ", "), short(text))
		return 0, false
	case len(names) == 1:
		return 0, true
	default:
		return i + 1, true
	}
}
