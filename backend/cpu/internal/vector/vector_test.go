package vector

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/internal/exact"

	"github.com/stretchr/testify/require"
)

// lengths have blocks, a rest of any size, and neither.
func lengths() []int {
	return []int{0, 1, 7, 8, 15, 16, 24, 31, 63, 64, 65, 80, 97, 128, 148, 191, 640, 1001}
}

// values draws potentials: ordinary ones, zeros of both signs, tiny, huge and exact thresholds.
func values(r *rand.Rand, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		switch r.IntN(9) {
		case 0:
			list[i] = 0
		case 1:
			list[i] = float32(math.Copysign(0, -1))
		case 2:
			list[i] = math.SmallestNonzeroFloat32 * float32(r.IntN(90))
		case 3:
			list[i] = 3e38
		case 4:
			list[i] = 17.3
		default:
			list[i] = float32(r.NormFloat64() * 11)
		}
	}
	return list
}

func sums(r *rand.Rand, n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		switch r.IntN(5) {
		case 0:
			list[i] = int32(r.Uint32()) // more bits than float32 holds
		case 1, 2:
			list[i] = int32(r.IntN(40_001) - 20_000)
		}
	}
	return list
}

func countdownsOf(r *rand.Rand, n int) []uint16 {
	list := make([]uint16, n)
	for i := range list {
		switch r.IntN(4) {
		case 0:
			list[i] = uint16(r.Uint32())
		case 1:
			list[i] = 1
		}
	}
	return list
}

// quieten makes every other block and the last neurons such that nothing of them changes: V rests where the formula keeps it.
func quieten(acc []int32, v []float32, r []uint16) {
	for i := range acc {
		if i/Block%2 == 1 || len(acc)-i <= 4 {
			acc[i], v[i], r[i] = 0, 0, 0
		}
	}
}

func TestLIFMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 7))
	lively, quiet := 0, 0
	for _, n := range lengths() {
		for _, term := range []float32{0, 0.0313} {
			k := LIF{EM1: -0.0099, Term: term, Scale: 997, Threshold: 17.3, Reset: -2.1, Refractory: 65535 - uint32(n)}
			acc, v, left := sums(r, n), values(r, n), countdownsOf(r, n)
			quieten(acc, v, left)
			type form struct {
				acc   []int32
				v     []float32
				r     []uint16
				fired []uint64
				live  []uint8
			}
			var forms []form
			for _, kernels := range sets() {
				f := form{slices.Clone(acc), slices.Clone(v), slices.Clone(left), slices.Repeat([]uint64{math.MaxUint64}, blocks(n)), slices.Repeat([]uint8{7}, blocks(n))}
				kernels.LIF(&k, f.acc, f.v, f.r, f.fired, f.live)
				requireSameBits(t, append(forms, f)[0].v, f.v, n)
				forms = append(forms, f)
				f.v = forms[0].v
				require.Equal(t, forms[0], f, "%s: %d neurons", kernels.Name, n)
			}
			for _, is := range forms[0].live {
				lively += int(is)
				quiet += 1 - int(is)
			}
		}
	}
	require.NotZero(t, lively)
	require.NotZero(t, quiet, "a block without term or input must be quiet, or the test means nothing")
}

func TestFEAGIMatchesPlainLoops(t *testing.T) {
	const on = 1<<32 - 1
	r := rand.New(rand.NewPCG(15, 7))
	spikes := 0
	for _, n := range lengths() {
		for _, k := range []FEAGI{
			{17.3, float32(math.Inf(1)), 0.93, 0, 997, 3, on, 0},
			{2.5, 17.3, 1, 1.7, 997, 65535, on, on},
			{0.001, 17.3, 0.5, 1.7, 1, 0, 0, on},
			{-3, 1e30, 0, 0, 16, 7, on, 0},
		} {
			acc, v, left := sums(r, n), values(r, n), countdownsOf(r, n)
			var forms [2][]uint64
			wantAcc, wantV, wantR := slices.Clone(acc), slices.Clone(v), slices.Clone(left)
			forms[0], forms[1] = make([]uint64, blocks(n)), slices.Repeat([]uint64{5}, blocks(n))
			Plain().FEAGI(&k, wantAcc, wantV, wantR, forms[0])
			Best().FEAGI(&k, acc, v, left, forms[1])
			requireSameBits(t, wantV, v, n)
			require.Equal(t, wantR, left)
			require.Equal(t, wantAcc, acc)
			require.Equal(t, forms[0], forms[1], "%d neurons, %+v", n, k)
			for _, w := range forms[0] {
				spikes += bits.OnesCount64(w)
			}
		}
	}
	require.NotZero(t, spikes)
}

func TestPSCExpMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 7))
	lively, quiet := 0, 0
	for _, n := range lengths() {
		for _, term := range []float32{0, 0.0313} {
			k := PSCExp{-0.0099, 0.00039, 0.00041, 0.8187, 0.8188, term, 997, 17.3, -2.1, 65535 - uint32(n)}
			s := Currents{sums(r, n), sums(r, n), values(r, n), values(r, n), values(r, n), countdownsOf(r, n)}
			quieten(s.AccEx, s.V, s.R)
			quieten(s.AccIn, s.Ex, s.R)
			quieten(s.AccIn, s.In, s.R)
			var forms []Currents
			var fired [][]uint64
			var live [][]uint8
			for i, kernels := range sets() {
				c := Currents{slices.Clone(s.AccEx), slices.Clone(s.AccIn), slices.Clone(s.V), slices.Clone(s.Ex), slices.Clone(s.In), slices.Clone(s.R)}
				forms, fired, live = append(forms, c), append(fired, slices.Repeat([]uint64{math.MaxUint64}, blocks(n))), append(live, slices.Repeat([]uint8{7}, blocks(n)))
				kernels.PSCExp(&k, &c, fired[i], live[i])
				requireSameBits(t, forms[0].V, c.V, n)
				requireSameBits(t, forms[0].Ex, c.Ex, n)
				requireSameBits(t, forms[0].In, c.In, n)
				require.Equal(t, forms[0].R, c.R, kernels.Name)
				require.Equal(t, forms[0].AccEx, c.AccEx, kernels.Name)
				require.Equal(t, forms[0].AccIn, c.AccIn, kernels.Name)
				require.Equal(t, fired[0], fired[i], kernels.Name)
				require.Equal(t, live[0], live[i], kernels.Name)
			}
			for _, is := range live[0] {
				lively += int(is)
				quiet += 1 - int(is)
			}
		}
	}
	require.NotZero(t, lively)
	require.NotZero(t, quiet)
}

// TestLiveHasEachReason has one neuron at a time that makes its block live, for one reason alone: an input that changes no bit, silence
// that goes on, or a spike after which all is as before.
func TestLiveHasEachReason(t *testing.T) {
	const n, huge = 88, 3e38
	for _, kernels := range sets() {
		for lane := range n {
			for _, reason := range []string{"none", "first input", "second input", "silence", "spike"} {
				acc, second, v, r := make([]int32, n), make([]int32, n), slices.Repeat([]float32{1}, n), make([]uint16, n)
				ex, in := slices.Repeat([]float32{huge}, n), slices.Repeat([]float32{huge}, n)
				switch reason {
				case "first input":
					acc[lane], v[lane] = 1, huge
				case "second input":
					second[lane] = 1
				case "silence":
					r[lane] = 5
				case "spike":
					v[lane] = 4e37
				}
				want := make([]uint8, blocks(n))
				if reason != "none" {
					want[lane/Block] = 1
				}
				threshold := float32(4e37)
				if reason == "first input" {
					threshold = float32(math.Inf(1))
				}
				fired, live := make([]uint64, blocks(n)), make([]uint8, blocks(n))
				kernels.PSCExp(&PSCExp{0, 0, 0, 1, 1, 0, 997, threshold, threshold, 0}, &Currents{slices.Clone(acc), second, slices.Clone(v), ex, in, slices.Clone(r)}, fired, live)
				require.Equal(t, want, live, "%s: lif_psc_exp, neuron %d, %s", kernels.Name, lane, reason)
				if reason == "second input" {
					continue
				}
				kernels.LIF(&LIF{Scale: 997, Threshold: threshold, Reset: threshold}, acc, v, r, fired, live)
				require.Equal(t, want, live, "%s: lif, neuron %d, %s", kernels.Name, lane, reason)
			}
		}
	}
}

// requireSameBits tells zeros of different signs apart.
func requireSameBits(t *testing.T, want, got []float32, n int) {
	t.Helper()
	for i := range want {
		require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "neuron %d of %d", i, n)
	}
}

