package groups

import (
	"fmt"
	"slices"

	"neardup/pipeline/inputs"
	"neardup/pipeline/rows"
	"neardup/report"
)

// Places maps the IDs of sources to the places of their files. If several files have
// one name and content, the first by path counts.
type Places map[string]place

type place struct{ path, entry string }

// Add adds a source. Sources come by path.
func (p Places) Add(s inputs.Source) {
	if _, ok := p[s.ID()]; !ok {
		var at place
		at.path, at.entry = s.Place()
		p[s.ID()] = at
	}
}

// Digests returns a digest of each source with its place, sorted.
func (p Places) Digests() []uint64 {
	digests := make([]uint64, 0, len(p))
	for id, at := range p {
		digests = append(digests, rows.Hash(fmt.Sprintf("%q %q %q", id, at.path, at.entry)))
	}
	slices.Sort(digests)
	return digests
}

// Fill sets the paths of pages.
func (p Places) Fill(pages []report.Member) {
	for i := range pages {
		pages[i].Path, pages[i].Entry = p.Of(pages[i].Source)
	}
}

// Of returns the path of a source's file, and the entry if that is a WACZ file.
func (p Places) Of(source string) (path, entry string) { return p[source].path, p[source].entry }
