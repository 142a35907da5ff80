//go:build race

package browser

// raced reports whether the race detector is on.
const raced = true
