package run

import (
	"path/filepath"
	"testing"

	"burst/checkpoint"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// counting counts how often the whole state is read, in which bursts.
type counting struct {
	engine.Backend
	reads map[uint64]int
}

func (c *counting) ReadState(s *engine.State) error {
	err := c.Backend.ReadState(s)
	c.reads[s.Number]++
	return err
}

// TestStateIsReadOnce: of a network that learns the state is read once for a burst, though the sample, the checkpoint that is due and
// the digest of the weights all want that of the run's end. The checkpoint has it whole.
func TestStateIsReadOnce(t *testing.T) {
	g, err := genome.Parse("pupil.yaml", []byte("burst: v1\nname: pupil\nareas:\n  - {name: eye, neurons: 9, model: poisson, params: {rate: 90 Hz}}\n"+
		"  - {name: mind, neurons: 5, threshold: 2, leak: 0.2}\nprojections:\n  - {from: eye, to: mind, rule: all_to_all, weight: 0.5, plasticity: {rule: stdp, w_max: 0.8}}\n"), nil)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	r, err := New(t.Context(), g, Options{Backend: "reference", Bursts: 60, Folder: dir, Record: []string{"weights=all every 20"}, Checkpoints: "30"})
	require.NoError(t, err)
	b := &counting{r.backend, map[uint64]int{}}
	var s engine.State
	require.NoError(t, r.engine.State(&s))
	require.NoError(t, r.engine.Replace(r.Connectome, b, &s))
	require.NoError(t, r.Advance(t.Context(), r.End()))
	require.NoError(t, r.engine.State(&s))
	require.NoError(t, r.Close())
	require.Equal(t, map[uint64]int{0: 1, 20: 1, 30: 1, 40: 1, 60: 2}, b.reads, "60: by the test once")
	saved, _, _, err := checkpoint.Newest(checkpoint.OS{}, filepath.Join(dir, CheckpointFolder))
	require.NoError(t, err)
	require.Nil(t, engine.CompareStates(&s, &saved.State))
	require.Equal(t, s.Digest, saved.State.Digest)
}
