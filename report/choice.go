package report

import (
	"cmp"
	"strconv"
	"strings"
)

// Action is what a keep list decides about a page.
type Action string

// The actions.
const (
	ActionKeep      Action = "keep"
	ActionRedundant Action = "redundant" // a kept page was compared with it and is kept in its place
	ActionReview    Action = "review"    // no kept page is close enough: it stays, unless people decide otherwise
)

// Actions are all actions, in the order in which keep lists of clusters have them.
var Actions = []Action{ActionKeep, ActionRedundant, ActionReview}

// Why is the reason for an action.
type Why string

// The reasons, in the order in which they are checked.
const (
	WhyPolicy    Why = "policy"    // kept: the first of its group by the policy
	WhyExempt    Why = "exempt"    // kept: its URI is exempt
	WhyShared    Why = "record-id" // kept: another page of the cluster has its record ID
	WhyCovers    Why = "covers"    // kept: it is kept in place of others that no other kept page covers
	WhyURI       Why = "uri"       // kept: no other capture of its URI in the cluster stays
	WhyJudged    Why = "judged"    // kept: people judged it and another page of the cluster to be different
	WhyRevisited Why = "revisited" // kept: a revisit that stays refers to it
	WhyAlone     Why = "alone"     // kept: it is in no cluster
	WhyCovered   Why = "covered"   // redundant
	WhyScore     Why = "score"     // to review: no kept page has enough of its text
	WhyLittle    Why = "little"    // to review: it has little text, and no kept page has its payload
	WhyClipped   Why = "clipped"   // to review: part of its text is unknown
)

// Choice is what a keep list decides about a member of a cluster.
type Choice struct {
	Action Action
	Why    Why

	// With is the index of a member among those that were chosen from together, and
	// Kept and KeptURI are its record ID and URI. Of a redundant page, it is the kept
	// page that was compared with it and is kept in its place. Of a page to review, it
	// is the first kept page of its group. Of a kept page, it is the page itself.
	With          int
	Kept, KeptURI string

	Compared    bool  // the scores are known; those of a page to review are not if both texts are long
	Resemblance Score // common / (both texts - common)
	Characters  int   // length of the page's text, in code points
	Lost        int   // code points of these that With lacks
}

// LostShare returns the share of the page's text that With lacks, from 0 to 1.
func (c Choice) LostShare() Score {
	if c.Characters == 0 {
		return 0
	}
	return Score(float64(c.Lost) / float64(c.Characters))
}

// Chosen is a choice in exports of all pages. Kept is the record ID of the page
// that a redundant page, or a page to review, was compared with.
type Chosen struct {
	Action      Action `json:"action"`
	Reason      Why    `json:"reason"`
	Kept        string `json:"kept,omitempty"`
	Resemblance *Score `json:"resemblance,omitempty"`
	Lost        *int   `json:"lost,omitempty"`
}

// Alone returns the choice for a page in no cluster.
func Alone() *Chosen { return &Chosen{Action: ActionKeep, Reason: WhyAlone} }

// SetChosen sets the choices for the members of a cluster, or of a part of one.
func SetChosen(c Cluster, choices []Choice) {
	for i, choice := range choices {
		chosen := &Chosen{Action: choice.Action, Reason: choice.Why}
		if choice.Action != ActionKeep {
			chosen.Kept = choice.Kept
			if choice.Compared {
				chosen.Resemblance, chosen.Lost = &choice.Resemblance, &choice.Lost
			}
		}
		c.Members[i].Chosen = chosen
	}
}

var chosenHeader = []string{"action", "reason", "kept", "kept_resemblance", "lost"}

func (c *Chosen) columns() []string {
	line := []string{string(c.Action), string(c.Reason), c.Kept, "", ""}
	if c.Resemblance != nil {
		line[3], line[4] = c.Resemblance.String(), strconv.Itoa(*c.Lost)
	}
	return line
}

// CompareDates orders dates as written: by time, then by their bytes.
func CompareDates(a, b string) int {
	_, x, _ := strings.Cut(strings.TrimRight(a, "Zz"), ".") // parts of a second
	_, y, _ := strings.Cut(strings.TrimRight(b, "Zz"), ".")
	return cmp.Or(strings.Compare(timestamp(a), timestamp(b)), strings.Compare(x, y), strings.Compare(a, b))
}

// FalseFirst compares booleans, false before true.
func FalseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
