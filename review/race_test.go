//go:build race

package review_test

// raced tells that the race detector is on.
const raced = true
