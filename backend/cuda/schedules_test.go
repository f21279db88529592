package cuda

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// trial is a way of running many bursts in one launch, for TestSchedules.
type trial struct {
	path    path
	name    string
	devices []int
	delays  uint16
	change  func(*tuning)
	lasts   bool // Steps in launches that go on
	ports   int  // of neurons of a model of the genome's own; 0: they are lif
}

// trials are all of them; blocks have two or three warps that compute.
func trials() []trial {
	clusters := func(size uint64) func(*tuning) {
		return func(t *tuning) {
			*t = clustered(size)
			t.batchThreads = 96
		}
	}
	outside := func(size, rounds uint64) func(*tuning) {
		return func(t *tuning) {
			clusters(size)(t)
			t.outside = rounds
		}
	}
	list := []trial{
		{pathResident, "resident", []int{0}, 3, func(t *tuning) { t.listed, t.delayedRow = true, 0 }, false, 0},
		{pathResident, "resident, few own rows", []int{0}, 1, func(t *tuning) { t.listed, t.ownSynapses = true, 60 }, false, 0},
		{pathDelayed, "delayed", []int{0}, 3, func(t *tuning) { t.delayedRow = 1 }, false, 0},
		{pathDelayed, "delayed, few own rows", []int{0}, 2, func(t *tuning) { t.delayedRow, t.ownSynapses, t.batchThreads = 1, 200, 128 }, false, 0},
		{pathDelayed, "currents", []int{0}, 3, func(t *tuning) { t.delayedRow, t.ownSynapses = 1, 60 }, false, 0},
		{pathRun, "roaming", []int{0}, 3, func(t *tuning) { t.roaming = true }, false, 0},
		{pathRun, "roaming, two devices", []int{1, 0}, 2, func(t *tuning) { t.roaming = true }, false, 0},
		{pathRun, "waiting", []int{0}, 9, func(t *tuning) { rowsWait(t, 5, 1<<10) }, false, 0},
		{pathRun, "waiting, four neurons at a time", []int{0}, 9, func(t *tuning) {
			rowsWait(t, 5, 1<<10)
			t.uncached, t.drawLeast = true, 1
		}, false, 0},
		{pathRun, "waiting, two devices", []int{1, 0}, 9, func(t *tuning) { rowsWait(t, mostWaits-1, 1<<2) }, false, 0},
		{pathTeams, "teams", []int{0}, 1, func(t *tuning) { t.teamRow, t.teamLeast = 1, 0 }, false, 0},
		{pathTeams, "teams, three devices", []int{0, 1, 2}, 1, func(t *tuning) { t.teamRow, t.teamLeast = 1, 0 }, false, 0},
		{pathRun, "ports", []int{0}, 3, func(*tuning) {}, false, 4},
		{pathTeams, "ports, teams", []int{0}, 1, func(t *tuning) { t.teamRow, t.teamLeast = 1, 0 }, false, 4},
		{pathClusters, "clusters", []int{0}, 1, clusters(2), false, 0},
		{pathClusters, "clusters, late", []int{0}, 3, clusters(4), false, 0},
		{pathClusters, "clusters, state outside", []int{0}, 1, outside(2, 1), false, 0},
		{pathClusters, "clusters, two rounds", []int{0}, 2, outside(1, mostRounds), false, 0},
		{pathClusters, "clusters, two devices, two rounds", []int{0, 1}, 1, outside(1, mostRounds), false, 0},
		{pathClusters, "clusters, two devices", []int{0, 1}, 1, clusters(2), false, 0},
		{pathClusters, "clusters, three devices", []int{2, 0, 1}, 1, clusters(1), false, 0},
		{pathClusters, "clusters, two devices, late", []int{1, 0}, 3, clusters(1), false, 0},
		{pathEvent, "event", []int{0}, 3, func(*tuning) {}, false, 0},
		{pathEvent, "event, ahead", []int{0}, 3, func(t *tuning) { t.uncached = true }, false, 0},
		{pathEvent, "event, rows looked up ahead", []int{0}, 4, func(*tuning) {}, false, 0},
		{pathEvent, "event, ahead, blocks apart", []int{0}, 6, func(t *tuning) { t.batchThreads = 224 }, false, 0},
		{pathLate, "late", []int{0}, 4, func(t *tuning) { t.lateRow, t.batchThreads = 1, 288 }, false, 0},
		{pathSums, "sums", []int{0}, 5, func(t *tuning) { *t = summing() }, false, 0},
		{pathClusters, "clusters, late, blocks apart", []int{0}, 3, func(t *tuning) { clusters(1)(t); t.clustersApart = 1 }, false, 0},
		{pathLearn, "learning", []int{0}, 1, func(t *tuning) { t.events, t.batchThreads, t.localBlocks = 5, 64, 0 }, false, 0},
		{pathLocal, "local", []int{0}, 1, func(t *tuning) { t.events, t.batchThreads, t.localBlocks = 5, 128, 4 }, false, 0},
		{pathLocal, "local, lasting", []int{0}, 1, func(t *tuning) { t.events, t.batchThreads, t.localBlocks = 5, 64, 4 }, true, 0},
		{pathRanges, "ranges", []int{0}, 1, func(t *tuning) { t.events, t.batchThreads, t.rangeLeast, t.rangePart, t.localBlocks = 5, 64, 1, 0, 0 }, false, 0},
		{pathRanges, "ranges, blocks apart", []int{0}, 9, func(t *tuning) { t.events, t.batchThreads, t.rangeLeast, t.rangePart, t.localBlocks = 4, 96, 1, 0, 0 }, false, 0},
	}
	for _, v := range list[:6] {
		gathered, change := v, v.change
		gathered.name = v.name + ", gathered"
		gathered.change = func(t *tuning) { change(t); gather(t) }
		list = append(list, gathered)
		if v.path != pathRun {
			v.name, v.lasts = v.name+", lasting", true
			list = append(list, v)
		}
	}
	return list
}

