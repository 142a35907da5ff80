package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// tryCommandName is the hidden command with which neardup calls itself to read a
// record that may end the process.
const tryCommandName = "try-record"

// maxTry is how long a record may take alone: thousands of times what the largest
// takes.
const maxTry = 10 * time.Minute

// trial is what the process that tries a record reads from standard input.
type trial struct {
	Source workspace.Source `json:"source"`
	Config configs.Config   `json:"config"`
}

// tryRecord reads a record in a process of its own, see workspace.Options.Try.
func tryRecord(ctx context.Context, s workspace.Source, config configs.Config) (uri string, died error) {
	input, err := json.Marshal(trial{s, config})
	if err != nil {
		return "", nil // then nothing was tried
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxTry)
	defer cancel()
	c := exec.CommandContext(ctx, self, tryCommandName)
	c.Args[0] = "neardup"
	c.Stdin = bytes.NewReader(input)
	out, err := c.Output()
	uri = strings.TrimSpace(string(out))
	var exit *exec.ExitError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return uri, fmt.Errorf("it took more than %v", maxTry)
	case errors.As(err, &exit) && exit.ExitCode() != exitFailure:
		return uri, errors.New(exit.String())
	}
	return uri, nil
}

func tryCommand() *cobra.Command {
	return &cobra.Command{
		Use:    tryCommandName,
		Short:  "Read a record that may end the process",
		Hidden: true,
		Args:   noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			volunteer()
			var t trial
			if err := json.NewDecoder(c.InOrStdin()).Decode(&t); err != nil {
				return err
			}
			return stages.TryRecord(t.Source, t.Config, c.OutOrStdout())
		},
	}
}