// A block is live as long as any bit of its neurons' state changes: here V and a current halve, whose changed bits are alike.
func TestPSCExpIsLiveWhileItChanges(t *testing.T) {
	for _, kernels := range []Kernels{Plain(), Best()} {
		for _, n := range []int{1, 63, 64, 65} {
			for _, of := range []func(c *Currents) []float32{func(c *Currents) []float32 { return c.Ex }, func(c *Currents) []float32 { return c.In }} {
				c := Currents{make([]int32, n), make([]int32, n), make([]float32, n), make([]float32, n), make([]float32, n), make([]uint16, n)}
				c.V[n-1], of(&c)[n-1] = 0x1p-10, 0x1p-10
				fired, live := make([]uint64, blocks(n)), make([]uint8, blocks(n))
				for burst := range 20 {
					kernels.PSCExp(&PSCExp{EM1: -0.5, P11Ex: 0.5, P11In: 0.5, Scale: 1000, Threshold: 1}, &c, fired, live)
					if live[len(live)-1] != 1 {
						t.Fatalf("%s, %d neurons, burst %d: V became %v, and the block is not live", kernels.Name, n, burst, c.V[n-1])
					}
				}
			}
		}
	}
}

func TestDrawsArePhilox(t *testing.T) {
	p := NewPhilox(0x9e3779b97f4a7c15)
	p.Counter = [3]uint32{3, 0xfffffff1, 7<<24 | 5}
	for _, k := range sets() {
		for _, calls := range []int{8, 16, 104} {
			out := make([]uint32, 4*calls)
			k.Draws(p, 1<<30-50, out)
			for i := range calls {
				want := exact.Philox(0x9e3779b97f4a7c15, [4]uint32{1<<30 - 50 + uint32(i), 3, 0xfffffff1, 7<<24 | 5})
				require.Equal(t, want[:], out[4*i:4*i+4], "%s: call %d", k.Name, i)
			}
		}
	}
}

func TestAddCountsMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 7))
	for _, n := range lengths() {
		for _, thresholds := range [][]uint32{nil, {0}, {1 << 31}, {0, 0, 5, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}} {
			acc, draws := sums(r, n), make([]uint32, n)
			for i := range draws {
				if draws[i] = r.Uint32(); i%3 == 0 && len(thresholds) > 0 {
					draws[i] = thresholds[r.IntN(len(thresholds))] - uint32(r.IntN(2))
				}
			}
			want := slices.Clone(acc)
			Plain().AddCounts(want, draws, thresholds, -7)
			for _, k := range sets()[1:] {
				got := slices.Clone(acc)
				k.AddCounts(got, draws, thresholds, -7)
				require.Equal(t, want, got, "%s: %d draws, thresholds %v", k.Name, n, thresholds)
			}
		}
	}
}

func TestNonzeroMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 7))
	for _, n := range lengths() {
		acc := sums(r, n)
		want, got := make([]uint64, blocks(n)), make([]uint64, blocks(n))
		Plain().Nonzero(acc, want)
		Best().Nonzero(acc, got)
		require.Equal(t, want, got, "%d sums", n)
	}
}

// TestDeliverMatchesPlainLoops reads segments of every kind and length, at odd places, with slots that repeat and sums that wrap,
// from spans that hold none, one or many of them.
func TestDeliverMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 7))
	for _, ahead := range []int{1, 3, 99} {
		var rows []uint16
		var spans []Span
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 97, 640} {
			spans = append(spans, Span{uint64(len(rows)), uint64(len(rows))})
			for _, kind := range []uint16{Even, Mixed, Wide} {
				from, bits := uint64(len(rows)), 1+r.UintN(8)
				rows = append(rows, uint16(n), kind|uint16(bits)<<8, uint16(r.Uint32N(1<<16)), 0, uint16(r.Uint32()), uint16(r.Uint32()))
				if kind == Even {
					rows[from+1] = Even
				}
				for k := range n {
					switch gap := r.Uint32N(1 << bits); {
					case kind == Even && k > 0:
						rows = append(rows, uint16(gap))
					case kind == Mixed:
						word := r.Uint32()<<bits | gap
						rows = append(rows, uint16(word), uint16(word>>16))
					case kind == Wide:
						rows = append(rows, uint16(gap), 0, uint16(r.Uint32()), uint16(r.Uint32()))
					}
				}
				if n%2 == 0 {
					spans = append(spans, Span{from, uint64(len(rows))})
				}
			}
			if n%2 == 1 {
				spans = append(spans, Span{spans[len(spans)-1].To, uint64(len(rows))})
			}
		}
		want, got := make([]int32, 1<<18), make([]int32, 1<<18)
		Plain().Deliver(want, rows, spans, ahead)
		Best().Deliver(got, rows, spans, ahead)
		require.Equal(t, want, got, "%d spans ahead", ahead)
		for _, span := range spans { // 20 equal ones have loops of their own
			same, again := slices.Repeat([]Span{span}, 20), [2][]int32{make([]int32, 1<<18), make([]int32, 1<<18)}
			Plain().Deliver(again[0], rows, same, ahead)
			Best().Deliver(again[1], rows, same, ahead)
			require.True(t, slices.Equal(again[0], again[1]), "units %d to %d, %d spans ahead", span.From, span.To, ahead)
		}
		touched := make([]int32, len(want))
		for _, slot := range Slots(nil, rows) {
			touched[slot] = 1
		}
		for slot, sum := range want {
			if sum != 0 {
				require.NotZero(t, touched[slot], "slot %d got something and is not in Slots", slot)
			}
		}
	}
	for _, k := range []Kernels{Plain(), Best()} {
		k.Deliver(nil, nil, nil, 2)
	}
}

