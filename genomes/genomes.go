// Package genomes holds the example networks that burst ships, each with the digest that its run must give.
package genomes

import (
	"bufio"
	"bytes"
	"compress/flate"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:generate go test . -run TestPacked -update

//go:embed [a-oq-z]*.yaml poisson-lif.yaml *.digest columns-*.csv rhythm.csv *.deflated
var files embed.FS

// packedEnding stands behind the name of a file that the program has deflated.
const packedEnding = ".deflated"

// Names lists the examples in alphabetical order.
func Names() []string {
	paths, err := fs.Glob(files, "*.yaml*")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, packedEnding)
	}
	slices.Sort(paths)
	for i, p := range paths {
		paths[i] = strings.TrimSuffix(p, ".yaml")
	}
	return paths
}

// Text is the named example's genome.
func Text(name string) ([]byte, error) {
	f, err := Open(path.Clean(name) + ".yaml")
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// Open opens a file that an example names.
func Open(name string) (io.ReadCloser, error) {
	f, err := files.Open(name)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	packed, is := files.Open(name + packedEnding)
	if is != nil {
		return nil, err
	}
	text, broken := io.ReadAll(flate.NewReader(packed))
	if broken != nil {
		panic("BUG: " + broken.Error())
	}
	return unpacked{bytes.NewReader(text)}, nil
}

// unpacked is a file in memory.
type unpacked struct{ *bytes.Reader }

// Close has nothing to do.
func (unpacked) Close() error { return nil }

// Expected is what a run of an example must give.
type Expected struct {
	Bursts  uint64
	Spikes  uint64
	Digest  uint64
	Weights uint64 // engine.State.WeightDigest where synapses learn, else 0
}

// Expect reads the named example's digest file: lines "bursts N", "spikes N", "digest HEX" and, where synapses learn, "weights HEX".
func Expect(name string) (Expected, error) {
	text, err := files.ReadFile(path.Clean(name) + ".digest")
	if err != nil {
		return Expected{}, err
	}
	var e Expected
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), " ")
		to, format := map[string]*uint64{"bursts": &e.Bursts, "spikes": &e.Spikes, "digest": &e.Digest, "weights": &e.Weights}[key], "%d"
		if key == "digest" || key == "weights" {
			format = "%x"
		}
		if to == nil {
			return Expected{}, fmt.Errorf("%s.digest: key %q, want bursts, spikes, digest or weights", name, key)
		}
		if _, err := fmt.Sscanf(value, format, to); err != nil {
			return Expected{}, fmt.Errorf("%s.digest: %s: %w", name, key, err)
		}
	}
	return e, nil
}
