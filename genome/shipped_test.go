package genome

import (
	"bytes"
	"compress/flate"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// The trees are those of the texts, and what unpackTree reads is all that the parser looks at.
func TestShippedTrees(t *testing.T) {
	for name, tree := range map[string]string{"neurons": neuronsTree, "plasticity": plasticityTree} {
		text, err := os.ReadFile(name + ".yaml")
		require.NoError(t, err)
		root, faults := readTree(&source{name: name + ".yaml", text: text})
		require.Empty(t, faults)
		packed := packTree(nil, root)
		if *update {
			var small bytes.Buffer
			w, err := flate.NewWriter(&small, flate.BestCompression)
			require.NoError(t, err)
			_, err = w.Write(packed)
			require.NoError(t, errors.Join(err, w.Close()))
			require.NoError(t, os.WriteFile(name+".tree", small.Bytes(), 0o666))
			continue
		}
		if string(packed) != inflated(tree) {
			t.Errorf("%s.tree is out of step with %[1]s.yaml: run go generate ./genome", name)
		}
		got, rest := unpackTree(string(packed))
		assert.Empty(t, rest)
		withoutComments(root)
		require.Equal(t, root, got)
	}
}

// withoutComments drops the comments of a tree, which mean nothing, and makes empty lists alike.
func withoutComments(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Content == nil {
		n.Content = []*yaml.Node{}
	}
	for _, c := range n.Content {
		withoutComments(c)
	}
}
