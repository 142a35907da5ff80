package main

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"neardup/pipeline/disk"
	"neardup/pipeline/remote"
)

// faultVariable tells the program which fault to have: KIND:N for the N-th change
// of a file, or for the kind unread the N-th read.
const faultVariable = "NEARDUP_TEST_FAULT"

// faultyMain is the program with a fault.
func faultyMain() {
	remote.FirstPause = time.Millisecond
	if kind, number, ok := strings.Cut(os.Getenv(faultVariable), ":"); ok {
		at, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			panic(err)
		}
		var done atomic.Int64
		disk.Fault.Store(new(disk.Injector(func(operation, file string, n int) (int, error) {
			if (operation == "read") != (kind == "unread") || done.Add(1) != at && (kind != "full" || done.Load() < at) {
				return n, nil
			}
			switch kind {
			case "kill":
				if p, err := os.FindProcess(os.Getpid()); err == nil {
					_ = p.Kill()
				}
				select {}
			case "full": // from then on
				return 0, syscall.ENOSPC
			case "short":
				return n / 2, syscall.EIO
			}
			return 0, syscall.EIO
		})))
	}
	main()
}
