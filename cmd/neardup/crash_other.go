//go:build !unix

package main

func crashLoudly() {}

func volunteer() {}
