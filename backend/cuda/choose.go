package cuda

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"burst/connectome"
	"burst/genome"
	"burst/internal/quanta"
)

// path is a way in which a device runs bursts.
type path int

// The paths. choose takes the last one that the network and the device allow. All but the first run many bursts in one launch.
const (
	pathSingle   path = iota // each burst by itself
	pathEvent                // neurons that change at inputs alone: kernels/event_bursts.cu
	pathRun                  // any network: kernels/run_bursts.cu
	pathLearn                // and weights that change: kernels/learn_bursts.cu
	pathLocal                // likewise, in small networks, whose blocks hold all that their neurons need: kernels/local_bursts.cu
	pathRanges               // of rules of pairs, with targets in shared memory: kernels/learn_ranges.cu
	pathResident             // state in shared memory: kernels/resident_bursts.cu, own_rows.cuh
	pathDelayed              // and rows that are delivered while neurons are updated: kernels/early_rows.cuh, ahead.cuh
	pathLate                 // likewise, of delays of several bursts, with blocks some bursts apart: kernels/late_bursts.cu
	pathTeams                // sums in the shared memory of teams of blocks: kernels/teams.cuh
	pathClusters             // sums in the shared memory of those who update: kernels/cluster_bursts.cu
	pathSums                 // likewise, with blocks some bursts apart: kernels/sum_bursts.cu
)

func (p path) String() string {
	return [...]string{"single", "event", "run", "learn", "local", "ranges", "resident", "delayed", "late", "teams", "clusters", "sums"}[p]
}

// keepsState reports whether the path's blocks keep their neurons' state in shared memory for a whole launch, and know a burst's time.
func (p path) keepsState() bool {
	return p == pathResident || p.early() || p == pathClusters || p == pathSums
}

// early reports whether rows are delivered while neurons are updated.
func (p path) early() bool { return p == pathDelayed || p == pathLate }

// kernel is the name of the path's kernel for c; empty if the path launches each burst by itself.
func (p path) kernel(c *connectome.Connectome) string {
	switch p {
	case pathSingle:
		return ""
	case pathLearn:
		if slices.ContainsFunc(c.Plastic, func(p connectome.Plastic) bool { return len(p.Modulators) > 0 || p.Window.Kind != genome.WindowNone }) {
			return "learn_bursts_all"
		}
		return "learn_bursts"
	case pathRanges:
		return "learn_bursts_ranges"
	case pathLocal:
		return "local_bursts"
	case pathRun, pathTeams:
		if _, all := customs(c); all {
			return "run_bursts_custom"
		}
		return "run_bursts" + modelSuffix(c)
	case pathEvent:
		return "event_bursts"
	case pathSums:
		return "sum_bursts" + modelSuffix(c)
	case pathLate:
		return "late_bursts" + modelSuffix(c)
	case pathResident, pathDelayed:
		return "resident_bursts" + modelSuffix(c)
	}
	return "cluster_bursts" + modelSuffix(c)
}

// Path says how a device runs bursts, and what decided that.
type Path struct {
	Name   string   `json:"path"`   // single, event, run, learn, local, ranges, resident, delayed, late, teams or clusters; several where devices take different ones
	Kernel string   `json:"kernel"` // of many bursts; empty where each burst is launched by itself
	Why    string   `json:"why"`
	Not    []string `json:"not"` // the paths before it in the order of choice, and what the network or the device lacks for them
}

func (p Path) String() string {
	if p.Kernel == "" {
		return p.Name + ": " + p.Why
	}
	return fmt.Sprintf("%s (%s): %s", p.Name, p.Kernel, p.Why)
}