// busy is a network of lif neurons, or of what the trial is about, of which about a tenth fire in a burst, with one weight a row; where clusters
// suit it, one delay.
func busy(seed uint64, v trial) *connectome.Connectome {
	r := rand.New(rand.NewPCG(seed, 0x62757379))
	neurons := 64*uint32(len(v.devices))*uint32(v.multiprocessors()) - r.Uint32N(60)
	if v.path == pathEvent {
		neurons += 800 // several rounds of a warp
	}
	lif := enginetest.LIF(neurons)
	lif.Constant("threshold").Const, lif.Constant("refractory").Const = 2, 1
	if v.path == pathEvent {
		lif = enginetest.Of("lif_event", neurons)
		lif.Constant("threshold").Const, lif.Constant("reset").Const, lif.Constant("refractory").Const = 1, 0, 1
	}
	amount, least := int32(900), int32(10)
	if v.ahead() {
		lif, amount, least = enginetest.PSCExp(neurons), 900_000, 30_000
		lif.Constant("threshold").Const, lif.Constant("refractory").Const = 0.2, 1
	}
	lif.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, amount, 3_700_000_000, 4_100_000_000)}
	n := enginetest.Net{RunSeed: seed, Areas: []connectome.Area{lif}}
	ports := neurons
	if v.ports > 0 {
		n.Areas[0] = portsArea(neurons, v.ports, lif.Drives[0])
		ports *= uint32(v.ports)
	}
	tune := v.tuning()
	for from := range neurons {
		weight := least * (r.Int32N(50) - 20)
		for range r.Uint32N(40) {
			s := enginetest.Synapse{From: from, To: r.Uint32N(ports), Weight: weight, Delay: 1 + uint16(r.UintN(uint(v.delays)))}
			switch {
			case tune.clusterRow == 1 || strings.Contains(v.name, "ahead"):
				s.Delay = v.delays
			case v.path == pathLate:
				s.Delay = v.delays + uint16(r.UintN(3))
			}
			n.Synapses = append(n.Synapses, s)
		}
	}
	return n.Build()
}

