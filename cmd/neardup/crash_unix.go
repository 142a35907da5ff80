//go:build unix

package main

import (
	"os"
	"runtime/debug"
	"syscall"
)

// crashLoudly makes the runtime end the process by SIGABRT when it cannot continue,
// since its own exit code would be 2, which means a wrong call. It writes no core.
func crashLoudly() {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	debug.SetTraceback("crash")
}

// volunteer makes this the first process that Linux ends when memory runs out.
func volunteer() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }
