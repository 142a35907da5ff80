package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"neardup/pipeline/workspace"
)

// version and commit are set by tools/release/build.
var version, commit string

// build is the output of neardup version.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // commit of the sources
	Time     string `json:"time,omitempty"`     // time of the commit
	Modified bool   `json:"modified,omitempty"` // the sources differ from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Cgo      bool   `json:"cgo"`
	Format   int    `json:"workspace_format"`
}

func programBuild() build {
	b := build{Version: cmp.Or(version, workspace.Version()), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Format: workspace.Format}
	b.Commit = commit
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "CGO_ENABLED":
			b.Cgo = s.Value == "1"
		}
	}
	return b
}

func (b build) writeText(w io.Writer) error {
	of := cmp.Or(b.Commit, "unknown")
	if b.Time != "" {
		of += ", " + b.Time
	}
	if b.Modified {
		of += ", modified"
	}
	_, err := fmt.Fprintf(w, "neardup %s\ncommit  %s\nbuild   %s, %s, cgo %v\nworkspace format %d\n", b.Version, of, b.Go, b.Platform, b.Cgo, b.Format)
	return err
}

func versionCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print version, commit and build of the program",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := programBuild()
			if asJSON {
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				return e.Encode(b)
			}
			return b.writeText(c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}