// choice is the path of a network on a device, and the shape of its launches.
type choice struct {
	path    path
	why     string
	not     []string
	shared  uint64     // bytes of a block's memory
	learnt  uint64     // those of them that projections that learn take; of local all but what others have
	local   uint64     // of local alone: bytes of device memory for what its blocks begin with
	near    uint64     // and of these, those for tables
	rounds  bool       // and whether some are for rounds (roundBytes)
	cached  bool       // where the state is not kept: whether a block holds a copy of it
	cells   uint64     // of event alone: where in a block's memory what its kernel alone has begins
	tabled  bool       // and of the tables
	byFour  bool       // whether a block has room to draw for many neurons at a time
	outside bool       // clusters: whether the neurons' state stays in global memory
	far     bool       // local: whether what sources were before spikes that are on their way does
	gather  bool       // whether all blocks are one cluster
	waits   uint32     // synapses with such delays, in bursts, wait in their rows until they are due; 0: rows are delivered whole
	teams   teamShape  // of teams alone
	ranges  rangeShape // of ranges alone
}

// large reports whether launches do what is for large networks alone, which is in a unit of its own.
func (c *choice) large() bool { return c.byFour || c.waits > 0 }

// question is what choose looks at.
type question struct {
	b           *backend
	c           *connectome.Connectome
	t           *tables
	r           *rows
	blocks, own uint64      // of a launch, and neurons of each
	oneDelay    func() bool // whether all synapses have the longest delay; of alike
	answer      choice
}

// want looks for what a path needs. It says what is lacking, or nothing and leaves in the answer what it has found.
type want func(q *question) (lacks string)

// line is a path, what it needs, and why it is taken then.
type line struct {
	path  path
	wants []want
	why   string
}

// lines are the paths in the order of choice: the first that lacks nothing is taken.
var lines = []line{
	{pathSums, []want{many, placed, apartSums, sumsFit}, "rows are long and of one weight each, and their delay is several bursts: blocks sum them in their shared memory, and do not meet"},
	{pathClusters, []want{many, placed}, "rows are long and of one weight each: blocks sum them in their shared memory, from 2 bytes a synapse"},
	{pathTeams, []want{many, steady, still, summed, dealt}, "rows are long and all delays are 1: teams of blocks sum them in their shared memory"},
	{pathLate, []want{many, steady, still, near, kept, keptEarly, late}, "delays are several bursts: blocks do not meet, and rows are delivered while neurons are updated"},
	{pathDelayed, []want{many, steady, still, near, kept, early, keptEarly}, "state fits shared memory: rows are delivered while neurons are updated"},
	{pathResident, []want{many, steady, still, near, kept, keptAlone}, "state fits shared memory: a block delivers the rows of its own neurons"},
	{pathRanges, []want{many, steady, learn, near, rangeable, bitsFit, rangesFit}, "it learns by rules of pairs: each block delivers to a range of targets, whose sums and events it keeps in shared memory"},
	{pathLocal, []want{many, steady, learn, localFits}, "it learns and is small: blocks hold all that their neurons need, and tell each other who fires"},
	{pathLearn, []want{many, steady, learn, near, bitsFit, learnersFit}, "it learns: what all others do between the barriers of path run is joined by events, rows and traces"},
	{pathRun, []want{many, steady, still, bitsFit, drawsFit, waitsPay}, "what every network can have: state in global memory, rows shared by all blocks"},
	{pathEvent, []want{many, changing, dueFits, cellsFit}, "neurons that change at inputs alone are looked at where they have one; rows are delivered when they are due"},
}

// choose finds the path of the network that b holds.
func (b *backend) choose(t *tables) choice {
	q := question{b: b, c: b.c, t: t, r: &b.rows}
	if b.c.Neurons > 0 {
		q.blocks, q.own = b.usualGrid()
	}
	general := pathRun // what takes every network of its kind
	switch {
	case eventful(b.c):
		general = pathEvent
	case len(b.c.Plastic) > 0:
		general = pathLearn
	}
	var not []string
	var why string
	for _, l := range lines {
		q.answer = choice{path: l.path, why: l.why, not: not}
		lacks := q.lacks(l.wants)
		if lacks == "" {
			q.answer.gather = l.path == pathLocal || b.gathered()
			return q.answer
		}
		not = append(not, l.path.String()+": "+lacks)
		if l.path == general {
			why = lacks
		}
	}
	return choice{path: pathSingle, why: why}
}

