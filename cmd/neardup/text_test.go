package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestTextInterrupted checks what an interrupted text says of its output.
func TestTextInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for output, want := range map[string]string{"-": "whole lines", "/dev/stdout": "whole lines", filepath.Join(t.TempDir(), "texts"): "nothing is written"} {
		c := textCommand()
		c.SetArgs([]string{"--progress", "none", "--output", output, committed})
		c.SilenceErrors, c.SilenceUsage = true, true
		if got := errorText(exitInterrupted, c.ExecuteContext(ctx)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", output, got)
		}
	}
}
