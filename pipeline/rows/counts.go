package rows

import (
	"neardup/cluster"
	"neardup/cluster/ppjoin"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// ClusterCounts has the counts of the stage cluster.
type ClusterCounts struct {
	Lists   cluster.ListCounts `json:"lists"`
	Edges   int64              `json:"edges"` // distinct
	Sets    int64              `json:"sets"`
	Members int64              `json:"members"`
	Largest int64              `json:"largest_set"`

	Hamming *HammingCounts `json:"hamming,omitempty"`
	Join    *ppjoin.Counts `json:"join,omitempty"`
}

// HammingCounts has the counts of a search for signatures that differ in few bits.
type HammingCounts struct {
	Signatures int64 `json:"signatures"` // that differ
	Tables     int   `json:"tables"`
	Pairs      int64 `json:"signature_pairs"` // within the distance, of signatures that differ
	Largest    int64 `json:"largest_group"`   // texts of one signature
}

// SignCounts has the counts of the stage sign.
type SignCounts struct {
	Texts      int64 `json:"texts"`
	Navigation int64 `json:"navigation_texts"` // texts of navigation pages only, left out with pages: topic
	Unsigned   int64 `json:"unsigned_texts"`   // texts too short for a signature: set aside
	Signatures int64 `json:"signatures"`

	Frames *FrameCounts `json:"frames,omitempty"` // with text.frames
}

// FrameCounts counts what learned frames take from the signed texts.
type FrameCounts struct {
	Texts      int64 `json:"texts"`      // that have some
	Characters int64 `json:"characters"` // of all texts
	LeftOut    int64 `json:"characters_left_out"`
}

// Add adds what a signed text says.
func (c *FrameCounts) Add(s Signed) {
	c.Characters += int64(s.Characters)
	c.LeftOut += int64(s.LeftOut)
	if s.LeftOut > 0 {
		c.Texts++
	}
}

// VerifyCounts has the counts of the stage verify. Every compared pair was
// rejected by one filter, or is near.
type VerifyCounts struct {
	Sets  int64 `json:"sets"`
	Pairs int64 `json:"pairs"`
	verify.Outcomes
	OverBudget int64 `json:"over_budget,omitempty"` // pairs that were not scored, by max_scored
	Clusters   int64 `json:"clusters"`

	Partition PartitionCounts     `json:"partition,omitzero"` // with that closing rule
	Judged    *report.JudgedPairs `json:"judged,omitempty"`
}

// PartitionCounts sum up what the closing rule "partition" took.
type PartitionCounts struct {
	Components int64 `json:"components"` // of texts that near pairs tie together
	Parted     int64 `json:"parted"`     // of them, those of more than one cluster
	Largest    int64 `json:"largest"`    // texts of the largest
	Pairs      int64 `json:"pairs"`      // verified for it, beyond those of the sets
}

// Add adds the counts of other components.
func (c *PartitionCounts) Add(o PartitionCounts) {
	c.Components += o.Components
	c.Parted += o.Parted
	c.Largest = max(c.Largest, o.Largest)
	c.Pairs += o.Pairs
}

// Add adds the counts of other sets.
func (c *VerifyCounts) Add(o VerifyCounts) {
	c.Sets += o.Sets
	c.Pairs += o.Pairs
	c.Outcomes.Add(o.Outcomes)
	c.OverBudget += o.OverBudget
}

// AddDecision counts a decision about a pair.
func (c *VerifyCounts) AddDecision(d pair.Decision) {
	c.Pairs++
	c.Outcomes.Count(d.Verdict)
}
