package disk

import (
	"path/filepath"
	"sync/atomic"
)

// Injector is called before each operation that changes a file of a workspace, or reads one
// of its database, by several goroutines at a time. For a write, n is the number of bytes;
// allowed may be fewer. It fails the operation by an error, or ends the process there.
type Injector func(operation, file string, n int) (allowed int, err error)

// Fault is set by the fault harness only. Goroutines of a database ask for it at any
// time, so it is read and set atomically.
var Fault atomic.Pointer[Injector]

// FaultOf calls the fault, if there is one, and returns how many of n bytes may be
// written.
func FaultOf(operation, path string, n int) (int, error) {
	inject := Fault.Load()
	if inject == nil {
		return n, nil
	}
	return (*inject)(operation, filepath.Base(path), n)
}

// FaultAt calls the fault before an operation that writes no bytes.
func FaultAt(operation, path string) error {
	_, err := FaultOf(operation, path, 0)
	return err
}
