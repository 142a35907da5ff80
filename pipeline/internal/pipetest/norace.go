//go:build !race

package pipetest

const Raced = false
