package engine_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"burst/engine"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// filled is a T whose slices all have three entries and whose numbers all differ and ascend.
func filled[T any]() *T {
	x, next := new(T), 0
	fill(reflect.ValueOf(x).Elem(), &next)
	return x
}

func fill(v reflect.Value, next *int) {
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
		return
	}
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
		return
	}
	*next += 10
	v.Set(reflect.ValueOf(*next).Convert(v.Type()))
}

// leaf is a number or slice inside a structure.
type leaf struct {
	path  string // as More[][] or Candidates[].Sum
	index []int  // one for each [] of the path
	v     reflect.Value
}

// leaves lists the numbers, or the slices, of what x points to.
func leaves(x any, slices bool) (list []leaf) {
	var walk func(l leaf)
	walk = func(l leaf) {
		switch l.v.Kind() {
		case reflect.Struct:
			for i := range l.v.NumField() {
				dot := "."
				if l.path == "" {
					dot = ""
				}
				walk(leaf{l.path + dot + l.v.Type().Field(i).Name, l.index, l.v.Field(i)})
			}
		case reflect.Slice:
			if slices {
				list = append(list, l)
			}
			for i := range l.v.Len() {
				walk(leaf{l.path + "[]", append(l.index[:len(l.index):len(l.index)], i), l.v.Index(i)})
			}
		default:
			if !slices {
				list = append(list, l)
			}
		}
	}
	walk(leaf{v: reflect.ValueOf(x).Elem()})
	return list
}

// flip makes another number of it, of a float one that differs in the last bit.
func (l leaf) flip() {
	switch l.v.Kind() {
	case reflect.Float32:
		l.v.SetFloat(float64(math.Float32frombits(math.Float32bits(float32(l.v.Float())) ^ 1)))
	case reflect.Int32:
		l.v.SetInt(l.v.Int() + 1)
	default:
		l.v.SetUint(l.v.Uint() + 1)
	}
}

// named is what a comparator must call a difference.
type named struct {
	field  string
	neuron uint32
}

// stateNames says it of the number at an index of each field of a State. The digest belongs to the engine.
var stateNames = map[string]func(s *engine.State, i []int) named{
	"Number":       func(*engine.State, []int) named { return named{"number", 0} },
	"V[]":          func(_ *engine.State, i []int) named { return named{"V", uint32(i[0])} },
	"More[][]":     func(_ *engine.State, i []int) named { return named{fmt.Sprintf("variable %d", i[0]+1), uint32(i[1])} },
	"Refractory[]": func(_ *engine.State, i []int) named { return named{"refractory", uint32(i[0])} },
	"Count[]":      func(_ *engine.State, i []int) named { return named{"count", uint32(i[0])} },
	"Queues[][]": func(s *engine.State, i []int) named {
		return named{fmt.Sprintf("queue %d: fired", i[0]+1), s.Queues[i[0]][i[1]]}
	},
	"Amplitudes[][].Neuron":     amplitudeOf,
	"Amplitudes[][].Quanta":     amplitudeOf,
	"Digest":                    nil,
	"Plastic[].Weight[]":        entryName("weight"),
	"Plastic[].Synapse[][]":     entriesName("synapse variable"),
	"Plastic[].Pre[][]":         entriesName("source trace"),
	"Plastic[].PreLast[]":       entryName("source spike"),
	"Plastic[].Source[][]":      entriesName("source variable"),
	"Plastic[].Post[][]":        entriesName("target trace"),
	"Plastic[].PostLast[]":      entryName("target spike"),
	"Plastic[].Modulator[]":     entryName("modulator"),
	"Plastic[].ModulatorLast[]": entryName("modulator burst"),
	"Memory[].Pattern[]":        keptName("pattern"),
	"Memory[].Lifespan[]":       keptName("lifespan"),
	"Memory[].LongTerm[]":       keptName("long-term flag"),
	"Memory[].Lost": func(_ *engine.State, i []int) named {
		return named{fmt.Sprintf("memory area %d: lost patterns", i[0]), 0}
	},
}

func keptName(what string) func(*engine.State, []int) named {
	return func(_ *engine.State, i []int) named {
		return named{fmt.Sprintf("memory area %d: %s of its neuron %d", i[0], what, i[1]), 0}
	}
}

