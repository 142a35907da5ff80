package report

import (
	"strconv"
	"strings"
)

// Action is what a keep list says of a page.
type Action string

// The actions.
const (
	ActionKeep      Action = "keep"
	ActionRedundant Action = "redundant" // a page that is kept was compared with it, and stands for it
	ActionReview    Action = "review"    // no page that is kept stands for it: it stays, unless people decide otherwise
)

// Why is the reason of an action.
type Why string

// The reasons, in the order in which they are looked at.
const (
	WhyPolicy    Why = "policy"    // kept: the first of its group by the policy
	WhyExempt    Why = "exempt"    // kept: its URI is exempt
	WhyCovers    Why = "covers"    // kept: it stands for others, for which no other kept page does
	WhyURI       Why = "uri"       // kept: no other capture of its URI in the cluster stays
	WhyRevisited Why = "revisited" // kept: a revisit that stays repeats it
	WhyAlone     Why = "alone"     // kept: it is in no cluster
	WhyCovered   Why = "covered"   // redundant
	WhyScore     Why = "score"     // to review: no kept page has enough of its text
	WhyClipped   Why = "clipped"   // to review: not all of its text is known
)

// Choice is what a keep list says of a member of a cluster.
type Choice struct {
	Action Action
	Why    Why

	// With is the index of the member that a redundant page was compared with, which
	// is kept and stands for it; of a page to review that of the first kept page of
	// its group; of a kept page its own.
	With        int
	Compared    bool  // the scores are known: those of a page to review are not if both texts are long
	Resemblance Score // common / (both texts - common)
	Characters  int   // code points of the page's text
	Lost        int   // of these, those that With has not
}

// LostShare returns the share of the page's text that With has not.
func (c Choice) LostShare() Score {
	if c.Characters == 0 {
		return 0
	}
	return Score(float64(c.Lost) / float64(c.Characters))
}

// Chosen is a choice as exports of all pages show it. Kept is the record id of the
// page that stands for a redundant one, or that a page to review was compared with.
type Chosen struct {
	Action      Action `json:"action"`
	Reason      Why    `json:"reason"`
	Kept        string `json:"kept,omitempty"`
	Resemblance *Score `json:"resemblance,omitempty"`
	Lost        *int   `json:"lost,omitempty"`
}

// Alone is the choice for a page in no cluster.
func Alone() *Chosen { return &Chosen{Action: ActionKeep, Reason: WhyAlone} }

// SetChosen sets what was chosen for the members of a cluster.
func SetChosen(c Cluster, choices []Choice) {
	for i, choice := range choices {
		chosen := &Chosen{Action: choice.Action, Reason: choice.Why}
		if choice.Action != ActionKeep {
			chosen.Kept = c.Members[choice.With].RecordID
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

// CompareDates orders dates as written: by what they say to the second, then by their
// letters.
func CompareDates(a, b string) int {
	if c := strings.Compare(timestamp(a), timestamp(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
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
