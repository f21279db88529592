package main

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"
	"time"

	"burst/internal/durable"
	"burst/record"
	"burst/record/picture"
	"burst/record/stats"

	"github.com/spf13/cobra"
)

//go:embed report.html
var reportPage string

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
		Use:   "report FOLDER",
		Short: "Write one HTML file with the pictures, figures and manifest of a run",
		Long: "The file holds everything that it shows: no other file, network or script is needed. It follows the reader's choice\n" +
			"of light or dark.",
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
	Data        template.URL
}

// page fills in the page.
func (o *reportOptions) page(cmd *cobra.Command, f *record.Folder) (string, error) {
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
		url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(data)
		d.Pictures = append(d.Pictures, reportPicture{Name: p.Name, About: p.About, Data: template.URL(url)})
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
	t, err := template.New("report").Parse(reportPage)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	var b strings.Builder
	err = t.Execute(&b, d)
	return b.String(), err
}

// reportFacts are the lines at the top.
func reportFacts(m *record.Manifest) [][2]string {
	neurons := uint64(0)
	for _, a := range m.Areas {
		neurons += uint64(a.Neurons)
	}
	seconds := func(s float64) string { return duration(time.Duration(s * float64(time.Second))) }
	return [][2]string{
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
}
