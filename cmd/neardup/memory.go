package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

// The memory that the Go runtime does not count: the program itself, stacks of the
// system, files that are mapped. And the least that the fixed buffers leave room for.
const (
	memoryBeside = 96 << 20
	leastMemory  = 512 << 20
)

// memoryFlag adds --memory to a command and all below it. The limit makes the garbage
// collector work more before the process grows, up to half of the processor time. An
// environment that sets GOMEMLIMIT has chosen for itself.
func memoryFlag(root *cobra.Command) {
	size := root.PersistentFlags().String("memory", "1GiB", "memory to stay within, from 512MiB; off: no limit")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := emptyPlace(c); err != nil {
			return usageError{err}
		}
		limit, err := memoryLimit(*size)
		if err != nil {
			return usageError{err}
		}
		if os.Getenv("GOMEMLIMIT") == "" || c.Flags().Changed("memory") {
			debug.SetMemoryLimit(limit)
		}
		return nil
	}
}

// memoryLimit returns the limit of the Go runtime for --memory.
func memoryLimit(size string) (int64, error) {
	if size == "off" {
		return math.MaxInt64, nil
	}
	n, err := parseSize("--memory", size, "2GiB")
	switch {
	case err != nil:
		return 0, err
	case n < leastMemory:
		return 0, fmt.Errorf("--memory: %s is too little; at least 512MiB, or off", size)
	}
	return n - memoryBeside, nil
}

// parseSize returns the bytes of a size that a flag has. It rejects commas, which
// ParseBytes drops: 1,5GiB would be 15.
func parseSize(flag, size, example string) (int64, error) {
	if strings.Contains(size, ",") {
		return 0, fmt.Errorf("%s: %q has a comma; write a size with a point, such as 1.5GiB", flag, size)
	}
	n, err := humanize.ParseBytes(size)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%s: %q is neither a size, such as %s, nor off", flag, size, example)
	}
	return int64(n), nil
}
