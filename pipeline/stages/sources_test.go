package stages_test

import (
	"testing"

	"neardup/cluster"
	"neardup/extract"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/layout"
	"neardup/pipeline/rows"
	"neardup/pipeline/stages"
)

// Lines of a text collection have no site, so they are on no few sites.
func TestConcentratedNeedsSites(t *testing.T) {
	w := pipetest.OpenTest(t)
	w.Config.Cluster.SiteList = 4
	for _, tt := range []struct {
		name string
		site uint64
		want bool
	}{{"one site", 7, true}, {"no site", rows.NoSite, false}} {
		b := w.DB.Batch()
		if err := b.Clear(layout.TableOccurrence); err != nil {
			t.Fatal(err)
		}
		var members []cluster.Key
		for i := range byte(5) {
			id := rows.TextID{i}
			members = append(members, cluster.NewKey(1, id))
			if err := b.Set(layout.OccurrenceKey(id, extract.ID{i}), layout.OccurrenceValue(rows.Occurrence{Site: tt.site, Address: uint64(i)})); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if got, err := stages.Concentrated(w, members); err != nil || got != tt.want {
			t.Errorf("%s: %v (%v), want %v", tt.name, got, err, tt.want)
		}
	}
}
