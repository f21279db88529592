package picture

import (
	"fmt"
	"io/fs"
	"slices"

	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/record/stats"
)

// Options of Draw; the zero value draws the whole run and all areas.
type Options struct {
	From, Until uint64   // bursts From ≤ t < Until; Until 0: to the run's end
	Areas       []string // names; empty: all
	Frames      int      // stretches of time in a map; 0: 8
	Counted     *Raster  // that of the whole run, if it was counted; else it is read
}

// Names lists the pictures that Draw knows, in the order in which it draws them.
func Names() []string {
	return []string{"raster", "rates", "isi", "rate-histogram", "matrix", "potentials", "variables", "weights", "weight-traces", "weight-matrix", "map"}
}

// Available lists the pictures that a run folder has what they need. left says, of a run whose network cannot be read because
// of a file outside the folder, which picture is left out and why. What is damaged in the folder is an error.
func Available(f *runfolder.Folder) (names []string, left string, err error) {
	for _, name := range Names() {
		if missing(f, name) != "" {
			continue
		}
		if name == "matrix" {
			if err := f.CheckGenome(); err != nil {
				return nil, "", err
			}
			if _, err := f.Genome(); err != nil {
				left = fmt.Sprintf("no picture %q: %v", name, err)
				continue
			}
		}
		names = append(names, name)
	}
	return names, left, nil
}

// missing says which data a picture lacks.
func missing(f *runfolder.Folder, name string) string {
	spikes := slices.Contains(f.Tables(), "spikes")
	switch name {
	case "raster", "isi", "rate-histogram":
		if !spikes {
			return "a recording of spikes"
		}
	case "map":
		switch {
		case !spikes:
			return "a recording of spikes"
		case !slices.ContainsFunc(f.Manifest.Areas, func(a manifest.Area) bool { return mapped(&a) }):
			return "an area whose neurons have positions and recorded spikes"
		}
	case "rates":
		if !spikes && !f.HasRates() {
			return "rates or a recording of spikes"
		}
	case "potentials":
		if !slices.Contains(f.Tables(), "potentials") {
			return "a recording of potentials"
		}
	case "variables":
		if !slices.Contains(f.Tables(), "variables") {
			return "a recording of variables"
		}
	case "weights":
		if !slices.Contains(f.Tables(), "histograms") {
			return "histograms of weights"
		}
	case "weight-traces", "weight-matrix":
		if !slices.Contains(f.Tables(), "weights") {
			return "recorded weights of synapses"
		}
	}
	return ""
}

// Draw makes the named pictures of a run. A run without what a picture needs gives an error that wraps fs.ErrNotExist.
func Draw(f *runfolder.Folder, names []string, o Options) ([]*Picture, error) {
	d, err := newDrawing(f, o)
	if err != nil {
		return nil, err
	}
	var out []*Picture
	for _, name := range names {
		if what := missing(f, name); what != "" {
			return nil, fmt.Errorf("%s: no picture %q without %s: %w", f.Dir, name, what, fs.ErrNotExist)
		}
		p, err := d.picture(name)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// drawing is what the pictures of one run share.
type drawing struct {
	f       *runfolder.Folder
	o       Options
	span    span
	summary *stats.Summary // nil: not needed yet
}

func newDrawing(f *runfolder.Folder, o Options) (*drawing, error) {
	from, until, err := stats.Window(f, o.From, o.Until)
	if err != nil {
		return nil, err
	}
	taken, err := stats.Select(f.Manifest.Areas, o.Areas)
	if err != nil {
		return nil, err
	}
	s := wholeSpan(&f.Manifest)
	s.taken, s.from, s.until = taken, from, until
	return &drawing{f: f, o: o, span: s}, nil
}

// wholeSpan is all of a run.
func wholeSpan(m *manifest.Manifest) span {
	s := span{areas: m.Areas, from: m.First, until: m.First + m.Bursts, timestep: m.Timestep, title: short(m.Genome, 80)}
	for range m.Areas {
		s.taken = append(s.taken, true)
	}
	return s
}

// picture draws one.
func (d *drawing) picture(name string) (*Picture, error) {
	s := d.span
	switch name {
	case "raster":
		if c := d.o.Counted; c != nil && c.span.from == s.from && c.span.until == s.until {
			return c.picture(), nil
		}
		return raster(s, stats.Rows(d.f.Spikes(), s.from, s.until))
	case "rates":
		if d.f.HasRates() {
			r, err := d.f.Rates()
			if err != nil {
				return nil, err
			}
			if !slices.Contains(d.f.Tables(), "spikes") || s.from == r.First && s.until == r.First+r.Bursts {
				c := ratesCourse(&s, r)
				return rates(s, c)
			}
		}
		c, err := spikeCourse(s, stats.Rows(d.f.Spikes(), s.from, s.until))
		if err != nil {
			return nil, err
		}
		return rates(s, c)
	case "isi", "rate-histogram":
		if d.summary == nil {
			var err error
			if d.summary, err = stats.Compute(d.f, stats.Options{From: s.from, Until: s.until, Areas: d.o.Areas}); err != nil {
				return nil, err
			}
		}
		if name == "isi" {
			return intervals(s.title, d.summary)
		}
		return rateHistogram(s.title, d.summary)
	case "matrix":
		g, err := d.f.Genome()
		if err != nil {
			return nil, err
		}
		return matrix(s.title, g)
	case "potentials":
		return potentials(s, stats.Rows(d.f.Potentials(), s.from, s.until))
	case "variables":
		return variables(s, d.f.Manifest.Variables, stats.Rows(d.f.Variables(), s.from, s.until))
	case "map":
		frames := d.o.Frames
		if frames == 0 {
			frames = usualFrames
		}
		return activityMap(s, frames, stats.Rows(d.f.Spikes(), s.from, s.until))
	case "weights":
		return weights(s, d.f.Manifest.Learning, d.f.Histograms())
	case "weight-traces":
		return weightTraces(s, d.f.Manifest.Learning, d.f.Weights())
	case "weight-matrix":
		return weightMatrix(s, d.f.Manifest.Learning, d.f.Weights())
	}
	return nil, fmt.Errorf("picture: no picture %q, want one of %v", name, Names())
}
