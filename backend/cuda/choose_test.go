package cuda

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/internal/slow"
	"burst/kernels"
)

// drivenNet is a network with an area that has a psp_max.
func drivenNet() *connectome.Connectome {
	a := enginetest.FEAGI(3)
	a.PSPMax = 2000
	return enginetest.Net{Areas: []connectome.Area{a}, Synapses: []enginetest.Synapse{{From: 0, To: 1, Weight: 1000}}}.Build()
}

// latePlastic is a network that learns and has a delay that no byte holds.
func latePlastic(t *testing.T) *connectome.Connectome {
	n := enginetest.RandomPlastic(rand.New(rand.NewPCG(1, 2)), 1)
	n.Synapses = append(n.Synapses, enginetest.Synapse{From: 0, To: 1, Weight: 1, Delay: 300})
	c := n.Build()
	require.NotEmpty(t, c.Plastic)
	return c
}

// TestChoose names the path of networks, and what each path lacks: every reason once.
func TestChoose(t *testing.T) {
	slow.Short(t)
	alike := func(change func(*enginetest.Net)) *connectome.Connectome {
		n := enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573)))
		change(&n)
		return n.Build()
	}
	delays := func(of func(i int) uint16) func(*enginetest.Net) {
		return func(n *enginetest.Net) {
			for i := range n.Synapses {
				n.Synapses[i].Delay = of(i)
			}
		}
	}
	little := func(b *backend) { // memory for a bit a neuron and no more
		_, own := deal(b.c, b.sms)
		b.room, _, _ = makeTables(b.c).sharedBytes(b.c, own)
	}
	lifs := enginetest.Net{Scale: 16, Areas: []connectome.Area{enginetest.LIF(600)}}
	for k := range uint32(6000) {
		lifs.Synapses = append(lifs.Synapses, enginetest.Synapse{From: k % 600, To: k * 7 % 600, Weight: 5, Delay: 1})
	}
	sumsAlone := func(b *backend) uint64 { return b.clusterShape(b.c, makeTables(b.c), 1, mostRounds).shared }
	same := alike(func(*enginetest.Net) {})
	at := func(delay uint16) *connectome.Connectome {
		n := lifs
		n.Synapses = slices.Clone(lifs.Synapses)
		delays(func(int) uint16 { return delay })(&n)
		return n.Build()
	}
	summed := func(change func(*backend)) func(*backend) {
		return func(b *backend) {
			b.tune.clusterSize, b.tune.sumsApart, b.tune.sumsParts, b.tune.sumsUnits, b.tune.batchThreads = 1, defaults.sumsApart, 0, 1, defaults.batchThreads
			change(b)
		}
	}
	events := enginetest.Net{Areas: []connectome.Area{enginetest.Of("lif_event", 9)}, Synapses: []enginetest.Synapse{{To: 2, Delay: 3}}}.Build()
	for _, v := range []struct {
		c      *connectome.Connectome
		want   engine.Want
		change func(*backend)
		path   path
		lacks  string // of the path before, or why bursts are single
	}{
		{same, engine.Want{}, nil, pathClusters, ""},
		{lifs.Build(), engine.Want{}, func(b *backend) { b.room = sumsAlone(b) }, pathClusters, "stays in global memory"},
		{same, engine.Want{FCL: true}, nil, pathTeams, "clusters: fire candidate lists are wanted"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterLeast = 1 << 20 }, pathTeams, "neurons, want at least 1048576"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow = 0 }, pathTeams, "clusters: clusters are turned off"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow = 1 << 20 }, pathTeams, "synapses, want at least 1048576"},
		{same, engine.Want{}, func(b *backend) { b.clusters = [mostClustered + 1]uint64{} }, pathTeams, "clusters: the device does not run a block with so much shared memory"},
		{same, engine.Want{}, func(b *backend) { b.clusters = [mostClustered + 1]uint64{1, 1, 1, 1, 1}; b.tune.batchThreads = 1 << 20 }, pathTeams, "clusters: sums do not fit"},
		{same, engine.Want{}, func(b *backend) { b.tune.slotBytes = 0 }, pathTeams, "clusters: slots would take more than 0 bytes a synapse"},
		{alike(func(n *enginetest.Net) { n.Synapses[0].Weight++ }), engine.Want{}, nil, pathTeams, "clusters: weights differ within a row"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamRow = 0, 0 }, pathDelayed, "teams: teams are turned off"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamLeast = 0, 1<<20 }, pathDelayed, "synapses, want at least 1048576"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamRow = 0, 1<<20 }, pathDelayed, "synapses, want at least 1048576"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamRow, b.tune.listed = 0, 0, true }, pathResident, "delayed: it is turned off for delays of 1"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamRow, b.tune.roaming = 0, 0, true }, pathRun, "resident: state in shared memory is turned off"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamRow = 0, 0; little(b) }, pathRun, "bytes of shared memory, has "},
		{same, engine.Want{}, func(b *backend) { b.room = 1; b.tune.clusterRow = 0 }, pathSingle, "bytes of shared memory, has 1"},
		{same, engine.Want{}, func(b *backend) { b.tune.clusterRow = 0; little(b) }, pathRun, "teams: the sums do not fit shared memory"},
		{alike(delays(func(int) uint16 { return 3 })), engine.Want{}, nil, pathClusters, ""},
		{alike(delays(func(int) uint16 { return 3 })), engine.Want{}, func(b *backend) { b.tune.clusterDelayed = 1 << 40 }, pathDelayed, "teams: there are delays above 1"},
		{alike(delays(func(i int) uint16 { return uint16(1 + i%3) })), engine.Want{}, nil, pathDelayed, "teams: there are delays above 1"},
		{alike(delays(func(i int) uint16 { return uint16(1 + i%3) })), engine.Want{}, func(b *backend) { b.tune.delayedRow = 1 << 20 }, pathResident, "delayed: there are delays above 1 and rows of"},
		{alike(delays(func(i int) uint16 { return uint16(1 + i%300) })), engine.Want{}, nil, pathRun, "resident: there are delays of 300 bursts, want at most 255"},
		{alike(delays(func(i int) uint16 { return uint16(1 + i%300) })), engine.Want{}, func(b *backend) { b.ringRoom = 1000 }, pathSingle, "sums of 512 bursts to come take "},
		{same, engine.Want{}, func(b *backend) { b.tune.plain = true }, pathSingle, "launches of many bursts are turned off"},
		{same, engine.Want{}, func(b *backend) { b.single = "no cooperative launches" }, pathSingle, "no cooperative launches"},
		{at(5), engine.Want{Values: []engine.Probe{{Neuron: 1}}}, summed(func(*backend) {}), pathSums, "and do not meet"},
		{at(5), engine.Want{}, nil, pathClusters, "sums: blocks that do not meet are turned off"},
		{at(4), engine.Want{}, summed(func(*backend) {}), pathClusters, "sums: no delay is above 4 bursts, want 5 at least"},
		{same, engine.Want{}, summed(func(*backend) {}), pathClusters, "sums: not all neurons are of model lif"},
		{at(5), engine.Want{Stimuli: true}, summed(func(*backend) {}), pathClusters, "sums: a caller's stimuli are wanted in every burst"},
		{at(5).Cut(connectome.Part{Index: 1, Of: 2}), engine.Want{}, summed(func(*backend) {}), pathClusters, "sums: several devices or processes share the network"},
		{at(5), engine.Want{}, summed(func(b *backend) { b.tune.sumsParts = 2 }), pathClusters, "sums: no trials share the device"},
		{at(5), engine.Want{}, summed(func(b *backend) { b.tune.sumsUnits = 9 }), pathClusters, "sums: a block's part of a row has 1 units of memory, want at least 9"},
		{at(5), engine.Want{}, summed(func(b *backend) { b.tune.batchThreads = 224 }), pathClusters, "sums: blocks have 224 threads, want at least 256"},
		{at(5), engine.Want{}, summed(func(b *backend) { b.tune.outside = 1 }), pathClusters, "sums: the neurons' state stays in global memory"},
		{at(5), engine.Want{}, summed(func(b *backend) { b.room = 8 << 10 }), pathClusters, "bytes of shared memory, has 8192"},
		{same, engine.Want{Values: []engine.Probe{{Neuron: 1}}}, nil, pathClusters, ""},
		{same.Cut(connectome.Part{Index: 1, Of: 2}), engine.Want{}, nil, pathClusters, ""},
		{same.Cut(connectome.Part{Index: 1, Of: 2}), engine.Want{}, func(b *backend) { b.tune.clusterRow, b.tune.teamRow = 0, 0 }, pathRun, "resident: there are several devices"},
		{same.Cut(connectome.Part{Index: 1, Of: 2}), engine.Want{FCL: true}, nil, pathSingle, "fire candidate lists are wanted of several devices"},
		{example(t, "izhikevich-2003"), engine.Want{}, func(b *backend) { b.tune.teamRow = 0 }, pathResident, "delayed: there are several models, or one that is not common"},
		{example(t, "izhikevich-2003-custom"), engine.Want{}, nil, pathTeams, "clusters: the genome has models of its own"},
		{example(t, "izhikevich-2003-custom"), engine.Want{}, func(b *backend) { b.tune.teamRow = 0 }, pathRun, "resident: the genome has models of its own"},
		{example(t, "izhikevich-2003-custom"), engine.Want{FCL: true}, nil, pathTeams, "clusters: fire candidate lists are wanted"},
		{example(t, "receptors"), engine.Want{}, nil, pathRun, "resident: the genome has models of its own"},
		{enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(9), enginetest.Memory(4, nil, 0)}}.Build(), engine.Want{}, nil, pathSingle, `which neuron of the memory area "area 1" fires the host finds between bursts`},
		{events, engine.Want{}, nil, pathEvent, "run: neurons of the models lif_event and lif_psc_exp_event change at inputs alone"},
		{events, engine.Want{FCL: true}, nil, pathSingle, "fire candidate lists are wanted of neurons that change at inputs alone"},
		{events, engine.Want{}, func(b *backend) { b.room = 1 }, pathSingle, "bytes of shared memory, has 1"},
		{events, engine.Want{}, func(b *backend) { b.ringRoom = 71 }, pathSingle, "sums of 2 bursts to come take 72 bytes, want at most 71"},
		{events.Cut(connectome.Part{Index: 1, Of: 2}), engine.Want{}, nil, pathSingle, "several devices or processes share neurons that change at inputs alone"},
		{drivenNet(), engine.Want{}, nil, pathSingle, "potentials drive what spikes deliver (psp_max), and the host makes amplitudes of them between bursts"},
		{example(t, "spnet"), engine.Want{FCL: true}, nil, pathSingle, "fire candidate lists are wanted"},
		{latePlastic(t), engine.Want{}, nil, pathSingle, "there are delays of 300 bursts, want at most 255"},
		{&connectome.Connectome{Row: []uint64{0}, MaxDelay: 1}, engine.Want{}, nil, pathSingle, "there are no neurons"},
	} {
		b := onUsual(v.c, v.want)
		b.tune = clustered(0)
		b.tune.teamRow, b.tune.delayedRow, b.sms = 1, 1, 4
		b.clusters = [mostClustered + 1]uint64{1: 4, 2: 2, 4: 1}
		if v.change != nil {
			v.change(b)
		}
		tables := makeTables(v.c)
		b.rows, _ = b.rowsOf(v.c, tables)
		b.choice = b.choose(tables)
		p := b.Path()
		require.Equal(t, v.path.String(), p.Name, "%v, for %q", p, v.lacks)
		require.Equal(t, v.path == pathSingle, p.Kernel == "")
		require.NotEmpty(t, p.Why)
		said := p.Why
		if v.path != pathSingle && v.path != pathSums {
			require.Len(t, p.Not, int(pathSums-v.path))
			for _, not := range p.Not {
				said += not + "\n"
			}
		}
		require.Contains(t, said, v.lacks)
	}
}

