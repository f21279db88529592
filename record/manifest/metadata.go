package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Metadata is what the file of a table says of the run beside its rows.
func (m *Manifest) Metadata(table string) map[string]string {
	areas, err := json.Marshal(m.Areas)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	learning, err := json.Marshal(m.Learning)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	meta := map[string]string{
		"burst.table":           table,
		"burst.format":          fmt.Sprint(Format),
		"burst.genome":          m.Genome,
		"burst.genome_sha256":   m.GenomeSHA256,
		"burst.connectome":      m.Connectome,
		"burst.timestep_ms":     fmt.Sprint(m.Timestep),
		"burst.scale":           fmt.Sprint(m.Scale),
		"burst.areas":           string(areas),
		"burst.unit.burst":      fmt.Sprintf("%g ms", m.Timestep),
		"burst.unit.potential":  "mV (feagi areas: the genome's plain unit; models of the genome's own: as they hold it)",
		"burst.unit.value":      "as the model holds it, absolute; of an input the unit of weights",
		"burst.unit.sum":        fmt.Sprintf("1/%d of the model's input unit", m.Scale),
		"burst.unit.weight":     "of the input of the target's model: mV, pA or plain",
		"burst.time_of_a_spike": "(burst + 1) * timestep_ms",
	}
	if m.Learning != nil {
		meta["burst.learning"] = string(learning)
	}
	if m.Variables != nil {
		names, err := json.Marshal(m.Variables)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		meta["burst.variables"] = string(names)
	}
	return meta
}

// TakeMetadata sets what Metadata tells; an error says what is missing or cannot be.
func (m *Manifest) TakeMetadata(meta map[string]string) error {
	version, err := strconv.Atoi(meta["burst.format"])
	if err != nil || version < 1 || version > Format {
		return fmt.Errorf("format %q found, this version of burst reads formats 1 to %d", meta["burst.format"], Format)
	}
	m.Format, m.Genome, m.GenomeSHA256, m.Connectome = version, meta["burst.genome"], meta["burst.genome_sha256"], meta["burst.connectome"]
	m.Timestep, err = strconv.ParseFloat(meta["burst.timestep_ms"], 64)
	scale, errScale := strconv.ParseInt(meta["burst.scale"], 10, 32)
	m.Scale = int32(scale)
	if err := errors.Join(err, errScale, json.Unmarshal([]byte(meta["burst.areas"]), &m.Areas)); err != nil {
		return err
	}
	if text, said := meta["burst.learning"]; said {
		if err := json.Unmarshal([]byte(text), &m.Learning); err != nil {
			return err
		}
	}
	if text, said := meta["burst.variables"]; said {
		if err := json.Unmarshal([]byte(text), &m.Variables); err != nil {
			return err
		}
	}
	if reason := m.areasFlaw(); reason != "" {
		return errors.New(reason)
	}
	return nil
}
