//go:build !unix

package costs

// CPUSeconds returns 0: the processor time is not known.
func CPUSeconds() float64 { return 0 }
