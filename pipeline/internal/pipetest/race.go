//go:build race

package pipetest

// Raced tells tests that go through many pairs one after another, of which the
// race detector has nothing to say and for which it takes ten times as long.
const Raced = true