// anySegment is one of any kind, whose slots ascend from the first half to the last one at most.
func anySegment(r *rand.Rand, slots uint32) []uint16 {
	const bits = 9
	count, kind, weight := 1+r.IntN(9), uint16(r.IntN(3)), r.Uint32()
	row := []uint16{uint16(count), kind | kind&1*bits<<8, uint16(r.Uint32N(slots / 2)), 0, uint16(weight), uint16(weight >> 16)}
	most := slots / 2 / 9
	for k := range count {
		gap, more := r.Uint32N(most), r.Uint32N(1<<20)
		switch {
		case kind == Even && k > 0:
			row = append(row, uint16(gap))
		case kind == Mixed:
			row = append(row, uint16(gap|more<<bits), uint16(more>>(16-bits)))
		case kind == Wide:
			row = append(row, uint16(gap), 0, uint16(more), uint16(more>>16))
		}
	}
	return row
}

// TestFlightsDeliverRuns: rows with runs of most delays, of no segment or two, whose flights go on burst by burst. Every weight arrives
// in its burst, and no other flight moves.
func TestFlightsDeliverRuns(t *testing.T) {
	const slots, delays, least, fired = 1 << 10, 7, 3, 1000
	r := rand.New(rand.NewPCG(5, 8))
	var rows []uint16
	var flights []Flight
	want := make([][]int32, least+delays)
	for i := range want {
		want[i] = make([]int32, slots)
	}
	for row := range 60 {
		from := uint64(len(rows))
		for delay := least; delay < least+delays; delay++ {
			if row%delays == delay-least {
				continue
			}
			at := len(rows)
			rows = append(rows, uint16(delay), 0, 0)
			for range r.IntN(3) {
				rows = append(rows, anySegment(r, slots)...)
			}
			segments := rows[at+RunUnits:]
			PutDouble(rows[at+1:], uint32(len(segments)))
			Plain().Deliver(want[delay], segments, []Span{{0, uint64(len(segments))}}, 1)
		}
		to := uint64(len(rows))
		flights = append(flights, Launch(rows, from, to, fired), Launch(rows, from, from, fired))
	}
	for _, k := range sets() {
		for i, ahead := range []int{1, 16, 999, 0} {
			at := []int{0, 1, slots / 3, 0}[i]
			left := slices.Clone(flights)
			for delay := uint64(least); delay < least+delays; delay++ {
				var due []Flight
				for i := range left {
					if f := &left[i]; f.From == f.To || uint64(f.Due) == fired+delay {
						due = append(due, *f)
						f.From = f.To
					}
				}
				before := slices.Clone(due)
				now := make([]int32, slots)
				k.DeliverRuns(now, at, rows, due, ahead)
				now = slices.Concat(now[at:], now[:at])
				require.Equal(t, want[delay], now, "%s, %d ahead, delay %d", k.Name, ahead, delay)
				for i, f := range before {
					if f.From < f.To {
						f.Next(rows)
					}
					require.Equal(t, f, due[i])
				}
				left = append(left, due...)
			}
			require.False(t, slices.ContainsFunc(left, func(f Flight) bool { return f.From < f.To }))
		}
		k.DeliverRuns(nil, 0, nil, []Flight{{}}, 2)
	}
}

