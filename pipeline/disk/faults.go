package disk

import "path/filepath"

// Fault, if set, is called before each operation that changes a file of a
// workspace. The fault harness sets it to fail the operation or to end the process
// there. For a write, n is the number of bytes; allowed may be fewer.
var Fault func(operation, file string, n int) (allowed int, err error)

// FaultOf calls Fault and returns how many of n bytes may be written.
func FaultOf(operation, path string, n int) (int, error) {
	if Fault == nil {
		return n, nil
	}
	return Fault(operation, filepath.Base(path), n)
}

// FaultAt calls Fault before an operation that writes no bytes.
func FaultAt(operation, path string) error {
	_, err := FaultOf(operation, path, 0)
	return err
}
