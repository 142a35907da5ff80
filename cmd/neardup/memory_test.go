package main

import (
	"io"
	"math"
	"runtime/debug"
	"testing"
)

// --memory is a limit of the Go runtime, for each command. The environment's limit
// holds unless the flag is given.
func TestMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for _, c := range []struct {
		env  string
		args []string
		want int64
	}{
		{"", []string{"version"}, 1<<30 - memoryBeside},
		{"", []string{"version", "--memory", "600MiB"}, 600<<20 - memoryBeside},
		{"", []string{"--memory", "2GiB", "config", "list"}, 2<<30 - memoryBeside},
		{"", []string{"version", "--memory", "off"}, math.MaxInt64},
		{"700MiB", []string{"version"}, 1},
		{"700MiB", []string{"version", "--memory", "1GiB"}, 1<<30 - memoryBeside},
	} {
		t.Setenv("GOMEMLIMIT", c.env)
		debug.SetMemoryLimit(1) // the runtime itself read the environment when it began
		if code := run(c.args, nil, io.Discard, io.Discard); code != exitOK {
			t.Errorf("%v: exit code %d", c.args, code)
		}
		if got := debug.SetMemoryLimit(before); got != c.want {
			t.Errorf("%v with GOMEMLIMIT=%s: limit %d, want %d", c.args, c.env, got, c.want)
		}
	}
}
