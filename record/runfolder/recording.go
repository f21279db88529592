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
