package runfolder

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"burst/internal/regular"
	"burst/record/internal/tables"
	"burst/record/manifest"
)

// Recording is one table with what its numbers mean.
type Recording struct {
	Table    string                  // one of Tables
	Manifest manifest.Manifest       // of a single file only what the file says itself: genome, connectome, timestep, scale, areas
	Chunks   iter.Seq2[Chunk, error] // may be read again and again

	rows func() (uint64, error) // how many the file says that there are; nil: they are counted
}

// mostTold is how many rows a file is believed to have; more are counted.
const mostTold = 1 << 34

// count is how many rows there are now.
func (r *Recording) count() (rows uint64, err error) {
	if r.rows != nil {
		if rows, err = r.rows(); err == nil && rows <= mostTold {
			return rows, nil
		}
	}
	rows = 0
	for c, err := range r.Chunks {
		if err != nil {
			return 0, err
		}
		rows += uint64(len(c.Burst))
	}
	return rows, nil
}

// OpenRecording opens a .parquet or .arrows file of a run and reads its metadata.
func OpenRecording(path string) (Recording, error) {
	var meta map[string]string
	var err error
	end := filepath.Ext(path)
	switch end {
	case ".parquet":
		meta, err = tables.ParquetMeta(path)
	case ".arrows":
		meta, err = tables.StreamMeta(path)
	default:
		return Recording{}, fmt.Errorf("record: %s: want a run folder, or a .parquet or .arrows file of one", path)
	}
	if err != nil {
		return Recording{}, tables.AsDamage(path, err)
	}
	r := Recording{Table: meta["burst.table"]}
	if !slices.Contains(Tables(), r.Table) {
		return Recording{}, regular.Damaged(path, "table %q found, want one of %v", r.Table, Tables())
	}
	if err := r.Manifest.TakeMetadata(meta); err != nil {
		return Recording{}, regular.Damaged(path, "%v", err)
	}
	if t := tables.Named(r.Table); end == ".parquet" {
		r.Chunks = tables.ReadParquet(path, t, &r.Manifest)
	} else {
		r.Chunks = tables.ReadStream(strings.TrimSuffix(path, end), t, &r.Manifest)
	}
	return r, nil
}
