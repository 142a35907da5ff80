//go:build race

package pipetest

// Raced is for tests that go through many pairs one after another. The race
// detector finds nothing in them and makes them ten times as slow.
const Raced = true
