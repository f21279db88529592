package main

import (
	_ "embed"
	"fmt"
	"runtime"
	"runtime/debug"

	"burst/run"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
)

// version is the release that this source tree leads to.
const version = run.Version

// buildInfo is what `burst version --json` prints.
type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // of the source, "" when not built from a repository
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	System   string `json:"system"`
}

// packedNotices are the licences and copyright notices of all that the program holds, compressed; a test makes them.
//
//go:embed notices.txt.zst
var packedNotices []byte

// notices unpacks them.
func notices() ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packedNotices, nil)
}

func newVersionCommand() *cobra.Command {
	var asJSON, asNotices bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asNotices {
				text, err := notices()
				if err != nil {
					return err
				}
				_, err = cmd.OutOrStdout().Write(text)
				return err
			}
			if asJSON {
				return printJSON(cmd, readBuild())
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), readBuild())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&asNotices, "notices", false, "print the licences and notices of the modules in the program")
	return cmd
}

// String is the line that `burst version` and `burst --version` print.
func (b buildInfo) String() string {
	text := "burst " + b.Version
	if b.Revision != "" {
		text += " (" + b.Revision
		if b.Modified {
			text += ", modified"
		}
		text += ")"
	}
	return fmt.Sprintf("%s %s %s", text, b.Go, b.System)
}

// readBuild asks the binary what it was built from.
func readBuild() buildInfo {
	b := buildInfo{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Revision = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	return b
}
