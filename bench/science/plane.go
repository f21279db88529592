package main

import (
	"context"
	"fmt"

	"burst/genome"
	"burst/genomes"
	one "burst/run"
	"burst/run/sweep"
)

// brunelPlane is the plane of g and external rate of Brunel (2000), figure 2 (model A), at twelve points of one sweep: the four states by
// rate, regularity and synchrony.
func brunelPlane(o options) ([]Check, error) {
	text, err := genomes.Text("brunel-c")
	if err != nil {
		return nil, err
	}
	g, err := genome.Parse("brunel-c", text, nil)
	if err != nil {
		return nil, err
	}
	p := sweep.Plan{}
	for _, axis := range []string{
		"areas.E.drive.poisson.rate,areas.I.drive.poisson.rate=9000Hz,20000Hz,40000Hz",
		"projections.I->E.weight,projections.I->I.weight=-0.3mV,-0.45mV,-0.5mV,-0.6mV",
	} {
		a, err := sweep.ParseAxis(axis)
		if err != nil {
			return nil, err
		}
		p.Axes = append(p.Axes, a)
	}
	res, err := sweep.Run(context.Background(), g, p, sweep.Options{Run: one.Options{Backend: o.backend, Bursts: 6000}, Settle: settle, Bin: 2})
	if err != nil {
		return nil, err
	}
	at := func(rate, weight int) sweep.Area { return res.Rows[4*rate+weight].Areas[0] }
	regular, fast, asynchronous, slow := at(1, 0), at(2, 3), at(1, 2), at(0, 1)
	const name = "Brunel 2000, figure 2"
	rate := func(state, published string, a sweep.Area, low, high float64) Check {
		return Check{Case: name, Quantity: fmt.Sprintf("rate of E, %s (Hz)", state), Published: published, Ours: float64(a.Rate), Low: low, High: high, Digits: 1}
	}
	above := func(state string, a sweep.Area, low float64) Check {
		return Check{Case: name, Quantity: fmt.Sprintf("synchrony, %s over asynchronous irregular", state), Ours: float64(a.Synchrony / asynchronous.Synchrony), Low: low, High: 10, Digits: 2}
	}
	return []Check{
		rate("synchronous regular (g 3, 2)", "", regular, 326.6, 340),
		{Case: name, Quantity: "CV of intervals, synchronous regular", Ours: float64(regular.CV), High: 0.05, Digits: 3},
		rate("synchronous irregular, fast (g 6, 4)", "60.7", fast, 56, 62.7),
		rate("asynchronous irregular (g 5, 2)", "37.7", asynchronous, 35.8, 40.4),
		rate("synchronous irregular, slow (g 4.5, 0.9)", "5.5", slow, 5, 6),
		above("synchronous regular", regular, 3),
		above("fast", fast, 1.5),
		above("slow", slow, 1.15),
	}, nil
}
