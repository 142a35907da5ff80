package explain

import (
	"fmt"

	"neardup/report"
)

// Run is what happened to two pages in a workspace.
type Run struct {
	Stale     string     `json:"stale,omitempty"` // why nothing is known: a stage is not up to date with the settings
	SameText  bool       `json:"same_text"`       // both pages have the same text
	Texts     [2]RunText `json:"texts"`
	Sets      []Set      `json:"sets,omitempty"` // perhaps-similar sets with at least one of them, by size
	Candidate bool       `json:"candidate"`      // both are in one set, or the search found the pair
	Compared  int        `json:"compared"`       // number of sets in which the two were compared; 1 for a candidate pair
	Verdict   *Verdict   `json:"verdict,omitempty"`
	Clusters  [2]*InRun  `json:"clusters"` // null if the page is in none
	Chain     []Step     `json:"chain,omitempty"`
	Steps     int        `json:"steps"` // number of all steps of the chain
	Leaders   []RunNear  `json:"joined_before,omitempty"`
	Judged    *Judged    `json:"judged,omitempty"`    // if clusters have to follow judgements of this pair
	ByJudged  string     `json:"by_judged,omitempty"` // effect of judged pairs, this or others, on the two: joined or parted
}

// Judged is the judgement of the pair.
type Judged struct {
	Verdict string   `json:"verdict"` // true, false, or unknown if the judges disagree
	Judges  []string `json:"judges"`
	State   string   `json:"state"` // followed, pending, or why it is not followed
}

// RunText is a text in a workspace.
type RunText struct {
	Pages      int     `json:"pages"`      // number of pages that have it
	Navigation bool    `json:"navigation"` // text.pages: topic leaves it out
	Weight     float64 `json:"weight"`     // W of its key; the text with the larger weight leads
}

// Set is a perhaps-similar set.
type Set struct {
	ID      string  `json:"set"` // textID of its largest member
	Members int     `json:"members"`
	Has     [2]bool `json:"has"` // whether it has a, and b
}

// Verdict is the verdict of a near pair in the workspace.
type Verdict struct {
	Relation    string       `json:"relation"` // as in Decision
	Resemblance report.Score `json:"resemblance"`
	Containment report.Score `json:"containment"`
}

// RunNear is a text that one of the pages was near before it could be compared with
// the other page.
type RunNear struct {
	Of   string `json:"of"` // a or b
	Near Page   `json:"near"`
}

// InRun is the cluster of a page.
type InRun struct {
	ID             string          `json:"cluster"`
	Representative Page            `json:"representative"`
	Relation       report.Relation `json:"relation"`
}

// Step leads between a page and one that it was verified against, in either
// direction.
type Step struct {
	From        Page         `json:"from"`
	To          Page         `json:"to"`
	Resemblance report.Score `json:"resemblance"`
	Containment report.Score `json:"containment"`
	Judged      bool         `json:"judged,omitempty"` // judged by people; the scores are still those of the two texts
}

// Reason returns in words why a filter ended the pair.
func (e *Explanation) Reason(f Filter) string {
	s := e.Signatures
	switch f {
	case BySignatures:
		switch {
		case s.Bits != nil && s.Bits.Most != nil && s.Of[0] > 0 && s.Of[1] > 0:
			return fmt.Sprintf("their signatures differ in %d bits, candidates in %d at most", s.Bits.Differ, *s.Bits.Most)
		case s.Of[0] == 0 || s.Of[1] == 0:
			return "a text without signatures is compared with nothing"
		case s.Least > 1:
			return fmt.Sprintf("they have %d signatures in common, candidates at least %d", s.Shared, s.Least)
		}
		return "they have no signature in common"
	case ByPages:
		return "a text that only navigation pages have is not compared"
	case ByLists:
		return "the signatures in common are of lists that were deleted"
	case BySets:
		return "they are in different perhaps-similar sets"
	case ByCandidates:
		return "the search did not give the pair"
	case ByLeaders:
		if e.Run == nil || len(e.Run.Leaders) == 0 {
			return "they were not compared: their set has many leaders, and one of them has too little in common with the other or more with others"
		}
		return "they were not compared: one of them was near another leader of the set"
	case ByLength:
		return fmt.Sprintf("%d characters must match, and the shorter text has fewer", e.need())
	case BySketch:
		return fmt.Sprintf("%d characters must match, and a sketch has fewer", e.need())
	case ByDistance:
		return "the edit script of the sketches is longer than a pair can have that reaches a threshold"
	case ByScore:
		return "no threshold is reached"
	case ByRarity:
		return "too little of what they share is rare: most of it stands all over their sites"
	case ByTitle:
		if e.Decision.OtherNumbers {
			return "they are pages of different sites with different titles and URIs, and say other numbers"
		}
		if e.Decision.OtherSubjects {
			return "they are pages of one site with different titles and URIs, and each is about a word or number of its title that the other page hardly says"
		}
		return fmt.Sprintf("they are pages of one site with different titles and URIs, which are near only from a resemblance of %.4g", *e.Decision.OtherPages)
	case ByClosing:
		return "they are near, but the closing rule puts them into different clusters"
	case ByJudgement:
		if j := e.Run.Judged; j != nil && j.Verdict == "false" {
			return "people judged that they do not belong together"
		}
		return "judged pairs with other pages put them into different clusters"
	}
	return ""
}

func (e *Explanation) need() int {
	if e.TLCS == nil {
		return 0
	}
	return e.TLCS.Need
}