// lacks is what the first of some wants that is not met lacks.
func (q *question) lacks(wants []want) string {
	for _, w := range wants {
		if no := w(q); no != "" {
			return no
		}
	}
	return ""
}

// devices is how many share the network, in this process or in others.
func (q *question) devices() uint32 { return uint32(max(1, q.b.share.devices, q.c.Part.Of)) }

// grid is how many blocks a launch of many bursts has, and how many neurons each owns.
func (b *backend) grid() (blocks, own uint64) {
	if b.choice.path == pathLocal {
		return b.localGrid()
	}
	return b.usualGrid()
}

// usualGrid is grid for all other paths.
func (b *backend) usualGrid() (blocks, own uint64) {
	if s := &b.rows.shape; s.count > 0 {
		return s.blocks(), s.own
	}
	sms := b.sms
	if b.gathered() {
		sms = min(sms, b.tune.gather)
	}
	return deal(b.c, sms)
}

// few reports whether the network has at most so many neurons, and few synapses.
func (b *backend) few(neurons uint32) bool {
	synapses := b.rows.synapses
	for i := range b.c.Plastic {
		synapses += uint64(len(b.c.Plastic[i].Target))
	}
	return b.c.Neurons <= neurons && synapses <= b.tune.fewSynapses
}

// gathered reports whether all blocks of a launch are one cluster, whose blocks wait for each other in two thirds of the time. They are few,
// so the network must be so small that they are enough. Where a rule looks at all synapses, in every burst or at times, they are not.
func (b *backend) gathered() bool {
	t, c := &b.tune, b.c
	if t.gather == 0 || !b.cluster || b.rows.shape.count > 0 || !c.Part.Whole() || b.share.devices > 1 || t.parts > 1 || b.want.Stimuli || b.want.FCL || eventful(c) {
		return false
	}
	if len(c.Plastic) == 0 {
		return b.few(t.gatherNeurons)
	}
	return b.few(t.gatherLearning) && !slices.ContainsFunc(c.Plastic, func(p connectome.Plastic) bool { return p.Every != nil || windowed(&p) })
}

// threads is how many a block of a launch of many bursts has. Where there is little to do, each further warp delays the others.
func (b *backend) threads() uint32 {
	if b.choice.path == pathLocal {
		return min(b.tune.batchThreads, b.tune.fewThreads) + tellers
	}
	if b.gathered() || len(b.c.Plastic) > 0 && b.few(b.tune.fewLearning) {
		return min(b.tune.batchThreads, b.tune.fewThreads)
	}
	if eventful(b.c) {
		return min(b.tune.batchThreads, eventThreads)
	}
	return b.tune.batchThreads
}

// many: launches of many bursts can be.
func many(q *question) string {
	b, c := q.b, q.c
	switch {
	case b.tune.plain:
		return "launches of many bursts are turned off"
	case b.single != "":
		return b.single
	case c.Neurons == 0:
		return "there are no neurons"
	case len(c.Memories()) > 0:
		return fmt.Sprintf("which neuron of the memory area %q fires the host finds between bursts", c.Memories()[0].Name)
	case c.Driven != nil:
		return "potentials drive what spikes deliver (psp_max), and the host makes amplitudes of them between bursts"
	case b.want.FCL && q.devices() > 1:
		return "fire candidate lists are wanted of several devices"
	case !eventful(c) && ringBytes(c) > b.ringRoom:
		return fmt.Sprintf("sums of %d bursts to come take %d bytes, want at most %d", ringSlots(c.MaxDelay), ringBytes(c), b.ringRoom)
	}
	return ""
}

