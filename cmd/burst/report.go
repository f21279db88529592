package main

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"burst/internal/durable"
	"burst/record/manifest"
	"burst/record/picture"
	"burst/record/runfolder"
	"burst/record/stats"

	"github.com/spf13/cobra"
)

//go:embed report.css
var reportStyle string

// reported is what `burst report --json` prints.
type reported struct {
	Folder string `json:"folder"`
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
}

// reportOptions are the flags of `burst report`.
type reportOptions struct {
	window
	out  string
	json bool
}

func newReportCommand() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:               "report FOLDER",
		Short:             "Write one HTML file with the pictures, statistics and manifest of a run",
		Long:              "The file needs no other file, no network and no script. It follows the reader's choice of light or dark.",
		Example:           "  burst report runs/quickstart-1\n  burst report runs/brunel-c-1 --from 2000 --out brunel.html",
		Args:              folderArgument,
		ValidArgsFunction: completeFolder,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	cmd.Flags().StringVarP(&o.out, "out", "o", "", "the file to write (default: report.html in the folder)")
	cmd.Flags().BoolVar(&o.json, "json", false, "name the file as JSON")
	o.window.flags(cmd)
	return cmd
}

func (o *reportOptions) run(cmd *cobra.Command, dir string) error {
	f, err := lookInto(cmd, dir)
	if err != nil {
		return err
	}
	if err := o.window.check(f); err != nil {
		return err
	}
	page, err := o.page(cmd, f)
	if err != nil {
		return err
	}
	out := o.out
	if out == "" {
		out = filepath.Join(dir, "report.html")
	}
	if err := durable.Replace(out, []byte(page)); err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd, reported{Folder: dir, File: out, Bytes: len(page)})
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), out)
	return err
}

// reportData is what the page shows.
type reportData struct {
	Title    string
	Facts    [][2]string
	Pictures []reportPicture
	Figures  [][]string
	Manifest string
	Version  string
}

type reportPicture struct {
	Name, About string
	Data        string // base64 of the PNG
}

// page fills in the page.
func (o *reportOptions) page(cmd *cobra.Command, f *runfolder.Folder) (string, error) {
	m := &f.Manifest
	d := reportData{Title: m.Genome, Facts: reportFacts(m), Version: version}
	names, err := available(cmd, f)
	if err != nil {
		return "", err
	}
	pictures, err := picture.Draw(f, names, picture.Options{From: o.from, Until: o.until, Areas: o.areas})
	if err != nil {
		return "", err
	}
	for _, p := range pictures {
		data, err := p.Encode("png")
		if err != nil {
			return "", err
		}
		d.Pictures = append(d.Pictures, reportPicture{Name: p.Name, About: p.About, Data: base64.StdEncoding.EncodeToString(data)})
	}
	if hasSpikes(f) {
		s, err := stats.Compute(f, stats.Options{From: o.from, Until: o.until, Areas: o.areas})
		if err != nil {
			return "", err
		}
		d.Figures = statsRows(s)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", err
	}
	d.Manifest = string(text)
	return d.html(), nil
}

// html is the page. html/template would add 7 MB to the program (RATIONALE.md says why).
func (d *reportData) html() string {
	var b strings.Builder
	// put fills in values, which become text of the page whatever they hold.
	put := func(format string, values ...string) {
		var escaped []any
		for _, v := range values {
			escaped = append(escaped, html.EscapeString(v))
		}
		fmt.Fprintf(&b, format, escaped...)
	}
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	put("<title>%s: burst report</title>\n", d.Title)
	b.WriteString("<style>\n" + reportStyle + "</style>\n</head>\n<body>\n")
	put("<h1>%s</h1>\n<table class=\"facts\">\n", d.Title)
	for _, f := range d.Facts {
		put("<tr><th>%s</th><td>%s</td></tr>\n", f[0], f[1])
	}
	b.WriteString("</table>\n")
	if len(d.Figures) > 0 {
		b.WriteString("<h2>Figures by area</h2>\n<div class=\"wide\"><table>\n<thead>\n")
		cell := "<th>%s</th>"
		for i, row := range d.Figures {
			b.WriteString("<tr>")
			for _, x := range row {
				put(cell, x)
			}
			b.WriteString("</tr>\n")
			if i == 0 {
				b.WriteString("</thead>\n")
				cell = "<td>%s</td>"
			}
		}
		b.WriteString("</table></div>\n")
	}
	for _, p := range d.Pictures {
		put("<h2>%s</h2>\n<figure><img src=\"data:image/png;base64,%s\" alt=\"%s: %s\">", p.Name, p.Data, p.Name, p.About)
		put("<figcaption>%s</figcaption></figure>\n", p.About)
	}
	put("<h2>Manifest</h2>\n<details><summary>manifest.json</summary><pre>%s</pre></details>\n", d.Manifest)
	put("<footer>burst %s</footer>\n</body>\n</html>\n", d.Version)
	return b.String()
}

// reportFacts are the lines at the top.
func reportFacts(m *manifest.Manifest) [][2]string {
	neurons := uint64(0)
	for _, a := range m.Areas {
		neurons += uint64(a.Neurons)
	}
	facts := [][2]string{
		{"network", fmt.Sprintf("%s neurons in %d areas", count(neurons), len(m.Areas))},
		{"run", fmt.Sprintf("%s bursts of %g ms, %s", count(m.Bursts), m.Timestep, m.Status)},
		{"spikes", count(m.Spikes)},
		{"digest", m.Digest},
		{"connectome", m.Connectome},
		{"seed", fmt.Sprintf("%d, run seed %d", m.Seed, m.RunSeed)},
		{"backend", fmt.Sprintf("%s, %s, up to %d threads", m.Backend, m.Device, m.Threads)},
		{"time", fmt.Sprintf("built in %s, ran in %s; a burst p50 %.1f µs, p90 %.1f µs, p99 %.1f µs", seconds(m.Timings.Build), seconds(m.Timings.Run), m.Timings.Latency.P50, m.Timings.Latency.P90, m.Timings.Latency.P99)},
		{"host", fmt.Sprintf("%s, %s/%s, %d processors", m.Host.Name, m.Host.OS, m.Host.Arch, m.Host.CPUs)},
		{"started", m.Started.Format(time.RFC3339)},
		{"command", strings.Join(m.Command, " ")},
	}
	if m.WeightDigest != "" {
		at := slices.IndexFunc(facts, func(f [2]string) bool { return f[0] == "digest" })
		facts = slices.Insert(facts, at+1, [2]string{"weights", m.WeightDigest})
	}
	return facts
}