func (v *trial) network(seed uint64) (*connectome.Connectome, error) {
	switch v.path {
	case pathLearn, pathRanges:
		if v.apart() {
			return learns(v.delays, `, {from: I, to: I, rule: fixed_outdegree, outdegree: 9, weight: 0.5 mV, delay: "uniform(4 ms, 9 ms)"}`)
		}
		return learns(1, "")
	case pathLocal: // with a rule that changes all weights, and rows that stay
		return learns(1, `, {from: I, to: I, rule: fixed_outdegree, outdegree: 9, weight: 0.5 mV, delay: 2 ms, plasticity: {rule: stdp_dopamine, da: E, w_max: 1 mV, interval: 3 ms}},
  {from: I, to: E, rule: fixed_outdegree, outdegree: 5, weight: -0.5 mV, delay: "uniform(1 ms, 4 ms)"}`)
	}
	return busy(seed%4, *v), nil
}

// learns is a network of lif neurons with rules of pairs, short and long: rows of the latter have several rounds. They are delivered after so
// many bursts, or one more, and all of a delay above 1 is dendritic. It has more projections.
func learns(delay uint16, more string) (*connectome.Connectome, error) {
	const text = `{burst: v1, name: learns, seed: 1, timestep: 1 ms, scale: auto, bursts: 100, areas: [
  {name: E, neurons: 14, model: lif, params: {refractory: 1 ms}, drive: {poisson: {rate: 900 Hz, weight: 40 mV}}},
  {name: I, neurons: 90, model: lif, params: {refractory: 1 ms}, drive: {poisson: {rate: 500 Hz, weight: 40 mV}}}], projections: [
  {from: E, to: I, rule: all_to_all, weight: 0.5 mV, delay: %d ms, back: %d ms, plasticity: {rule: stdp_power_law, w_max: 1 mV, lambda: 0.02}},
  {from: I, to: E, rule: all_to_all, weight: -0.5 mV, delay: %d ms, back: %[2]d ms, plasticity: {rule: vogels, w_max: 1 mV}}`
	g, err := genome.Parse("learns.yaml", []byte(fmt.Sprintf(text, delay, delay-1, delay+1)+more+"]}"), genomes.Open)
	if err != nil {
		return nil, err
	}
	return connectome.Build(g, connectome.Options{})
}

// apart reports whether blocks do not meet in each burst, because of long delays. There are rows that do not learn, then.
func (v *trial) apart() bool { return v.path == pathRanges && v.delays > 1 }

// multiprocessors are as many as blocks on each device.
func (v *trial) multiprocessors() int64 {
	if len(v.devices) > 1 {
		return 2
	}
	return 4
}

func (v *trial) tuning() tuning {
	tune := defaults
	tune.batchThreads, tune.gather = 96, 0
	v.change(&tune)
	if tune.batch, tune.linger = 5, forever; v.path == pathLocal || strings.HasSuffix(v.name, "apart") || v.path == pathLate || v.path == pathSums {
		tune.batch = 20
	}
	return tune
}

// pathOf is how many bursts are run on all devices.
func pathOf(b engine.Backend) path {
	one, ok := b.(*backend)
	if !ok {
		one = b.(*group).parts[0]
	}
	return one.choice.path
}

var errOther = errors.New("another spike than the reference")

// try runs a network by the schedule of a seed and compares it with the reference; the error is of what differs.
func (v *trial) try(h *cudatest.StandIn, seed uint64) error {
	bursts := 8
	if v.path == pathLocal || strings.HasSuffix(v.name, "apart") || v.path == pathLate || v.path == pathSums { // more than words, or queues, are kept of
		bursts = 24
	}
	h.Control("reset", 0)
	h.Control("devices", int64(len(v.devices)))
	h.Control("multiprocessors", v.multiprocessors())
	h.Control("schedule", int64(seed))
	c, err := v.network(seed)
	if err != nil {
		return err
	}
	b, err := openCut(c, v.devices, engine.Want{Stimuli: v.lasts}, v.tuning())
	if err != nil {
		return err
	}
	if p := pathOf(b); p != v.path {
		return fmt.Errorf("%v is taken, want %v", p, v.path)
	}
	ref, err := reference.Open(c, engine.Want{})
	if err != nil {
		return err
	}
	var want engine.Burst
	fired := 0
	var in []engine.Stimulus
	each := func(got *engine.Burst) error {
		if err := ref.Step(in, &want); err != nil {
			return err
		}
		if !slices.Equal(want.Fired, got.Fired) {
			return errOther
		}
		fired += len(got.Fired)
		return nil
	}
	amount := int32(1_000_000_000)
	if v.ahead() { // else its neurons would fire whatever else reaches them
		amount = 600_000
	}
	steps := func(n uint32) error {
		var got engine.Burst
		for k := range n {
			in = in[:0]
			first, apart := k, uint32(3)
			if v.path == pathLocal && k%4 == 3 { // more than a request has room for
				first, apart = 0, 1
			}
			for port := first; port < c.Ports; port += apart {
				in = append(in, engine.Stimulus{Port: port, Amount: amount})
			}
			if err := errors.Join(b.Step(in, &got), each(&got)); err != nil {
				return err
			}
		}
		in = nil
		return nil
	}
	if v.lasts { // a launch of five bursts, and one that is stopped
		err = steps(9)
	}
	err = errors.Join(err, b.(engine.Batcher).StepN(bursts, each))
	if v.lasts && err == nil { // a launch that is not stopped
		err = errors.Join(steps(5), b.(engine.Batcher).StepN(3, each))
	}
	if err == nil && fired < 50 {
		err = fmt.Errorf("%d spikes, too few to show anything", fired)
	}
	return errors.Join(err, b.Close())
}

