package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOpen: a regular file is opened, also through a link; a folder and a pipe are refused without waiting, one that is not there is
// not there, and no name leads out of a root.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(dir, "outside")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	refused := map[string]string{"folder": "found a directory", "outside": "found a directory"}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe")).Run(); err == nil {
		refused["pipe"] = "found a pipe; write what it gives to a file"
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	ways := map[string]func(string) (*os.File, error){
		"Open":   func(name string) (*os.File, error) { return Open(filepath.Join(dir, name), os.O_RDONLY) },
		"OpenIn": func(name string) (*os.File, error) { return OpenIn(root, name) },
	}
	for way, open := range ways {
		for _, name := range []string{"file", "link"} {
			f, err := open(name)
			require.NoError(t, err, way)
			text, err := io.ReadAll(f)
			require.NoError(t, errors.Join(err, f.Close()))
			require.Equal(t, "text", string(text))
		}
		_, err := open("none")
		require.ErrorIs(t, err, fs.ErrNotExist, way)
		for name, want := range refused {
			if way == "OpenIn" && name == "outside" {
				continue
			}
			ended := make(chan error, 1)
			go func() {
				_, err := open(name)
				ended <- err
			}()
			select {
			case err = <-ended:
			case <-time.After(time.Minute):
				t.Fatalf("%s waits for %s", way, name)
			}
			var p *fs.PathError
			var n *NotRegularError
			require.ErrorAs(t, err, &p, "%s %s", way, name)
			require.ErrorAs(t, err, &n, "%s %s", way, name)
			require.ErrorContains(t, err, want)
		}
	}
	_, err = OpenIn(root, "outside")
	require.ErrorContains(t, err, "escapes")
	f, err := Open(path, os.O_RDWR)
	require.NoError(t, err)
	_, err = f.WriteString("TEXT")
	require.NoError(t, errors.Join(err, f.Close()), "opened for writing, too")
}

// TestDamaged: the error says file, section and reason, and takes errors of libraries in plain words.
func TestDamaged(t *testing.T) {
	_, err := strconv.Atoi("x")
	require.EqualError(t, Damaged("a", "line %d: %v", 2, err), `a: line 2: "x" is not a number`)
	var d *DamagedError
	require.ErrorAs(t, Damaged("a", "short"), &d)
	d.Section = "header"
	require.EqualError(t, d, "a: header: short")
}
