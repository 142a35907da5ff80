//go:build !unix

package disk

import (
	"io/fs"
	"os"
)

// IsNoSpace reports whether an error says that the disk is full.
func IsNoSpace(error) bool { return false }

// isReadOnly reports whether an error says that the file system is read-only.
func isReadOnly(error) bool { return false }

func isTooLarge(error) bool { return false }

// IsFailing reports whether an error says that the disk failed.
func IsFailing(error) bool { return false }

func hasTooFewFiles(error) bool { return false }

func tooFewFilesAdvice(error) string { return "" }

func ownerOf(fs.FileInfo) string { return "" }

func hold(*os.File) {}

func isHeld(string) bool { return true }