func amplitudeOf(s *engine.State, i []int) named {
	return named{fmt.Sprintf("amplitude %d", i[0]+1), s.Amplitudes[i[0]][i[1]].Neuron}
}

func entryName(array string) func(*engine.State, []int) named {
	return func(_ *engine.State, i []int) named {
		return named{fmt.Sprintf("plastic projection %d: %s, entry %d", i[0], array, i[1]), 0}
	}
}

func entriesName(array string) func(*engine.State, []int) named {
	return func(_ *engine.State, i []int) named {
		return named{fmt.Sprintf("plastic projection %d: %s %d, entry %d", i[0], array, i[1], i[2]), 0}
	}
}

// burstNames likewise.
var burstNames = map[string]func(b *engine.Burst, i []int) named{
	"Number":              func(*engine.Burst, []int) named { return named{"number", 0} },
	"Fired[]":             func(b *engine.Burst, i []int) named { return named{"fired", b.Fired[i[0]]} },
	"Candidates[].Port":   candidateName,
	"Candidates[].Neuron": candidateName,
	"Candidates[].Sum":    candidateName,
	"Amplitudes[].Neuron": burstAmplitude,
	"Amplitudes[].Quanta": burstAmplitude,
	"Values[]":            func(*engine.Burst, []int) named { return named{"values", 0} },
}

func burstAmplitude(b *engine.Burst, i []int) named {
	return named{"amplitude", b.Amplitudes[i[0]].Neuron}
}

func candidateName(b *engine.Burst, i []int) named {
	return named{"candidate", b.Candidates[i[0]].Neuron}
}

// sees says what is wrong with a comparator: every number of a T changed alone, and every slice made shorter alone, must be a
// difference with its name, either way round.
func sees[T any](compare func(a, b *T) *engine.Difference, names map[string]func(*T, []int) named, burst uint64) error {
	if d := compare(filled[T](), filled[T]()); d != nil {
		return fmt.Errorf("equal ones differ: %v", d)
	}
	met := map[string]bool{}
	for k, l := range leaves(filled[T](), false) {
		name, known := names[l.path]
		if met[l.path] = true; !known {
			return fmt.Errorf("nobody says what a difference in %s is called", l.path)
		}
		a, b := filled[T](), filled[T]()
		leaves(b, false)[k].flip()
		d, back := compare(a, b), compare(b, a)
		if name == nil {
			if d != nil || back != nil {
				return fmt.Errorf("%s%v is compared: %v", l.path, l.index, d)
			}
			continue
		}
		if d == nil || back == nil {
			return fmt.Errorf("%s%v is not compared", l.path, l.index)
		}
		if want, got := name(a, l.index), (named{d.Field, d.Neuron}); got != want || d.Burst != burst {
			return fmt.Errorf("%s%v is called %v in burst %d, want %v in burst %d", l.path, l.index, got, d.Burst, want, burst)
		}
		if d.A == d.B || d.A != back.B || d.B != back.A {
			return fmt.Errorf("%s%v: %v, and the other way round %v", l.path, l.index, d, back)
		}
	}
	if len(met) != len(names) {
		return fmt.Errorf("there are %v, but %v have names", slices.Sorted(maps.Keys(met)), slices.Sorted(maps.Keys(names)))
	}
	for k, l := range leaves(filled[T](), true) {
		for _, keep := range []int{0, 2} {
			a, b := filled[T](), filled[T]()
			s := leaves(b, true)[k].v
			s.Set(s.Slice(0, keep))
			if compare(a, b) == nil || compare(b, a) == nil {
				return fmt.Errorf("%s%v with %d of three entries is no difference", l.path, l.index, keep)
			}
		}
	}
	return nil
}

