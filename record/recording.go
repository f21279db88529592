package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Recording is one table with what its numbers mean.
type Recording struct {
	Table    string                  // "spikes", "potentials" or "fcl"
	Manifest Manifest                // of a single file only what the file says itself: genome, connectome, timestep, scale, areas
	Chunks   iter.Seq2[Chunk, error] // may be read again and again
}

// OpenRecording reads what a .parquet or .arrows file that a run has written says of itself.
func OpenRecording(path string) (Recording, error) {
	var meta map[string]string
	var err error
	end := filepath.Ext(path)
	switch end {
	case ".parquet":
		meta, err = parquetMeta(path)
	case ".arrows":
		meta, err = streamMeta(path)
	default:
		return Recording{}, fmt.Errorf("record: %s: want a run folder, or a .parquet or .arrows file of one", path)
	}
	if err != nil {
		return Recording{}, asDamage(path, err)
	}
	r := Recording{Table: meta["burst.table"]}
	if !slices.Contains(Tables(), r.Table) {
		return Recording{}, damaged(path, "table %q found, want one of %v", r.Table, Tables())
	}
	if err := r.Manifest.describe(meta); err != nil {
		return Recording{}, damaged(path, "%v", err)
	}
	if t := tableNamed(r.Table); end == ".parquet" {
		r.Chunks = readParquet(path, t, r.Manifest.Areas)
	} else {
		r.Chunks = readStream(strings.TrimSuffix(path, end), t, r.Manifest.Areas)
	}
	return r, nil
}

// describe takes what schema has put into a file's metadata.
func (m *Manifest) describe(meta map[string]string) error {
	version, err := strconv.Atoi(meta["burst.format"])
	if err != nil || version < 1 || version > format {
		return fmt.Errorf("format %q found, this version of burst reads formats 1 to %d", meta["burst.format"], format)
	}
	m.Format, m.Genome, m.GenomeSHA256, m.Connectome = version, meta["burst.genome"], meta["burst.genome_sha256"], meta["burst.connectome"]
	m.Timestep, err = strconv.ParseFloat(meta["burst.timestep_ms"], 64)
	scale, errScale := strconv.ParseInt(meta["burst.scale"], 10, 32)
	m.Scale = int32(scale)
	if err := errors.Join(err, errScale, json.Unmarshal([]byte(meta["burst.areas"]), &m.Areas)); err != nil {
		return err
	}
	if reason := m.areasFlaw(); reason != "" {
		return errors.New(reason)
	}
	return nil
}

func streamMeta(path string) (map[string]string, error) {
	in, err := openStream(strings.TrimSuffix(path, ".arrows"))
	if err != nil {
		return nil, err
	}
	if in == nil {
		return nil, errors.New("holds no chunk yet")
	}
	defer in.close()
	r, err := ipc.NewReader(in)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema().Metadata().ToMap(), nil
}
