package inputs

import "fmt"

// Twins returns an error if two of the sources, which were read, have one ID and are
// different files: of the same name, and alike where samples are taken.
func Twins(sources []Source) error {
	of := map[string]Source{}
	for _, s := range sources {
		if s.Sample == "" || s.SHA256 == "" {
			continue
		}
		other, ok := of[s.ID()]
		if ok && other.SHA256 != s.SHA256 {
			return ErrTwins(other, s)
		}
		of[s.ID()] = s
	}
	return nil
}

// ErrTwins returns the error of Twins about two sources.
func ErrTwins(a, b Source) error {
	return fmt.Errorf("%s and %s have one name and begin and end alike, but differ, so that their records could not be told apart; rename one of them", a.Shown(), b.Shown())
}
