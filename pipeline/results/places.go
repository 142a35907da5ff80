package results

import (
	"neardup/pipeline/groups"
	"neardup/pipeline/workspace"
)

// Places returns the places of the files of a workspace.
func Places(w *workspace.Workspace) (groups.Places, error) {
	known, err := w.Sources()
	places := groups.Places{}
	for _, s := range known {
		places.Add(s)
	}
	return places, err
}
