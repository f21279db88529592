package genome

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A list of edges must be named, found and have the keys that belong to it.
func TestEdgesProjection(t *testing.T) {
	open := func(name string) (io.ReadCloser, error) {
		if name == "absent.csv" {
			return nil, errors.New("expects a file inside the genome's folder")
		}
		return io.NopCloser(strings.NewReader("")), nil
	}
	for _, c := range []struct{ name, text, want string }{
		{"between areas", "{from: a, to: b, rule: edges, file: x.csv}", ""},
		{"with weight and delay", "{from: a, to: b, rule: edges, file: x.arrows, weight: 0.5 mV, delay: 3}", ""},
		{"of the whole network", "{rule: edges, file: sub/x.parquet, delay: \"uniform(1, 9)\"}", ""},
		{"without a file", "{from: a, to: b, rule: edges}", `"file" is missing`},
		{"of another format", "{from: a, to: b, rule: edges, file: x.xlsx}", "ends in .csv, .parquet, .arrow, .arrows"},
		{"that is not there", "{from: a, to: b, rule: edges, file: absent.csv}", "inside the genome's folder"},
		{"to nowhere", "{from: a, rule: edges, file: x.csv}", `"to" is missing`},
		{"from nowhere", "{to: b, rule: edges, file: x.csv}", `"from" is missing`},
		{"one weight for several models", "{rule: edges, file: x.csv, weight: 1}", "its weights in a column"},
		{"with a degree", "{from: a, to: b, rule: edges, file: x.csv, indegree: 3}", "does not have"},
		{"a file for another rule", "{from: a, to: a, rule: all_to_all, file: x.csv, weight: 1}", "does not have"},
		{"only edges go without an end", "{to: a, rule: all_to_all, weight: 1}", `"from" is missing`},
		{"only edges go without a weight", "{from: a, to: b, rule: all_to_all}", `"weight" is missing`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "burst: v1\nareas:\n  - {name: a, neurons: 3}\n  - {name: b, neurons: 30, model: lif}\nprojections:\n  - " + c.text + "\n"
			g, err := Parse("edges.yaml", []byte(text), open)
			var faults Faults
			switch errors.As(err, &faults); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want == "":
				if p := g.Projections[0]; p.Rule != Edges || len(g.Files) != 1 || g.Files[0].Path != p.File || len(g.Files[0].SHA256) != 64 || (p.From == WholeNetwork) != (p.To == WholeNetwork) {
					t.Errorf("%+v", p)
				}
			case len(faults) != 1 || !strings.Contains(faults[0].Message, c.want):
				t.Errorf("want one fault with %q, got:\n%v", c.want, err)
			}
		})
	}
}

// A list of spikes in a file is for sources of spikes, in place of their list in the genome.
func TestSpikesOfAFile(t *testing.T) {
	open := func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	for _, c := range []struct{ text, want string }{
		{"model: spike_list, file: s.arrows", ""},
		{"model: spike_list, file: s.csv, spikes: []", "beside spikes; want one of them"},
		{"model: spike_list, file: s.npy", "expects a list of spikes that ends in .csv, .parquet, .arrow, .arrows, found \"s.npy\""},
		{"model: poisson, params: {rate: 5 Hz}, file: s.csv", "found a key of the model spike_list"},
	} {
		g, err := Parse("s.yaml", []byte("burst: v1\nareas: [{name: s, neurons: 3, "+c.text+"}]\n"), open)
		var faults Faults
		switch errors.As(err, &faults); {
		case c.want == "":
			if err != nil || g.Areas[0].SpikeFile != "s.arrows" || len(g.Files) != 1 || len(g.Files[0].SHA256) != 64 {
				t.Errorf("%v: %+v", err, g)
			}
		case len(faults) != 1 || !strings.Contains(faults[0].Message, c.want):
			t.Errorf("%s: want one fault with %q, got:\n%v", c.text, c.want, err)
		}
	}
}

// Files must be within reach after Load too, and no others than those that the text names.
func TestOpenAfterLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "net.yaml"), []byte("burst: v1\nareas: [{name: a, neurons: 3}]\nprojections: [{rule: edges, file: w.csv}]\n"))
	write(t, filepath.Join(dir, "w.csv"), []byte("source,target\n"))
	g, err := Load(filepath.Join(dir, "net.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(os.TempDir())
	r, err := g.Open("w.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, ok := r.(io.ReaderAt); !ok {
		t.Error("a file of a folder cannot be read at any place")
	}
	for _, name := range []string{"net.yaml", "../w.csv", ""} {
		if _, err := g.Open(name); err == nil {
			t.Errorf("%q was opened", name)
		}
	}
}
