package results

import (
	"neardup/pipeline/workspace"
	"neardup/report"
)

// PlacesOf says where the files of a workspace are, by the IDs of its sources. Of files
// with one name and content it is the first by path.
type PlacesOf map[string]place

type place struct{ path, entry string }

// Places returns where the files are.
func Places(w *workspace.Workspace) (PlacesOf, error) {
	known, err := w.Sources()
	places := PlacesOf{}
	for _, s := range known {
		if _, ok := places[s.ID()]; !ok {
			var p place
			p.path, p.entry = s.Place()
			places[s.ID()] = p
		}
	}
	return places, err
}

// Fill sets the paths of pages.
func (p PlacesOf) Fill(pages []report.Member) {
	for i := range pages {
		pages[i].Path, pages[i].Entry = p.Of(pages[i].Source)
	}
}

// Of returns where a source is.
func (p PlacesOf) Of(source string) (path, entry string) { return p[source].path, p[source].entry }
