package main

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An exported folder holds the pictures of the genome, at the same place.
func TestExportTakesPictures(t *testing.T) {
	dir := t.TempDir()
	var picture bytes.Buffer
	dot := image.NewGray(image.Rect(0, 0, 2, 1))
	dot.Pix[1] = 200
	require.NoError(t, png.Encode(&picture, dot))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "pictures"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pictures", "dot.png"), picture.Bytes(), 0o644))
	text := "burst: v1\nareas: [{name: a, size: [2, 1, 1]}]\nprojections: [{from: a, to: a, rule: all_to_all, weight: 1}]\nstimuli: [{area: a, every: 2, image: pictures/dot.png}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "net.yaml"), []byte(text), 0o644))
	out := filepath.Join(dir, "out")
	var stdout, stderr bytes.Buffer
	require.Equal(t, exitOK, execute(context.Background(), []string{"export", "connectome", filepath.Join(dir, "net.yaml"), "-o", out}, &stdout, &stderr), stderr.String())
	copied, err := os.ReadFile(filepath.Join(out, "pictures", "dot.png"))
	require.NoError(t, err)
	require.Equal(t, picture.Bytes(), copied)
	require.Equal(t, exitOK, execute(context.Background(), []string{"inspect", filepath.Join(out, "genome.yaml")}, &stdout, &stderr), stderr.String())
}
