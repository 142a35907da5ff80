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
	"neardup/pipeline/inputs"
	"neardup/pipeline/stages"
)

// tryCommandName is the hidden command by which neardup calls itself to read a
// record that may end the process.
const tryCommandName = "try-record"

// maxTry limits the time to read one record alone. It is thousands of times that of
// the largest records.
const maxTry = 10 * time.Minute

// trial is the standard input of the process that tries a record.
type trial struct {
	Source inputs.Source  `json:"source"`
	Config configs.Config `json:"config"`
}

// tryRecord reads a record in a process of its own, see workspace.Options.Try.
func tryRecord(ctx context.Context, s inputs.Source, config configs.Config) (uri string, died error) {
	input, err := json.Marshal(trial{s.Placed(), config})
	if err != nil {
		return "", nil // the record was not tried
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
			return stages.TryRecord(c.Context(), t.Source, t.Config, c.OutOrStdout())
		},
	}
}