// seesStates is sees for states, with what is only theirs: floats are compared by their bits but for NaN, and of several differences that of the
// first neuron is told.
func seesStates(compare func(a, b *engine.State) *engine.Difference) error {
	if err := sees(compare, stateNames, filled[engine.State]().Number-1); err != nil {
		return err
	}
	nan, zero := float32(math.NaN()), float32(math.Copysign(0, -1))
	for _, of := range []func(s *engine.State) []float32{
		func(s *engine.State) []float32 { return s.V }, func(s *engine.State) []float32 { return s.More[2] },
	} {
		a, b := filled[engine.State](), filled[engine.State]()
		of(a)[1], of(b)[1] = nan, math.Float32frombits(0xffc00000)
		if d := compare(a, b); d != nil {
			return fmt.Errorf("one NaN differs from another: %v", d)
		}
		if of(b)[1] = 1; compare(a, b) == nil || compare(b, a) == nil {
			return fmt.Errorf("NaN and 1 are the same")
		}
		if of(a)[1], of(b)[1] = 0, zero; compare(a, b) == nil {
			return fmt.Errorf("0 and −0 are the same")
		}
	}
	a, b := filled[engine.State](), filled[engine.State]()
	b.V[2], b.Count[1], b.Refractory[1], b.More[0][0] = 1, 1, 1, 1
	if d := compare(a, b); d == nil || d.Field != "refractory" || d.Neuron != 1 {
		return fmt.Errorf("of several differences %v is told, want the countdown of neuron 1", d)
	}
	for _, n := range []uint64{0, 1} {
		a, b := filled[engine.State](), filled[engine.State]()
		a.Number, b.Number, b.V[0] = n, n, 1
		if d := compare(a, b); d == nil || d.Burst != 0 {
			return fmt.Errorf("a difference before burst %d: %v, want one of burst 0", n, d)
		}
	}
	return nil
}

func seesBursts(compare func(a, b *engine.Burst) *engine.Difference) error {
	if err := sees(compare, burstNames, filled[engine.Burst]().Number); err != nil {
		return err
	}
	a, b := filled[engine.Burst](), filled[engine.Burst]()
	if a.Values[2], b.Values[2] = 0, float32(math.Copysign(0, -1)); compare(a, b) == nil {
		return fmt.Errorf("0 and −0 are the same")
	}
	b.Fired[0], b.Candidates[2].Sum = 1, 1
	if d := compare(a, b); d == nil || d.Field != "candidate" {
		return fmt.Errorf("of several differences %v is told, want the candidate", d)
	}
	return nil
}

func TestCompareSeesEveryNumber(t *testing.T) {
	require.NoError(t, seesStates(engine.CompareStates))
	require.NoError(t, seesBursts(engine.CompareBursts))
}

// TestHashSeesEveryNumber: no two states that differ in one number, or in how their slices are cut, have one hash.
func TestHashSeesEveryNumber(t *testing.T) {
	hashes := map[uint64]string{filled[engine.State]().Hash(): "none"}
	add := func(s *engine.State, what string) {
		other, known := hashes[s.Hash()]
		require.False(t, known, "changing %s gives the hash of %s", what, other)
		hashes[s.Hash()] = what
	}
	for k, l := range leaves(filled[engine.State](), false) {
		s := filled[engine.State]()
		leaves(s, false)[k].flip()
		add(s, fmt.Sprint(l.path, l.index))
	}
	s := filled[engine.State]()
	s.Queues = [][]uint32{s.Queues[0][:2], append([]uint32{s.Queues[0][2]}, s.Queues[1]...), s.Queues[2]}
	add(s, "the split of queues")
	s = filled[engine.State]()
	s.Amplitudes = [][]engine.Amplitude{s.Amplitudes[0][:2], append([]engine.Amplitude{s.Amplitudes[0][2]}, s.Amplitudes[1]...), s.Amplitudes[2]}
	add(s, "the split of amplitudes")
}

// ignoring is a comparator that does not look at one number.
func ignoring[T any](compare func(a, b *T) *engine.Difference, k int) func(a, b *T) *engine.Difference {
	return func(a, b *T) *engine.Difference {
		from, to := leaves(a, false), leaves(b, false)
		if len(from) != len(to) {
			return compare(a, b)
		}
		old := reflect.New(to[k].v.Type()).Elem()
		old.Set(to[k].v)
		to[k].v.Set(from[k].v)
		defer to[k].v.Set(old)
		return compare(a, b)
	}
}

// changing is a comparator whose differences are altered.
func changing[T any](compare func(a, b *T) *engine.Difference, change func(d *engine.Difference)) func(a, b *T) *engine.Difference {
	return func(a, b *T) *engine.Difference {
		d := compare(a, b)
		if d != nil {
			change(d)
		}
		return d
	}
}

