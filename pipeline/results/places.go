package results

import (
	"neardup/pipeline/workspace"
	"neardup/report"
)

// PlacesOf maps the IDs of a workspace's sources to the places of their files. If
// several files have one name and content, the first by path counts.
type PlacesOf map[string]place

type place struct{ path, entry string }

// Places returns the places of the files of a workspace.
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

// Of returns the path of a source's file, and the entry if that is a WACZ file.
func (p PlacesOf) Of(source string) (path, entry string) { return p[source].path, p[source].entry }
