package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// holds reads a folder: names and contents.
func holds(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		found[e.Name()] = string(text)
	}
	return found
}

// saying writes a text, then ends with an error or none.
func saying(text string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		_, failed := io.WriteString(w, text)
		return errors.Join(failed, err)
	}
}

// TestWholeOrNot: a file is the old one or the new one, and nothing lies beside it.
func TestWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("n", 250)) // as long as names may be
	planted := errors.New("planted")
	require.ErrorIs(t, ReplaceBy(path, saying("half", planted)), planted)
	require.ErrorIs(t, CreateBy(path, saying("half", planted)), planted)
	require.Empty(t, holds(t, dir))
	require.NoError(t, CreateBy(path, saying("new", nil)))
	require.ErrorIs(t, CreateBy(path, saying("newer", nil)), fs.ErrExist)
	require.ErrorIs(t, ReplaceBy(path, saying("half", planted)), planted)
	require.Equal(t, map[string]string{filepath.Base(path): "new"}, holds(t, dir))
	require.NoError(t, Replace(path, []byte("other")))
	require.Equal(t, map[string]string{filepath.Base(path): "other"}, holds(t, dir))
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o644))
	want, err := os.Stat(plain)
	require.NoError(t, err)
	got, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, want.Mode(), got.Mode(), "as the umask says")
	var p *fs.PathError
	require.ErrorAs(t, Replace(filepath.Join(dir, "none", "x"), nil), &p)
	require.Equal(t, filepath.Join(dir, "none"), p.Path, "the folder, not the temporary file")
}

// TestFillCannotClose: a writer that closes what it is given, as some do, does not come before the sync.
func TestFillCannotClose(t *testing.T) {
	require.NoError(t, ReplaceBy(filepath.Join(t.TempDir(), "x"), func(w io.Writer) error {
		_, closes := w.(io.Closer)
		require.False(t, closes)
		return nil
	}))
}

// TestSyncFolder: a file system that does not sync folders is as good as any; a folder that there is not is an error.
func TestSyncFolder(t *testing.T) {
	require.NoError(t, SyncFolder(t.TempDir()))
	require.ErrorIs(t, SyncFolder(filepath.Join(t.TempDir(), "none")), fs.ErrNotExist)
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc, whose folders answer that they cannot be synced")
	}
	f, err := os.Open("/proc/self")
	require.NoError(t, err)
	defer f.Close()
	require.Error(t, f.Sync(), "else this test shows nothing")
	require.NoError(t, SyncFolder("/proc/self"))
}