// near: a synapse's delay takes a byte.
func near(q *question) string {
	if q.c.MaxDelay > quanta.MaxApart {
		return fmt.Sprintf("there are delays of %d bursts, want at most %d", q.c.MaxDelay, quanta.MaxApart)
	}
	return ""
}

// still: nothing learns.
func still(q *question) string {
	if len(q.c.Plastic) == 0 {
		return ""
	}
	p := &q.c.Plastic[0]
	return fmt.Sprintf("projections[%d] learns (%s)", p.Projection, p.Rule.Name)
}

// learn: something learns, and launches of many bursts can be.
func learn(q *question) string {
	switch {
	case len(q.c.Plastic) == 0:
		return "nothing learns"
	case q.b.want.FCL:
		return "fire candidate lists are wanted"
	}
	return ""
}

// builtIn reports whether all models are burst's own.
func builtIn(c *connectome.Connectome) bool {
	some, _ := customs(c)
	return !some
}

// placeable says why a network of this kind has no rows of places, whatever its synapses are; empty if it can have them.
func placeable(q *question) string {
	b, c := q.b, q.c
	notOne := func(a connectome.Area) bool { return a.PortsEach() != 1 }
	switch {
	case len(c.Plastic) > 0:
		return still(q)
	case b.tune.clusterRow == 0:
		return "clusters are turned off"
	case b.want.FCL:
		return "fire candidate lists are wanted"
	case !builtIn(c):
		return "the genome has models of its own"
	case eventful(c):
		return steady(q)
	case slices.ContainsFunc(c.Areas, notOne) && modelSuffix(c) != "_psc_exp":
		return "neurons have several ports or none"
	case c.Neurons < q.leastPlaced():
		return fmt.Sprintf("%d neurons, want at least %d", c.Neurons, q.leastPlaced())
	}
	return ""
}

// alike: rows are long, and all delays are one that suits places.
func alike(q *question) string {
	tune, devices, row := &q.b.tune, q.devices(), q.b.tune.clusterRow
	beside := q.sumsBeside()
	if beside {
		row = min(row, tune.sumsRow)
	}
	switch {
	case devices*q.r.mean < row || q.r.synapses == 0:
		return shortRows(devices*q.r.mean, row)
	case q.c.MaxDelay == 1:
		return ""
	case near(q) != "":
		return near(q)
	case devices == 1 && q.r.synapses < tune.clusterDelayed && !beside: // several devices have no early delivery
		return fmt.Sprintf("there are delays above 1 and %d synapses, want at least %d", q.r.synapses, tune.clusterDelayed)
	case !q.oneDelay():
		return "delays differ"
	}
	return ""
}

// leastPlaced is how many neurons a network with rows of places has at least.
func (q *question) leastPlaced() uint32 {
	if q.sumsBeside() {
		return min(q.b.tune.clusterLeast, q.b.tune.sumsLeast)
	}
	return q.b.tune.clusterLeast
}

func shortRows(mean, least uint32) string {
	return fmt.Sprintf("rows of %d synapses, want at least %d", mean, least)
}

// placed: the rows are stored as places, which rowsOf has decided by the same wants before it stored them.
func placed(q *question) string {
	s := &q.r.shape
	if s.count == 0 {
		return cmp.Or(q.r.unplaced, "its rows are not known yet")
	}
	q.answer.shared, q.answer.outside = s.shared, s.outside
	if s.outside {
		q.answer.why += "; their state, which has no room there, stays in global memory"
	}
	return ""
}

