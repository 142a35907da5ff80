package rows

import (
	"neardup/cluster"
	"neardup/cluster/search"
	"neardup/report"
	"neardup/verify"
	"neardup/verify/pair"
)

// ClusterCounts are the counts of stage cluster.
type ClusterCounts struct {
	Lists   cluster.ListCounts `json:"lists"`
	Edges   int64              `json:"edges"` // distinct edges
	Sets    int64              `json:"sets"`
	Members int64              `json:"members"`
	Largest int64              `json:"largest_set"`

	Hamming *search.HammingCounts `json:"hamming,omitempty"`
	Join    *search.JoinCounts    `json:"join,omitempty"`
}

// SignCounts are the counts of stage sign.
type SignCounts struct {
	Texts      int64 `json:"texts"`
	Navigation int64 `json:"navigation_texts"` // texts that only navigation pages have, left out with pages: topic
	Unsigned   int64 `json:"unsigned_texts"`   // texts too short for a signature, set aside
	Signatures int64 `json:"signatures"`

	Frames *FrameCounts `json:"frames,omitempty"` // only with text.frames
}

// FrameCounts counts what learned frames remove from the signed texts.
type FrameCounts struct {
	Texts      int64 `json:"texts"`      // texts that have a frame
	Characters int64 `json:"characters"` // of all texts
	LeftOut    int64 `json:"characters_left_out"`
}

// Add adds the counts of one signed text.
func (c *FrameCounts) Add(s Signed) {
	c.Characters += int64(s.Characters)
	c.LeftOut += int64(s.LeftOut)
	if s.LeftOut > 0 {
		c.Texts++
	}
}

// VerifyCounts are the counts of stage verify. Every compared pair is either near
// or rejected by exactly one filter.
type VerifyCounts struct {
	Sets  int64 `json:"sets"`
	Pairs int64 `json:"pairs"`
	verify.Outcomes
	OverBudget int64 `json:"over_budget,omitempty"` // pairs that were not scored because of max_scored
	Clusters   int64 `json:"clusters"`

	Contained report.ContainedCounts `json:"contained,omitzero"` // only with contained: apart

	Partition PartitionCounts     `json:"partition,omitzero"` // only with the closing rule "partition"
	Judged    *report.JudgedPairs `json:"judged,omitempty"`
}

// PartitionCounts are the counts of the closing rule "partition".
type PartitionCounts struct {
	Components int64 `json:"components"`          // components of texts linked by near pairs
	Parted     int64 `json:"parted"`              // components that the partition divided
	Largest    int64 `json:"largest"`             // texts of the largest component that was partitioned
	Pairs      int64 `json:"pairs"`               // pairs verified for it, besides those of the sets
	TooLarge   int64 `json:"too_large,omitempty"` // components of more than max_links links, which are not partitioned
}

// Add adds the counts of other components.
func (c *PartitionCounts) Add(o PartitionCounts) {
	c.Components += o.Components
	c.Parted += o.Parted
	c.Largest = max(c.Largest, o.Largest)
	c.Pairs += o.Pairs
	c.TooLarge += o.TooLarge
}

// Add adds the counts of other sets.
func (c *VerifyCounts) Add(o VerifyCounts) {
	c.Sets += o.Sets
	c.Pairs += o.Pairs
	c.Outcomes.Add(o.Outcomes)
	c.OverBudget += o.OverBudget
}

// AddDecision counts the decision about one pair.
func (c *VerifyCounts) AddDecision(d pair.Decision) {
	c.Pairs++
	c.Outcomes.Count(d.Verdict)
}
