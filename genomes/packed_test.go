package genomes

import (
	"bytes"
	"compress/flate"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write packed files")

// TestPacked: the files that the program has deflated are those in the folder.
func TestPacked(t *testing.T) {
	for _, name := range []string{"c-elegans.csv", "potjans-diesmann.yaml", "potjans-diesmann-10.yaml"} {
		want, err := os.ReadFile(name)
		require.NoError(t, err)
		if *update {
			var small bytes.Buffer
			w, err := flate.NewWriter(&small, flate.BestCompression)
			require.NoError(t, err)
			_, err = w.Write(want)
			require.NoError(t, errors.Join(err, w.Close()))
			require.NoError(t, os.WriteFile(name+packedEnding, small.Bytes(), 0o666))
			continue
		}
		r, err := Open(name)
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, errors.Join(err, r.Close()))
		require.Equal(t, string(want), string(got), "run go generate ./genomes")
	}
	_, err := Open("nothing.csv")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// TestNames: all examples of the folder are in the program, deflated or not.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	names := Names()
	require.Len(t, names, len(files))
	for i, file := range files {
		require.Equal(t, file, names[i]+".yaml")
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := Text(names[i])
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}
