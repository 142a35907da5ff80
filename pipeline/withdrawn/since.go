package withdrawn

import "neardup/pipeline/inputs"

// Since reports whether captures were withdrawn from a workspace between two states of its
// inputs. An input is the same if it has the same path, or was moved and has the same
// content.
func Since(before, now []inputs.Source) bool {
	byPath, byID := map[string]string{}, map[string]string{}
	for _, s := range now {
		byPath[s.Path], byID[s.ID()] = s.Withdrawn, s.Withdrawn
	}
	for _, s := range before {
		patterns, there := byPath[s.Path]
		if !there {
			patterns, there = byID[s.ID()]
		}
		if !there || patterns != "" && patterns != s.Withdrawn {
			return true
		}
	}
	return false
}
