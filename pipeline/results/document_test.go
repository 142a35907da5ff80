package results_test

import (
	"testing"

	"neardup/extract"
	"neardup/pipeline/groups"
)

// The main content of a page is unsure if extract noted so.
func TestUnsureMembers(t *testing.T) {
	for choices, want := range map[extract.Choices]bool{
		0: false, extract.ChoiceMainUnsure: true, extract.ChoiceMainUnsure | extract.ChoiceTextCut: true, extract.ChoiceTextCut: false,
	} {
		if got := (groups.DocumentView{Choices: choices}).Member(extract.ID{}, "", 0).Unsure; got != want {
			t.Errorf("choices %v: %v", choices.Names(), got)
		}
	}
}

// A page is clipped if its record, its text or its pages were read in part.
func TestClippedMembers(t *testing.T) {
	for _, x := range []struct {
		d    groups.DocumentView
		want bool
	}{
		{groups.DocumentView{}, false},
		{groups.DocumentView{Clipped: true}, true},
		{groups.DocumentView{Choices: extract.ChoiceTextCut}, true},
		{groups.DocumentView{Choices: extract.ChoicePagesLost}, true},
		{groups.DocumentView{Choices: extract.ChoiceCharactersLost}, true},
		{groups.DocumentView{Choices: extract.ChoiceMojibake | extract.ChoiceLengthMismatch}, false},
	} {
		if got := x.d.Member(extract.ID{}, "", 0).Clipped; got != x.want {
			t.Errorf("%v, choices %v: %v", x.d.Clipped, x.d.Choices.Names(), got)
		}
	}
}