// TestRoomsHoldRows: rows that are empty, short, as long as their room, a unit longer, and far longer, of segments of all kinds.
func TestRoomsHoldRows(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 9))
	for i, room := range []uint64{8, 16, 32, 8, 16, 32} {
		const n, sums = 400, 1 << 21
		rooms, direct := Rooms{Room: room, Units: make([]uint16, n*room)}, 0
		if i >= 3 {
			rooms.Slots = 1 << 15 // more than Direct rows have
		}
		var rows [][]uint16
		var ids []uint32
		for id := range uint32(n) {
			var row []uint16
			for range r.IntN(4) {
				count, kind := 1+r.IntN(int(room)), uint16(r.IntN(3))
				row = append(row, uint16(count), kind|uint16(kind&1*5)<<8, uint16(r.Uint32N(1<<10)), 0, uint16(r.Uint32()), uint16(r.Uint32()))
				for k := range []int{count - 1, 2 * count, 4 * count}[kind] {
					x := uint16(r.Uint32N(4))
					if kind == Wide && k%4 == 1 { // the upper half of a gap
						x = 0
					}
					row = append(row, x)
				}
			}
			if id%5 == 0 { // exactly as long as the room, or a unit longer
				row = append([]uint16{uint16(room) - HeaderUnits + 1 + uint16(id/5%2), Even, 3, 0, 9, 0}, make([]uint16, room-HeaderUnits+uint64(id/5%2))...)
			}
			rooms.Put(id, row)
			rows, ids = append(rows, row), append(ids, uint32(id*7%n))
		}
		want := make([]int32, sums)
		for id, row := range rows {
			held := rooms.Row(uint32(id))
			if len(held) > 0 && held[1] == Direct {
				direct++
				require.Len(t, held, DirectUnits+int(row[0]))
			} else {
				require.Len(t, held, len(row))
			}
			require.Equal(t, Slots(nil, row), Slots(nil, held))
			Plain().Deliver(want, row, []Span{{0, uint64(len(row))}}, 1)
		}
		for _, k := range []Kernels{Plain(), Best()} {
			got := make([]int32, len(want))
			k.DeliverRooms(got, &rooms, ids[:3])
			k.DeliverRooms(got, &rooms, ids[3:])
			if rooms.Slots > 0 {
				spare := got[rooms.Slots:][:SpareSlots]
				copy(spare, want[rooms.Slots:])
			}
			require.Equal(t, want, got, "%s, rooms of %d", k.Name, room)
			k.DeliverRooms(nil, &Rooms{}, nil)
		}
		require.Equal(t, rooms.Slots > 0, direct > 0)
	}
}

// Benchmarks of both forms: neurons/op is the same.
func BenchmarkLIF(b *testing.B) {
	const n = 100_032
	k := LIF{EM1: -0.0099, Term: 0.0313, Scale: 997, Threshold: 17.3, Reset: -2.1, Refractory: 20}
	for _, kernels := range []Kernels{Plain(), Best()} {
		b.Run(kernels.Name, func(b *testing.B) {
			acc, v, r := make([]int32, n), make([]float32, n), make([]uint16, n)
			fired, live := make([]uint64, n/Block), make([]uint8, n/Block)
			for b.Loop() {
				kernels.LIF(&k, acc, v, r, fired, live)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/neuron")
		})
	}
}

func BenchmarkPSCExp(b *testing.B) {
	const n = 77_184
	k := PSCExp{-0.0099, 0.00039, 0.00041, 0.8187, 0.8188, 0.01, 997, 17.3, -2.1, 20}
	for _, kernels := range []Kernels{Plain(), Best()} {
		b.Run(kernels.Name, func(b *testing.B) {
			s := Currents{make([]int32, n), make([]int32, n), make([]float32, n), make([]float32, n), make([]float32, n), make([]uint16, n)}
			fired, live := make([]uint64, n/Block), make([]uint8, n/Block)
			for b.Loop() {
				kernels.PSCExp(&k, &s, fired, live)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/neuron")
		})
	}
}

// BenchmarkPoisson is a drive of 1.5 events a burst.
func BenchmarkPoisson(b *testing.B) {
	const n = 512
	thresholds := []uint32{958334059, 2395835147, 3473710962, 4012648870, 4214750586, 4275381100, 4290538729, 4293786792, 4294395804, 4294497306, 4294512531, 4294514607}
	p := NewPhilox(5)
	for _, kernels := range sets() {
		b.Run(kernels.Name, func(b *testing.B) {
			acc, draws := make([]int32, n), make([]uint32, n)
			for b.Loop() {
				p.Counter[1]++
				kernels.Draws(p, 77, draws)
				kernels.AddCounts(acc, draws, thresholds, 3)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/neuron")
		})
	}
}
