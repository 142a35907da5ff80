//go:build !unix

package store

import "io/fs"

// isOwn returns false: the owner of a file is not known.
func isOwn(fs.FileInfo) bool { return false }