// summed: teams that sum the rows are worth their cost. Each team looks at each row, and sums are added up in each burst. If rows are short
// or synapses are few, that takes longer than it saves.
func summed(q *question) string {
	tune, devices := &q.b.tune, q.devices()
	switch {
	case tune.teamRow == 0:
		return "teams are turned off"
	case q.c.Ports == 0 || devices*q.r.mean < tune.teamRow:
		return shortRows(devices*q.r.mean, tune.teamRow)
	case q.r.synapses < tune.teamLeast:
		return fmt.Sprintf("there are %d synapses, want at least %d", q.r.synapses, tune.teamLeast)
	case q.r.delays > 0:
		return "there are delays above 1"
	case q.r.synapses > math.MaxUint32-32:
		return fmt.Sprintf("%d synapses, want at most %d", q.r.synapses, uint64(math.MaxUint32-32))
	}
	return ""
}

// dealt: teams' sums fit shared memory.
func dealt(q *question) string {
	s := q.b.teamShape(q.c, q.t, q.r, q.blocks, q.own)
	if s.count == 0 {
		return "the sums do not fit shared memory"
	}
	q.answer.teams, q.answer.shared, q.answer.cached, q.answer.tabled = s, s.shared, s.cached, s.tabled
	return ""
}

// kept: rows are such that blocks that keep the state of their neurons can deliver them.
func kept(q *question) string {
	switch {
	case q.b.tune.roaming:
		return "state in shared memory is turned off"
	case !builtIn(q.c):
		return "the genome has models of its own"
	case q.devices() > 1:
		return "there are several devices, and rows of another's neurons belong to no block"
	case q.r.crowded:
		return "a block has more than 2^32 synapses"
	}
	return ""
}

// early: it pays if the warps that update neurons deliver their rows.
func early(q *question) string {
	tune, r := &q.b.tune, q.r
	least := tune.delayedRow
	if q.ahead() {
		least = min(least, tune.aheadRow)
	}
	switch {
	case tune.delayedRow == 0 || r.synapses == 0:
		return "there are no rows to deliver"
	case r.delays > 0 && r.mean < least:
		return "there are delays above 1 and " + shortRows(r.mean, least)
	case r.delays == 0 && modelSuffix(q.c) == "":
		return "there are several models, or one that is not common"
	case r.delays == 0 && tune.listed:
		return "it is turned off for delays of 1"
	}
	return ""
}

// ahead reports whether neurons decide a burst ahead: ahead of kernels/ahead.cuh.
func (q *question) ahead() bool {
	return modelSuffix(q.c) == "_psc_exp" && q.r.delays > 0 && !q.b.want.FCL
}

// keptEarly and keptAlone: the state fits shared memory.
func keptEarly(q *question) string {
	if q.ahead() {
		q.answer.why = "state fits shared memory: neurons decide a burst ahead, and rows are delivered while neurons are updated"
	}
	return q.fits(q.residentBytes() + divUp(4*q.own, 16)*16)
}
func keptAlone(q *question) string { return q.fits(q.residentBytes()) }

// residentBytes are those of a block that keeps the state of its neurons, with the table of weights.
func (q *question) residentBytes() uint64 {
	return q.t.residentBytes(q.c, q.own) + divUp(q.r.tableBytes(), 16)*16
}

func (q *question) fits(bytes uint64) string {
	if q.answer.shared = bytes; bytes > q.b.room {
		return fmt.Sprintf("a block of %d neurons needs %d bytes of shared memory, has %d", q.own, bytes, q.b.room)
	}
	return ""
}

// bitsFit: there is room for a bit a neuron, or even for copies of the tables, or of these and the state.
func bitsFit(q *question) string {
	least, tabled, cached := q.t.sharedBytes(q.c, q.own)
	if q.answer.tabled = tabled <= q.b.room && !q.b.tune.uncached; !q.answer.tabled {
		return q.fits(least)
	}
	q.answer.shared = tabled
	if q.answer.cached = cached <= q.b.room && !readsTargets(q.c); q.answer.cached {
		q.answer.shared = cached
	}
	return ""
}

