package record

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFoldersOfStrangers: a run folder in which files are devices, folders or endless is refused; nobody waits for it and
// nobody reads it into memory.
func TestFoldersOfStrangers(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"device":  func(path string) error { return os.Symlink("/dev/zero", path) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"endless": func(path string) error { return sparse(path, 1<<40) },
	} {
		for _, file := range []string{"manifest.json", "spikes.sums", "spikes.arrows", "rates.csv"} {
			r, err := Create(filepath.Join(t.TempDir(), "run"), Options{Manifest: raggedManifest(), Plan: everySpike})
			require.NoError(t, err)
			for b := range spiking(3, 400_000) {
				require.NoError(t, r.Record(b))
			}
			require.NoError(t, r.Fail(os.ErrClosed, nil))
			f, err := Open(r.Dir())
			require.NoError(t, err)
			path := filepath.Join(r.Dir(), file)
			if file != "rates.csv" {
				require.NoError(t, os.Remove(path))
			}
			require.NoError(t, plant(path))
			switch _, err = Open(r.Dir()); file {
			case "manifest.json":
			case "rates.csv":
				_, err = f.Rates()
			default:
				for _, err = range f.Spikes() {
				}
			}
			require.Error(t, err, "%s as %s", file, name)
		}
	}
}

// sparse makes a file of a size that takes no room on disk.
func sparse(path string, size int64) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, size)
}
