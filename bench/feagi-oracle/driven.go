package main

import (
	"fmt"
	"strings"
)

// newDriven makes a genome of areas whose potentials drive their current, each with targets that show how much arrives: one
// adds up, and the voxels of others have a threshold each.
func newDriven() *laws {
	l := &laws{byKey: map[string]*lawCase{}}
	l.area("___pwr", "power", "nx-fire_t-f", 1.0)
	l.area("cone__", "source one")
	l.area("ctwo__", "source two")
	l.area("chalf_", "source half", "cx-pstcr_-f", 0.5)
	driven := func(name string, inputs []string, genes ...any) *lawCase {
		c := l.fed("drives "+name, inputs, append([]any{"nx-mp_psp-b", true}, genes...)...)
		l.show(c, "", 1, 1)
		return c
	}
	for _, in := range []string{"1", "1.5", "2.5", "0.3", "3.75"} {
		driven("once "+in, []string{"one " + in}, "nx-fire_t-f", 0.25)
	}
	driven("many", []string{"one 1", "two 1.25", "half 1"})
	driven("forgets", []string{"one 1", "two 1.25", "half -1"}, "nx-mp_acc-b", false)
	driven("adds up", []string{"one 0.4", "half 0.7"}, "nx-fire_t-f", 1.7)
	driven("leaks", []string{"one 0.75", "half 1"}, "nx-fire_t-f", 1.5, "nx-leak_c-f", 0.25)
	driven("over", []string{"one 1", "two 1"}, "nx-fire_t-f", 2.5, "nx-leak_c-f", 10.0)
	driven("window", []string{"one 1", "two 1.5", "half 1"}, "nx-fthlim-f", 2.0)
	driven("quiet", []string{"one 1", "two 0.5"}, "nx-refrac-i", 2, "nx-c_fr_c-i", 3, "nx-snooze-f", 2.0)
	driven("blocked", []string{"one 0.75", "two 0.5"}, "nx-c_fr_c-i", 1)
	driven("chance", []string{"one 0.5", "two 0.75"}, "nx-excite-f", 0.6)
	driven("below", []string{"one -1", "half 3"}, "nx-mp_acc-b", false, "nx-fire_t-f", -2.0)
	driven("nothing", []string{"one 1", "two -1"}, "nx-fire_t-f", 0.0)
	driven("current", []string{"one 1", "two 0.5"}, "cx-pstcr_-f", 3.0)
	driven("no current", []string{"one 1", "two 0.5"}, "cx-pstcr_-f", 0.0)
	for _, most := range []string{"254.5", "255.5", "300", "1000"} {
		l.show(l.fed("drives much "+most, []string{"one " + most}, "nx-mp_psp-b", true), "", 0.008, 1)
	}
	for _, multiplier := range []float64{2, 0.5, 2.5, 300, -1} {
		c := l.fed(fmt.Sprintf("drives by %g", multiplier), []string{"one 1", "two 0.5"}, "nx-mp_psp-b", true)
		l.show(c, " with one", multiplier, 1)
		if multiplier < 0 {
			for _, to := range l.areas[len(l.areas)-2:] {
				l.wire("two 2.5", to, 1)
			}
		}
	}
	for _, delay := range []int{2, 3, 7} {
		c := l.fed(fmt.Sprintf("drives late %d", delay), []string{"one 1", "two 0.5", "half 0.5"}, "nx-mp_psp-b", true)
		l.show(c, "", 1, delay)
		l.show(c, " soon", 1, 1)
	}
	part := driven("shares", []string{"one 3", "two 1.5"}, "cx-pspuni-b", false)
	l.show(part, " too", 2, 1)
	a := driven("in a loop", []string{"one 1"}, "nx-leak_c-f", 0.5)
	b := driven("back", nil, "nx-fire_t-f", 0.5)
	a.to[b.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 0.75, false, 1, 1, 1}}
	b.to[a.key] = []any{[]any{"all_to_all", []int{1, 1, 1}, 0.5, false, 1, 1, 1}}
	crowd := driven("crowd", []string{"one 1", "two 0.5"}, "nx-excite-f", 0.7)
	crowd.each = 3
	two := driven("twice", []string{"one 1", "two 0.5"})
	for _, to := range l.areas[len(l.areas)-2:] {
		two.to[to.key] = append(two.to[to.key], []any{"all_to_all", []int{1, 1, 1}, 1.5, false, 1, 1, 1})
	}
	return l
}

// show gives an area two targets: one that adds up, and one whose six voxels have thresholds of their own.
func (l *laws) show(c *lawCase, what string, multiplier float64, delay int) {
	name := strings.TrimPrefix(c.name, "drives ") + what
	for _, to := range []*lawCase{
		l.fed("sum of "+name, nil, "nx-fire_t-f", 7.3),
		l.fed("size of "+name, nil, "nx-fire_t-f", 0.5, "nx-ftincx-f", 0.4, "nx-mp_acc-b", false),
	} {
		if to.genes["nx-ftincx-f"] != nil {
			to.size = 6
		}
		c.to[to.key] = append(c.to[to.key], []any{"all_to_all", []int{1, 1, 1}, multiplier, false, 1, 1, 1, 1, delay})
	}
}