// TestWrongComparatorsAreCaught: what holds Compare to its word would not let these pass, one for each number that could be left
// out among them.
func TestWrongComparatorsAreCaught(t *testing.T) {
	stride := slow.Times(9, 1)
	caught(t, engine.CompareStates, seesStates, "Digest", stride)
	caught(t, engine.CompareBursts, seesBursts, "", stride)
	for name, compare := range map[string]func(a, b *engine.State) *engine.Difference{
		"floats are compared as numbers": func(a, b *engine.State) *engine.Difference {
			d := engine.CompareStates(a, b)
			if d != nil && d.Field == "V" && a.V[d.Neuron] == b.V[d.Neuron] {
				return nil
			}
			return d
		},
		"further variables come first": func(a, b *engine.State) *engine.Difference {
			d := engine.CompareStates(a, b)
			if d == nil || d.Field == "size" {
				return d
			}
			same := *b
			same.V, same.Refractory, same.Count = a.V, a.Refractory, a.Count
			return cmp.Or(engine.CompareStates(a, &same), d)
		},
		"the burst is the next one": changing(engine.CompareStates, func(d *engine.Difference) { d.Burst++ }),
		"the burst below 0 is no 0": changing(engine.CompareStates, func(d *engine.Difference) { d.Burst = max(1, d.Burst) }),
		"queues are counted from 0": changing(engine.CompareStates, func(d *engine.Difference) { d.Field = strings.Replace(d.Field, "queue 1", "queue 0", 1) }),
		"the digest is compared, too": func(a, b *engine.State) *engine.Difference {
			if a.Digest != b.Digest {
				return &engine.Difference{Field: "digest"}
			}
			return engine.CompareStates(a, b)
		},
	} {
		require.Error(t, seesStates(compare), name)
	}
}

// caught plants in a comparator what any may have wrong; one number of stride is left out in turn.
func caught[T any](t *testing.T, compare func(a, b *T) *engine.Difference, sees func(func(a, b *T) *engine.Difference) error, but string, stride int) {
	t.Helper()
	list := leaves(filled[T](), false)
	for k := 0; k < len(list); k += stride {
		if l := list[k]; l.path != but {
			require.Error(t, sees(ignoring(compare, k)), "%s%v is left out", l.path, l.index)
		}
	}
	for name, wrong := range map[string]func(a, b *T) *engine.Difference{
		"never a difference":      func(_, _ *T) *engine.Difference { return nil },
		"always one":              func(_, _ *T) *engine.Difference { return &engine.Difference{} },
		"a neighbour's number":    changing(compare, func(d *engine.Difference) { d.Neuron++ }),
		"neuron 0's":              changing(compare, func(d *engine.Difference) { d.Neuron = 0 }),
		"burst 0's":               changing(compare, func(d *engine.Difference) { d.Burst = 0 }),
		"without a name":          changing(compare, func(d *engine.Difference) { d.Field = "" }),
		"a's value on both sides": changing(compare, func(d *engine.Difference) { d.B = d.A }),
		"looks from one side":     func(a, _ *T) *engine.Difference { return compare(a, filled[T]()) },
	} {
		require.Error(t, sees(wrong), name)
	}
}

// TestStateCopies: a clone has every field of its own; a copy has all but the digest, also in memory of another shape.
func TestStateCopies(t *testing.T) {
	s, other := filled[engine.State](), filled[engine.State]()
	c := s.Clone()
	require.Equal(t, s, c)
	for _, l := range leaves(c, false) {
		l.flip()
		require.Equal(t, other, s, "%s of the clone was changed", l.path)
	}
	small := &engine.State{Digest: 5, More: [][]float32{{1}}}
	small.Copy(s)
	require.EqualValues(t, 5, small.Digest)
	small.Digest = s.Digest
	require.Equal(t, s, small)
	large := &engine.State{V: make([]float32, 9), More: make([][]float32, 7), Queues: [][]uint32{{1, 2, 3, 4}, {}, {}, {}}, Digest: s.Digest}
	large.Copy(s)
	require.Equal(t, s, large)
}