// ahead reports whether neurons are lif_psc_exp, and decide ahead.
func (v *trial) ahead() bool { return strings.HasPrefix(v.name, "currents") }

// compiled are the kernels of many bursts that the trial needs.
func (v *trial) compiled() []cudatest.Bursts {
	switch {
	case v.ports > 0:
		return []cudatest.Bursts{cudatest.Custom}
	case v.ahead():
		return []cudatest.Bursts{cudatest.Ahead}
	case v.path == pathClusters:
		return []cudatest.Bursts{cudatest.Cluster}
	case v.path == pathEvent:
		return []cudatest.Bursts{cudatest.Event}
	case v.path == pathLate:
		return []cudatest.Bursts{cudatest.Late}
	case v.path == pathSums:
		return []cudatest.Bursts{cudatest.Sums, cudatest.Cluster}
	case v.path == pathLearn:
		return []cudatest.Bursts{cudatest.Learn}
	case v.path == pathRanges:
		return []cudatest.Bursts{cudatest.Ranges}
	case v.path == pathLocal:
		return []cudatest.Bursts{cudatest.Local}
	case v.path == pathRun || v.path == pathTeams:
		return []cudatest.Bursts{cudatest.Run}
	case v.lasts:
		return []cudatest.Bursts{cudatest.Resident, cudatest.Lasting}
	}
	return []cudatest.Bursts{cudatest.Resident}
}

// TestSchedules runs each way of many bursts by drawn orders of its threads: all have the reference's spikes, and what threads share is
// put in order by barriers, fences and words that are waited for.
func TestSchedules(t *testing.T) {
	slow.Short(t)
	for _, v := range trials() {
		t.Run(v.name, func(t *testing.T) {
			h := cudatest.Checked(t, v.compiled())
			for seed := range uint64(slow.Times(1, 8)) {
				require.NoError(t, v.try(h, seed+1), "schedule %d", seed+1)
			}
		})
	}
}

// planted is a mistake in a kernel's text that the trial of a name must find in some schedule.
type planted struct {
	mistake, trial string
	cudatest.Change
}

