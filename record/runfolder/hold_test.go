package runfolder

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHold: one at a time, again after that, and no file is left of what is finished. What is no file is not opened: a pipe
// would never be.
func TestHold(t *testing.T) {
	dir := t.TempDir()
	for _, finished := range []bool{false, true} {
		h, err := Take(dir)
		require.NoError(t, err)
		_, err = Take(dir)
		var p *fs.PathError
		require.ErrorAs(t, err, &p)
		require.ErrorContains(t, err, "another process is running in this folder")
		require.NoError(t, Vacant(dir), "the lock alone does not fill a folder")
		require.NoError(t, h.Release(finished))
	}
	path := filepath.Join(dir, lockName)
	require.NoFileExists(t, path)
	require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path))
	_, err := Take(dir)
	require.ErrorContains(t, err, "is not a regular file")
	_, err = Take(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
