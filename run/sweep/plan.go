package sweep

import (
	"errors"
	"fmt"
	"strings"

	"burst/genome"
)

// Plan says which points a sweep has: each value of each axis with each of the others, with each seed, in each trial.
type Plan struct {
	Axes   []Axis   `json:"axes"`
	Seeds  []uint64 `json:"seeds,omitempty"`  // of network and run; none: the genome's
	Trials int      `json:"trials,omitempty"` // of one network, whose run seeds are the genome's and those that follow it; 0: one, and no axis
}

// Point is one run of a sweep.
type Point struct {
	Number int            // from 1 on; the first axis changes most slowly, then the others, seeds, trials
	Values []string       // of the axes
	Genome *genome.Genome // with values and seeds
	cell   int            // the points with the same values and seed have the same network
}

// Count is the number of points.
func (p *Plan) Count() (int, error) {
	n := max(1, p.Trials) * max(1, len(p.Seeds))
	for i := range p.Axes {
		if n *= len(p.Axes[i].Values); n > Most {
			break
		}
	}
	if n > Most || n < 1 {
		return 0, fmt.Errorf("a sweep of more than %d points, want fewer values, seeds or trials", Most)
	}
	return n, nil
}

// check refuses plans that name one value twice.
func (p *Plan) check() error {
	seen := map[string]bool{}
	for i := range p.Axes {
		for _, path := range p.Axes[i].Paths {
			switch {
			case seen[path]:
				return fmt.Errorf("%s is varied twice, want each path once", path)
			case path == "seed" && len(p.Seeds) > 0:
				return fmt.Errorf("seed is varied twice, want either a path or seeds")
			case path == "run_seed" && p.Trials > 0:
				return fmt.Errorf("run_seed is varied twice, want either a path or trials")
			}
			seen[path] = true
		}
	}
	return nil
}

// PlanError is a mistake in a plan: a path that there is not, or too many points.
type PlanError struct{ Err error }

func (e *PlanError) Error() string { return e.Err.Error() }

// Unwrap is the mistake.
func (e *PlanError) Unwrap() error { return e.Err }

// PointError is what is wrong with one point.
type PointError struct {
	Place string // the point, its values and seeds
	Err   error
}

func (e *PointError) Error() string { return e.Place + ": " + e.Err.Error() }

// Unwrap is what is wrong.
func (e *PointError) Unwrap() error { return e.Err }

// Points makes the genome of every point, each checked in full; g is left as it is. Errors are a *PlanError, and a *PointError with
// genome.Faults for a genome that is not valid.
func (p *Plan) Points(g *genome.Genome) ([]Point, error) {
	n, err := p.Count()
	if err == nil {
		err = p.check()
	}
	if err != nil {
		return nil, &PlanError{err}
	}
	each := max(1, p.Trials) * max(1, len(p.Seeds))
	points := make([]Point, 0, n)
	for k := range n / each {
		values, made, err := p.set(g, k)
		if err != nil {
			return nil, err
		}
		for s := range max(1, len(p.Seeds)) {
			for trial := range max(1, p.Trials) {
				own := *made
				if len(p.Seeds) > 0 {
					if own.Seed = p.Seeds[s]; !own.OwnRunSeed {
						own.RunSeed = own.Seed
					}
				}
				own.RunSeed += uint64(trial)
				points = append(points, Point{Number: len(points) + 1, Values: values, Genome: &own, cell: k*max(1, len(p.Seeds)) + s})
			}
		}
	}
	return points, nil
}

// set is the genome with the k-th combination of values.
func (p *Plan) set(g *genome.Genome, k int) (values []string, made *genome.Genome, err error) {
	var settings []string
	values = make([]string, len(p.Axes))
	for i := len(p.Axes) - 1; i >= 0; i-- {
		a := &p.Axes[i]
		at := k % len(a.Values)
		k /= len(a.Values)
		values[i], settings = a.Values[at], append(a.settings(at), settings...)
	}
	if len(settings) == 0 {
		return values, g, nil
	}
	made, err = g.With(settings)
	var faults genome.Faults
	switch {
	case errors.As(err, &faults):
		return nil, nil, &PointError{strings.Join(settings, " "), err}
	case err != nil:
		return nil, nil, &PlanError{err}
	}
	if made.Name = g.Name; !varies(p.Axes, "seed") {
		made.Seed = g.Seed // which another than the text's may have been given
	}
	if !varies(p.Axes, "run_seed") && !varies(p.Axes, "seed") {
		made.RunSeed = g.RunSeed
	}
	return values, made, nil
}

func varies(axes []Axis, path string) bool {
	for i := range axes {
		for _, x := range axes[i].Paths {
			if x == path {
				return true
			}
		}
	}
	return false
}

// place says which point it is, as in "point 7 (areas.E.params.tau=12ms, seed 3)".
func (p *Plan) place(x *Point) string {
	var list []string
	for i := range p.Axes {
		list = append(list, p.Axes[i].Name()+"="+x.Values[i])
	}
	if len(p.Seeds) > 0 {
		list = append(list, fmt.Sprint("seed ", x.Genome.Seed))
	}
	if p.Trials > 0 {
		list = append(list, fmt.Sprint("run seed ", x.Genome.RunSeed))
	}
	return fmt.Sprintf("point %d (%s)", x.Number, strings.Join(list, ", "))
}

// folder is the name of a point's folder.
func (p *Plan) folder(x *Point) string {
	switch {
	case len(p.Axes) == 0 && p.Trials == 0:
		return fmt.Sprint("seed-", x.Genome.Seed)
	case len(p.Axes) == 0 && len(p.Seeds) == 0:
		return fmt.Sprint("run-seed-", x.Genome.RunSeed)
	}
	return fmt.Sprint("point-", x.Number)
}
