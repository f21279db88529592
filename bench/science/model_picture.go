package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"burst/genome"
)

// drawModels writes a picture of each model of NEST's table into a folder.
func drawModels(o options, folder string) error {
	table, err := readNESTModels()
	if err != nil {
		return err
	}
	for i := range table.Models {
		text, err := table.Models[i].picture(o)
		if err != nil {
			return err
		}
		if err := os.WriteFile(pictureOf(folder, table.Models[i].Model), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func pictureOf(folder, model string) string { return filepath.Join(folder, "model-"+model+".svg") }

// Sizes of a picture, in pixels: two panels beside each other, with room for the labels of their axes.
const (
	panelWidth, panelHeight = 280.0, 160.0
	panelLeft, panelTop     = 56.0, 24.0
	panelStep               = 360.0
)

// picture is the model's f-I curve with NEST's points, and what one spike does to the potential, as SVG.
func (m *nestModel) picture(o options) (string, error) {
	const points = 14
	var currents, rates []float64
	least, most := 0.8*m.Current[0], m.Current[len(m.Current)-1]
	for i := range points + 1 {
		current := math.Round(least + (most-least)*float64(i)/points)
		rate, err := m.rate(o, current)
		if err != nil {
			return "", err
		}
		currents, rates = append(currents, current), append(rates, rate)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		2*panelStep, panelTop+panelHeight+40)
	over := "current (pA)"
	if g := genome.ModelNamed(m.Model); g.Custom == nil && g.Drive[0] == genome.Plain {
		over = "I"
	}
	p := newPanel(&b, 0, m.Model+": rate (Hz) over "+over, least, most, 0, 1.05*furthest(rates))
	p.line(currents, rates, "#1f5fa8")
	for k := range m.Current {
		p.circle(m.Current[k], m.Rate[k])
	}

	const shown = 600 // bursts
	var courses [][]float64
	low, high := 0.0, 0.0
	for k := range m.Weight {
		course, err := m.response(o, k)
		if err != nil {
			return "", err
		}
		courses = append(courses, course[:shown])
		low, high = min(low, m.PSP[k]), max(high, m.PSP[k])
	}
	ports := genome.ModelNamed(m.Model).Ports
	unit := map[genome.Dimension]string{genome.Voltage: "mV", genome.Current: "pA", genome.Conductance: "nS"}[ports[0].Unit]
	p = newPanel(&b, 1, strings.ReplaceAll(fmt.Sprintf("V (mV) after spikes of %g and %g %s; time in ms", m.Weight[0], m.Weight[1], unit), " ;", ";"), 0, shown*nestStep, 1.1*low, 1.1*high)
	for k, course := range courses {
		var times, values []float64
		for i := 0; i < shown; i += 4 {
			times, values = append(times, float64(i+1)*nestStep), append(values, course[i])
		}
		p.line(times, values, []string{"#1f5fa8", "#b03a2e"}[k])
	}
	b.WriteString("</svg>\n")
	return b.String(), nil
}

// panel draws in a frame whose axes run from low to high.
type panel struct {
	b              *strings.Builder
	left           float64
	x0, x1, y0, y1 float64
}

// newPanel draws the frame, the title and the ends of the axes.
func newPanel(b *strings.Builder, place int, title string, x0, x1, y0, y1 float64) *panel {
	p := &panel{b, panelLeft + panelStep*float64(place), x0, x1, y0, y1}
	bottom := panelTop + panelHeight
	fmt.Fprintf(b, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"#888\"/>\n", p.left, panelTop, panelWidth, panelHeight)
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\">%s</text>\n", p.left, panelTop-8, title)
	for i := range 5 {
		x, y := x0+(x1-x0)*float64(i)/4, y0+(y1-y0)*float64(i)/4
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.4g</text>\n", p.left+panelWidth*float64(i)/4, bottom+16, x)
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", p.left-6, bottom-panelHeight*float64(i)/4+4, y)
	}
	return p
}

// at is the place of two values.
func (p *panel) at(x, y float64) (float64, float64) {
	return p.left + panelWidth*(x-p.x0)/(p.x1-p.x0), panelTop + panelHeight*(p.y1-y)/(p.y1-p.y0)
}

func (p *panel) line(xs, ys []float64, colour string) {
	fmt.Fprintf(p.b, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"", colour)
	for i := range xs {
		x, y := p.at(xs[i], ys[i])
		fmt.Fprintf(p.b, "%.1f,%.1f ", x, y)
	}
	p.b.WriteString("\"/>\n")
}

func (p *panel) circle(x, y float64) {
	x, y = p.at(x, y)
	fmt.Fprintf(p.b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"none\" stroke=\"black\"/>\n", x, y)
}
