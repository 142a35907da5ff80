package audit

// Population is the set of pairs that a sample is drawn from.
type Population string

// The populations.
const (
	// Pages draws a random page of all clusters, and another random page of its
	// cluster. The share of true pairs then estimates the paper's precision: the
	// share of a page's near-duplicates that are true, averaged over pages.
	Pages Population = "pages"
	// Verified draws a page and the one that it was verified against.
	Verified Population = "verified"
	// Methods has pages of the clusters of several methods with pages that any of
	// them announces for these (package paper). It is drawn elsewhere, and here only
	// judged.
	Methods Population = "methods"
)

// Design is how a sample is drawn.
type Design struct {
	Population Population `json:"population"`
	Stratified bool       `json:"stratified"` // with Verified: equally many pairs of each stratum, by site and score
	Different  bool       `json:"different"`  // only pairs whose texts differ
	Size       int        `json:"size"`       // number of pairs
	Seed       uint64     `json:"seed"`
}

// OfClusters reports whether the pairs are of the clusters of one method, so that the
// share of true ones is a precision.
func (d Design) OfClusters() bool { return d.Population != Methods }

// Estimates describes what the share of true pairs of such a sample estimates.
func (d Design) Estimates() string {
	switch {
	case !d.OfClusters():
		return "nothing by itself: the pairs are of several methods, and table 1 weighs them (neardup paper --judged)"
	case d.Population == Pages && !d.Different:
		return "the precision of the TLCS paper, section 4: of the near-duplicates announced for a page, the share that are true, averaged over the pages that have any"
	case d.Population == Pages:
		return "of the near-duplicates announced for a page that have another text, the share that are true, averaged over the pages that have any; the TLCS paper, section 4, counts those with the same text, too"
	}
	return "the share of verified pairs that are true; the precision of the TLCS paper, section 4, is that of a sample of pages"
}

// Audit is a sample and its origin.
type Audit struct {
	Name       string    `json:"name"`
	Design     Design    `json:"design"`
	Generation string    `json:"generation"` // generation of the clusters that it was drawn from
	Current    bool      `json:"-"`          // the clusters have not changed since
	Drawn      string    `json:"drawn"`      // RFC 3339, UTC
	Strata     []Stratum `json:"strata"`     // one stratum if it is not stratified
	Size       int       `json:"size"`       // number of pairs; fewer than requested if there are no more
}

// Stratum is a part of a population.
type Stratum struct {
	Name       string `json:"name"`
	Population int64  `json:"population"` // pairs that could have been drawn; with Pages, pages
	Sampled    int    `json:"sampled"`
	SameSite   bool   `json:"same_site,omitempty"` // in a stratified sample: the stratum has pairs of one site
}

// Item is a pair of a sample.
type Item struct {
	Pair
	Documents   [2]string `json:"documents"` // hexadecimal, in the order of the pair
	URIs        [2]string `json:"uris"`
	Dates       [2]string `json:"dates"`
	Sites       [2]string `json:"sites"` // empty without a site
	Cluster     string    `json:"cluster"`
	Draws       int       `json:"draws"` // number of times that it was drawn; with Pages 2 if each of its pages drew the other
	Stratum     int       `json:"stratum"`
	SameSite    bool      `json:"same_site"`
	Identical   bool      `json:"identical"`   // the texts are the same
	Resemblance float64   `json:"resemblance"` // of verified pairs; otherwise 0
	Containment float64   `json:"containment"` // of verified pairs; otherwise 0
}

// Progress is how far a judge is.
type Progress struct {
	Size   int
	Judged int
	Next   int       // first pair that is not judged, or -1
	Given  []Verdict // verdict on each pair; empty if not judged
}

// Interval is an estimate with its 95% confidence interval. Without decided pairs
// it is 0, with the interval from 0 to 1.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	True  int     `json:"true"`
	False int     `json:"false"`
	// Missing are the strata that have pairs, but no decided ones. Value is that of
	// the other strata. Low and High allow for any value in the missing ones.
	Missing []int `json:"missing,omitempty"`
}

// Known reports whether there is a value.
func (i Interval) Known() bool { return i.True+i.False > 0 }

// Result is the result of the judgements.
type Result struct {
	Audit     Audit         `json:"audit"`
	Judged    int           `json:"judged"`  // pairs that someone judged
	Unknown   int           `json:"unknown"` // pairs on which the judges say unknown or disagree evenly
	Overall   Interval      `json:"overall"` // precision
	SameSite  Interval      `json:"same_site"`
	CrossSite Interval      `json:"cross_site"`
	Strata    []Interval    `json:"strata"` // in the order of Audit.Strata
	Judges    []JudgeResult `json:"judges"`
	Agreement *Agreement    `json:"agreement,omitempty"` // with at least two judges
	Disputed  []int         `json:"disputed"`            // items on which judges differ
	Causes    []CauseResult `json:"causes,omitempty"`    // of the false pairs with a cause, in the order of Causes
	Uncaused  int           `json:"uncaused,omitempty"`  // false pairs without a cause, or on which judges name several evenly
}

// CauseResult is the share that a cause has of the false pairs with a known cause.
// Pairs count as in the precision: by draws, and strata by their populations.
type CauseResult struct {
	Cause Cause   `json:"cause"`
	Pairs int     `json:"pairs"`
	Share float64 `json:"share"`
}

// JudgeResult is the result of one judge.
type JudgeResult struct {
	Judge   string   `json:"judge"`
	True    int      `json:"true"`
	False   int      `json:"false"`
	Unknown int      `json:"unknown"`
	Overall Interval `json:"overall"`
}

// Agreement is how far judges agree on pairs that several of them judged.
type Agreement struct {
	Pairs    int     `json:"pairs"`
	Observed float64 `json:"observed"` // share of agreeing pairs of judgements
	Alpha    float64 `json:"alpha"`    // Krippendorff's, nominal
	// Unvaried means that all these judgements are equal. Then Alpha is 0 and has
	// no meaning.
	Unvaried bool `json:"unvaried,omitempty"`
}
