//go:build !race

package browser

// raced tells that the race detector is on.
const raced = false
