package main

import (
	"fmt"
	"strings"

	"burst/genome"
)

// inspectPort is an input of an area's neurons.
type inspectPort struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // of weights and amounts; "": a plain number
}

// portsOf lists those of a model.
func portsOf(m *genome.Model) []inspectPort {
	list := []inspectPort{}
	for _, port := range m.Ports {
		list = append(list, inspectPort{port.Name, port.Unit.BaseUnit()})
	}
	return list
}

// portFacts are the ports of the models that have several, a line each.
func (v *inspection) portFacts() (facts []string) {
	models := map[string]bool{}
	for i := range v.Areas {
		a := &v.Areas[i]
		if len(a.Ports) < 2 || models[a.Model] {
			continue
		}
		models[a.Model] = true
		var list []string
		for _, port := range a.Ports {
			list = append(list, strings.TrimSpace(port.Name+" "+port.Unit))
		}
		facts = append(facts, "ports", fmt.Sprintf("of %s: %s", a.Model, strings.Join(list, ", ")))
	}
	return facts
}