// mistakes are those that a test which runs one thread after the other does not find.
func mistakes() []planted {
	change := func(file, from, to string) cudatest.Change { return cudatest.Change{File: file, From: from, To: to} }
	return []planted{
		{"no barrier between what warps write and all read", "resident", change("resident_bursts.cu", "DEVICE void end_own(const run *p, u64 t, resident *s, const calls_of *c) {\n    worker_barrier();", "DEVICE void end_own(const run *p, u64 t, resident *s, const calls_of *c) {")},
		{"a barrier for one warp too few", "delayed, few own rows", change("early_rows.cuh", "named_barrier<2>(32 * p->front)", "named_barrier<2>(32 * p->front - 32)")},
		{"a grid's barrier that acquires nothing", "roaming", change("run_bursts.cu", "while (acquire_word(p->arrived) < wanted", "while (arrivals(p->arrived) < wanted")},
		{"what a warp reads is stored meanwhile", "waiting", change("large.cuh", "        warp_barrier(); // all have read it\n", "")},
		{"rows that wait a burst too short", "waiting", change("large.cuh", "count = end - s->waits_from[(t + 2 - p", "count = end - s->waits_from[(t + 3 - p")},
		{"no room for rows that wait", "waiting, two devices", change("large.cuh", "return count < room ? count : room;", "return count < room + count ? count : room;")},
		{"a row that waits from a burst too late", "waiting", change("large.cuh", "waiting w = {row.first, (u32)row.count, (u32)t - 1};", "waiting w = {row.first, (u32)row.count, (u32)t - 2};")},
		{"what does not wait, a burst too late", "waiting", change("large.cuh", "if (w.fired + 1 == (u32)t)", "if (w.fired + 2 == (u32)t)")},
		{"no rows are left to be taken", "waiting", change("large.cuh", ", s->taken = 0;", ";")},
		{"ids that are told before they are stored", "waiting, two devices", change("run_bursts.cu", "    warp_barrier();\n    if (p->devices == 1) {\n", "    if (p->devices == 1) {\n")},
		{"rows that wait at another block", "waiting", change("large.cuh", "(u64)anew(block_index()) * (p", "(u64)(anew(block_index()) / 2) * (p")},
		{"a second round with the sums of the first", "clusters, two rounds", change("cluster_bursts.cu", "                zero_sums(p, s, workers());\n", "")},
		{"sums of two rounds without a barrier between", "clusters, two rounds", change("cluster_bursts.cu", "                zero_sums(p, s, workers());\n                worker_barrier();\n", "                zero_sums(p, s, workers());\n")},
		{"no fence before other devices are told", "roaming, two devices", change("exchange.cuh", "    fence_system(); // one for all of the following\n", "")},
		{"no fence before other devices are told by a warp", "clusters, two devices", change("cluster_bursts.cu", "                fence_system();\n", "")},
		{"no fence before a cluster's blocks join", "clusters", change("clusters.cuh", "    fence_cluster(); // one for all of the following\n", "")},
		{"a counter that wraps around", "resident, few own rows", change("meeting.cuh", "field_of(met)) & 0xffff", "field_of(met)) & 3")},
		{"gathered blocks that wait for nobody", "roaming, gathered", change("run_bursts.cu", "return cluster_barrier();", "return block_barrier();")},
		{"no fence before gathered blocks join", "resident, gathered", change("meeting.cuh", "        fence_cluster();\n", "")},
		{"a gathered block too few", "delayed, gathered", change("meeting.cuh", "while (joined(own) < wanted)", "while (joined(own) + 1 < wanted)")},
		{"rows left at another meeting", "resident, few own rows, gathered", change("meeting.cuh", "s->leaving + (met & 1)), lane()", "s->leaving + (~met & 1)), lane()")},
		{"a counter that is not reset", "delayed, few own rows", change("meeting.cuh", "s->left = s->listed = 0;", "s->left = 0;")},
		{"meetings counted from nought", "resident", change("meeting.cuh", "met = s->met + 1, left", "met = s->met, left")},
		{"a meeting of blocks that acquires nothing", "resident", change("meeting.cuh", "do now = acquire_word(", "do now = arrivals(")},
		{"a meeting before all have delivered", "currents", change("ahead.cuh", "bool tells) {\n    worker_barrier();", "bool tells) {")},
		{"a queue that is cleared while it is read", "currents", change("ahead.cuh", "*length_of(p, t + 2) = *later_length_of(p, t + 2) = 0;", "*length_of(p, t + 2) = *later_length_of(p, t + 4) = 0;")},
		{"a queue that is told of twice", "currents, lasting", change("ahead.cuh", "*later_length_of(p, end - 1) = 0; //", "*length_of(p, end - 1) = 0; //")},
		{"rows of another kernel that are forgotten", "currents, lasting", change("ahead.cuh", "for (u32 due = !begun;; due = 0)", "for (u32 due = 0;; due = 0)")},
		{"a front that decides nothing for the first burst", "currents", change("ahead.cuh", "psc_exp_fires(c, now_ex", "receives && psc_exp_fires(c, now_ex")},
		{"a request that is taken for another burst's", "resident, lasting", change("calls.cuh", "!says(word, place)", "says(word, 0)")},
		{"stimuli of the burst before", "resident, lasting", change("lasting_bursts.cu", "p->ring + (t & p->slot_mask)", "p->ring + ((t - 1) & p->slot_mask)")},
		{"a drive to the port before", "ports", change("run_bursts.cu", "w->acc[first_port_for(d, amount) + i] += amount", "w->acc[first_port_for(d, amount) + i - step] += amount")},
		{"sums of further ports that stay", "ports", change("run_bursts.cu", "if (!teams && further<models>(p) && k < count) clear_further", "if (teams && further<models>(p) && k < count) clear_further")},
		{"one block's sums of further ports", "ports, teams", change("run_bursts.cu", "if (p->sum.size == 1 && !s->stimulated) return;", "if (!s->stimulated) return;")},
		{"no barrier between stimuli that a block's threads add and the update", "resident, lasting", change("lasting_bursts.cu", "    worker_barrier();\n    return true;", "    return true;")},
		{"a word of the request that is left out", "delayed, lasting", change("lasting_bursts.cu", "k < heard + 1 - REQUEST", "k < heard - REQUEST")},
		{"an answer before all neurons are updated", "delayed, lasting", change("resident_bursts.cu", "                front_barrier(p);\n                answer(", "                answer(")},
		{"an answer of numbers that the warp has not yet listed", "resident, lasting", change("calls.cuh", "    warp_barrier();\n    u32 count = total;", "    u32 count = total;")},
		{"joins counted from nought", "clusters", change("cluster_bursts.cu", "join(s, size, (u32)(t - p->first + 1) * size)", "join(s, size, (u32)(t - p->first) * size)")},
		{"a word that is forgotten when it may have been told", "clusters", change("exchange.cuh", "own_of(x, t + 2) = 0; }", "own_of(x, t + 1) = 0; }")},
		{"a count of another burst than is due", "clusters, two devices, late", change("cluster_bursts.cu", "t + 1 - p->packed.delay, &count", "t - p->packed.delay, &count")},
		{"a label of another row's lane", "clusters, late", change("cluster_sums.cuh", "32 / mine->step", "16 / mine->step")},
		{"a meeting that acquires nothing", "event, ahead", change("turns.cuh", "return acquire_word(told", "return arrivals(told")},
		{"bits of a burst that the host has not heard of", "event", change("event_bursts.cu", "in_room<u32>(m->at_bits) + (u32)(t % 2) *", "in_room<u32>(m->at_bits) + (u32)(t % 1) *")},
		{"a length that is cleared while it is read", "event, ahead", change("event_bursts.cu", "e->lengths[(u32)(x.t + e->early) & e->length_mask] = 0", "e->lengths[(u32)(x.t + e->early - e->lag) & e->length_mask] = 0")},
		{"rows that are delivered ahead of their spikes", "event", change("event_bursts.cu", "return x->t + e->early < p->first + p->bursts && (e->lag > 1", "return x->t + e->early < p->first + p->bursts && (e->lag > 0")},
		{"rows of another queue", "event, rows looked up ahead", change("event_bursts.cu", "find_due(p, e, next_place(e, x.due), &d)", "find_due(p, e, x.due, &d)")},
		{"a queue at the place of the next burst", "event, rows looked up ahead", change("event_bursts.cu", "bring_fired(p, e, x.t - 1, x.before,", "bring_fired(p, e, x.t - 1, x.at,")},
		{"the last burst is not queued", "event, rows looked up ahead", change("event_bursts.cu", "p.first + p.bursts - 1, m.now.before,", "p.first + p.bursts - 1, m.now.at,")},
		{"blocks that are a turn too far apart", "event, ahead, blocks apart", change("event_bursts.cu", "x.number + 2 - e->early : 1);", "x.number - e->early : 1);")},
		{"rows that are delivered two turns too far apart", "late", change("late_rows.cuh", "number + 2 > e->apart + 1 ? number + 2 - e->apart : 1", "number > e->apart + 1 ? number - e->apart : 1")},
		{"a queue that is cleared while it is filled", "late", change("late_rows.cuh", "e->lengths[(t + e->apart) &", "e->lengths[(t + 1) &")},
		{"bits that are written while the host is told of them", "late", change("late_rows.cuh", "return t & 1 ? room_at<u32>(s, s->at_list) : room_at<u32>(s, s->at_bits);", "return room_at<u32>(s, s->at_bits);")},
		{"amounts that are drawn while others are added", "late", change("late_rows.cuh", "return room_at<i32>(s, s->at_input) + (t & 1) * p->block_neurons;", "return room_at<i32>(s, s->at_input);")},
		{"a turn that is told before its rows are delivered", "late", change("late_rows.cuh", "        late_barrier();\n        if (thread_in_block() == 0) store_block(&m->turns.done, number + 1);", "        if (thread_in_block() == 0) store_block(&m->turns.done, number + 1);\n        late_barrier();")},
		{"ids that are brought before all are told", "sums", change("sum_bursts.cu", "number + 2 > e->apart + 1 ? number + 2 - e->apart : 1", "number > e->apart + 1 ? number - e->apart : 1")},
		{"a length that is cleared while it is counted", "sums", change("sum_bursts.cu", "*length_in(s, t + e->apart) = 0", "*length_in(s, t) = 0")},
		{"sums of one burst alone", "sums", change("sum_bursts.cu", "return s->at_sums + (u32)(t & 1) * 4 *", "return s->at_sums + (u32)(t & 0) * 4 *")},
		{"ids of one burst alone", "sums", change("sum_bursts.cu", "return room_at<u32>(s, y->at_due) + (u32)(t & 1) * DUE;", "return room_at<u32>(s, y->at_due);")},
		{"a turn that is told before who fired is listed", "sums", change("sum_bursts.cu", "        late_barrier();\n        if (thread_in_block() == 0) store_block(&m->turns.done, number + 1);", "        if (thread_in_block() == 0) store_block(&m->turns.done, number + 1);\n        late_barrier();")},
		{"a length that other blocks still add to", "clusters, late, blocks apart", change("cluster_bursts.cu", "*length_of(p, t + 1 + p->packed.apart) = 0", "*length_of(p, t + 1) = 0")},
		{"a word that is forgotten too late", "clusters, late, blocks apart", change("exchange.cuh", "forget(x, t + earlier)", "forget(x, t)")},
		{"a list that is read before it is written", "learning", change("learn_synapses.cu", "            warp_barrier(); // the list and weights are there\n", "")},
		{"a list that is written before all have read it", "learning", change("learn_synapses.cu", "            warp_barrier(); // all have read it, and weights are there\n", "")},
		{"rows that are read before all are looked up", "ranges", change("learn_ranges.cu", "x->here->taken = 0;\n    barrier_behind(x);", "x->here->taken = 0;")},
		{"rows that are looked up while others are read", "ranges", change("learn_ranges.cu", "    barrier_behind(x); // nobody reads what is written now either\n", "")},
		{"sums that are brought before all have added", "ranges", change("learn_ranges.cu", "    barrier_behind(x);\n    bring_ranges", "    bring_ranges")},
		{"lists of a range that are read while they are written", "ranges", change("learn_ranges.cu", "        warp_barrier(); // what is listed is there, and all have read what they have taken\n", "")},
		{"a turn that acquires nothing", "ranges, blocks apart", change("learn_ranges.cu", "told = acquire_word(", "told = load_system(")},
		{"a turn that begins too early", "ranges, blocks apart", change("learn_ranges.cu", "turn >= before && await_turn(x, turn - before)", "turn > before && await_turn(x, turn - before - 1)")},
		{"lengths of queues that are read before they are taken", "ranges", change("learn_ranges.cu", "    barrier_behind(x);\n    if (delivers) deliver_ranges", "    if (delivers) deliver_ranges")},
		{"sources that take in what sets out a turn too late", "ranges, blocks apart", change("learn_ranges.cu", "follow_own(x, p, LAUNCH, t + x->r.launches)", "follow_own(x, p, LAUNCH, t + x->r.launches - 1)")},
		{"sources of which too few bursts are kept", "ranges, blocks apart", change("plastic.cuh", "s % l->slots;", "s % 2;")},
		{"a length that is cleared too late", "ranges, blocks apart", change("learn_ranges.cu", "x->h.lengths[slot_of(x, t + before)] = 0;", "x->h.lengths[slot_of(x, t + before - 1)] = 0;")},
		{"a sweep before all blocks are there", "ranges, blocks apart", change("learn_ranges.cu", "s, u32 *wanted) {\n    grid_barrier(p, s, wanted);\n#pragma unroll 1\n    for (u64 i = 0; i < x->count", "s, u32 *wanted) {\n#pragma unroll 1\n    for (u64 i = 0; i < x->count")},
		{"a turn that is told before sums are brought", "ranges, blocks apart", change("learn_ranges.cu", "        block_barrier();\n        if (!begins && thread", "        if (!begins && thread")},
		{"a launch whose first events are not delivered", "ranges, blocks apart", change("learn_ranges.cu", "        if (i + 1 == k) grid_barrier(p, s, wanted);\n", "")},
		{"who fires is not waited for", "local", change("local_bursts.cu", "        while (!arrived(p, y, t)) {}\n        u32 known", "        u32 known")},
		{"no barrier between events and rows", "local", change("local_bursts.cu", "BEFORE_ROWS);\n            computing_barrier();\n", "BEFORE_ROWS);\n")},
		{"sources that change while rows read them", "local", change("local_bursts.cu", "        computing_barrier();\n        local_tasks<asked>(p, x, y, t, AFTER_ROWS);\n", "        local_tasks<asked>(p, x, y, t, AFTER_ROWS);\n        computing_barrier();\n")},
		{"post events that are noted twice", "local", change("local_bursts.cu", "if (own == AT_UPDATE && !noted_ahead<asked>(p, x, t)) own = BEFORE_ROWS;", "if (own == AT_UPDATE) own = BEFORE_ROWS;")},
		{"no barrier between rows and the update", "local", change("local_bursts.cu", "        local_rows(p, x, y, &share, t);\n        computing_barrier();\n", "        local_rows(p, x, y, &share, t);\n")},
		{"a sweep that ends before it is over", "local", change("local_bursts.cu", "    computing_barrier();\n    for (u64 i = thread_in_block(); i < x->count; i += computing()) {\n        sweeps", "    for (u64 i = thread_in_block(); i < x->count; i += computing()) {\n        sweeps")},
		{"a burst whose words the host is not told of", "local", change("local_bursts.cu", "} while (t < end && t - from < y->slots / 4 && arrived(p, y, t));", "} while (t < end && t - from < y->slots / 4);")},
		{"blocks that do not wait until others are ready", "local", change("local_bursts.cu", "    cluster_barrier(); // all have their memory ready for words\n", "")},
		{"a block's stimuli of the burst before", "local, lasting", change("local_bursts.cu", "inside<i32>(y->sums) + (t & p->slot_mask) * y->own_ports + (y->ports[low(word)]", "inside<i32>(y->sums) + ((t - 1) & p->slot_mask) * y->own_ports + (y->ports[low(word)]")},
		{"a stimulus that a block leaves out", "local, lasting", change("local_bursts.cu", "k + REQUEST < m->heard + 1", "k + REQUEST < m->heard")},
		{"spikes of bursts that there were not", "local, lasting", change("local_bursts.cu", "record(p, &own, y, m.bursts)", "record(p, &own, y, p->bursts)")},
		{"a lane that counts itself", "clusters", change("cluster_bursts.cu", "sum + sum_before(&total, w < words ? ones(bits[w]) : 0)", "sum + sum_before(&total, w < words ? ones(bits[w]) : 0) + (lane() == 1)")},
	}
}

// TestPlantedMistakes compiles the kernels with one mistake at a time, which must show. TestSchedules says that without one nothing does.
func TestPlantedMistakes(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the kernels a dozen times; runs without -short")
	}
	slow.Test(t)
	for _, p := range mistakes() {
		t.Run(p.mistake, func(t *testing.T) {
			list := trials()
			i := slices.IndexFunc(list, func(v trial) bool { return v.name == p.trial })
			require.GreaterOrEqual(t, i, 0, "no trial %q", p.trial)
			h := cudatest.Checked(t, list[i].compiled(), p.Change)
			var err error
			seed := uint64(0)
			for err == nil && seed < 20 {
				seed++
				err = list[i].try(h, seed)
			}
			require.Error(t, err, "%s: no schedule of %d shows it", p.File, seed)
			t.Logf("schedule %d: %v", seed, err)
		})
	}
}