// drawsFit: blocks can draw for each neuron alone, but those with many neurons draw for many at a time if there is room.
func drawsFit(q *question) string {
	const words, ports = 4, 2 // WORDS of kernels/large.cuh
	room := 4 * words * ports * uint64(q.b.threads())
	if len(q.t.drives) > 0 && q.own >= q.b.tune.drawLeast && builtIn(q.c) && !q.b.want.FCL && q.answer.shared+room <= q.b.room {
		q.answer.byFour = true
		q.answer.shared += room
	}
	return ""
}

// mostWaits is WAITS of kernels/run.cuh: rows wait for fewer bursts.
const mostWaits = 64

// waitsPay: rows could be delivered whole, but it is faster to let them wait, because sums of later bursts are many, and rows are long
// enough that each may be looked at in every burst.
func waitsPay(q *question) string {
	tune := &q.b.tune
	longest := min(tune.waitLongest, uint32(q.c.MaxDelay), mostWaits-1)
	if longest > 1 && q.r.mean >= tune.waitRow*longest && ringBytes(q.c) >= tune.waitRing && builtIn(q.c) && !q.b.want.FCL {
		q.answer.waits = longest
	}
	return ""
}

// learnersFit: blocks can do without a copy of what does not change of projections that learn, but have one if there is room.
func learnersFit(q *question) string {
	for _, room := range []struct {
		near   uint64
		rounds bool
	}{{nearRoom, true}, {nearRoom, false}, {0, false}} {
		if room.rounds && !q.b.long() {
			continue
		}
		_, bytes := q.learners(room.near, room.rounds)
		if q.answer.shared+bytes <= q.b.room {
			q.answer.shared += bytes
			q.answer.learnt, q.answer.near, q.answer.rounds = bytes, room.near, room.rounds
			return ""
		}
	}
	return ""
}

// learners lays out projections that learn, with so many bytes of tables near. A copy of what blocks need of them takes bytes of a block's
// memory, with each warp's room for rounds or without.
func (q *question) learners(near uint64, rounds bool) (l *learning, bytes uint64) {
	l, _ = q.b.layLearning(0, near)
	bytes = divUp(l.all.fixedBytes, 16) * 16
	if rounds {
		bytes += roundBytes * uint64(q.b.tune.batchThreads) / 32
	}
	return l, bytes
}

// readsTargets reports whether rules read the state of neurons, which must lie where all see it then.
func readsTargets(c *connectome.Connectome) bool {
	return slices.ContainsFunc(c.Plastic, func(p connectome.Plastic) bool { return len(p.TargetVariables) > 0 })
}

// many reports whether launches of many bursts are possible.
func (b *backend) many() bool { return b.choice.path != pathSingle }

// Path is how the device runs bursts. For a caller that acts between bursts a launch has one.
func (b *backend) Path() Path {
	c, why := &b.choice, b.choice.why
	if c.gather && c.path != pathLocal {
		why += "; all blocks are one cluster, whose barrier is shorter"
	}
	return Path{Name: c.path.String(), Kernel: c.path.kernel(b.c), Why: why, Not: slices.Clone(c.not)}
}

// Uploading is how long rows took to be packed and copied.
func (b *backend) Uploading() time.Duration { return b.uploading }

// Uploading is that of the device that took longest: all copy at once.
func (g *group) Uploading() (most time.Duration) {
	for _, b := range g.parts {
		most = max(most, b.uploading)
	}
	return most
}

// Path is that of all devices. Where they take different ones, it says which takes which; where one runs single bursts, all do.
func (g *group) Path() Path {
	first, same := g.parts[0].Path(), true
	var whys []string
	for _, b := range g.parts {
		p := b.Path()
		if p.Name == pathSingle.String() {
			return p
		}
		same = same && p.Name == first.Name && p.Kernel == first.Kernel
		whys = append(whys, fmt.Sprintf("device %d: %v", b.device.Index(), p))
	}
	if same {
		return first
	}
	return Path{Name: "several", Why: strings.Join(whys, "; ")}
}