// TestPathOfAGroup: devices of which one has no clusters say which takes what.
func TestPathOfAGroup(t *testing.T) {
	devices(t, 2).Control("multiprocessors", 4)
	n := enginetest.Uniform(rand.New(rand.NewPCG(2, 0x636c7573)))
	open := func(w engine.Want) Path {
		b, err := openCut(n.Build(), []int{1, 0}, w, clustered(1))
		require.NoError(t, err)
		defer b.Close()
		return b.(*group).Path()
	}
	require.Equal(t, "clusters", open(engine.Want{}).Name)
	require.Equal(t, "single: fire candidate lists are wanted of several devices", open(engine.Want{FCL: true}).String())
	for i := range n.Synapses {
		if s := &n.Synapses[i]; (connectome.Part{Index: 0, Of: 2}).Owns(s.To) && i%2 == 0 {
			s.Weight++
		}
	}
	p := open(engine.Want{})
	require.Equal(t, "several", p.Name)
	require.Regexp(t, `^device 1: run \(run_bursts.*; device 0: clusters \(cluster_bursts`, p.Why)
}

// TestUnits: kernels that do not see factors are for networks without any.
func TestUnits(t *testing.T) {
	factor := &genome.Factor{}
	net := func(change func(*connectome.Area)) *connectome.Connectome {
		a := enginetest.LIF(3)
		a.Drives = []connectome.Drive{{Kind: connectome.Inject}}
		change(&a)
		return &connectome.Connectome{Areas: []connectome.Area{enginetest.LIF(2), a}}
	}
	still := net(func(*connectome.Area) {})
	for _, c := range []*connectome.Connectome{
		net(func(a *connectome.Area) { a.Factor = factor }),
		net(func(a *connectome.Area) { a.Drives[0].Moving = &connectome.Moving{Factor: factor} }),
	} {
		require.Equal(t, kernels.Moving(), images(c, false, &choice{}))
		require.Equal(t, kernels.Lists(), images(c, true, &choice{}))
	}
	require.Equal(t, kernels.Images(), images(still, false, &choice{}))
	require.Equal(t, kernels.Lists(), images(still, true, &choice{}))
	require.Equal(t, kernels.Large(), images(still, false, &choice{byFour: true}))
	require.Equal(t, kernels.Outside(), images(still, false, &choice{outside: true}))
	require.Equal(t, kernels.Custom(), images(example(t, "izhikevich-2003-custom"), false, &choice{}))
	require.Equal(t, kernels.CustomLists(), images(example(t, "izhikevich-2003-custom"), true, &choice{}))
}
