package audit

// Population is the pairs that a sample is drawn from.
type Population string

// The populations.
const (
	// Pages draws a random page of all clusters, and another random page of its
	// cluster. The share of true pairs is then the paper's precision: the share
	// of a page's near-duplicates that are true, averaged over pages.
	Pages Population = "pages"
	// Verified draws a page and the one that it was verified against.
	Verified Population = "verified"
)

// Design says how to draw a sample.
type Design struct {
	Population Population `json:"population"`
	Stratified bool       `json:"stratified"` // with Verified: equally many pairs of each stratum, by site and score
	Different  bool       `json:"different"`  // only pairs whose texts differ
	Size       int        `json:"size"`       // pairs
	Seed       uint64     `json:"seed"`
}

// Audit is a sample and its origin.
type Audit struct {
	Name       string    `json:"name"`
	Design     Design    `json:"design"`
	Generation string    `json:"generation"` // generation of the clusters that it was drawn from
	Current    bool      `json:"-"`          // the clusters are still those
	Drawn      string    `json:"drawn"`      // RFC 3339, UTC
	Strata     []Stratum `json:"strata"`     // one stratum if it is not stratified
	Size       int       `json:"size"`       // pairs; fewer than asked for if there are no more
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
	Documents   [2]string `json:"documents"` // in hexadecimal, in the order of the pair
	URIs        [2]string `json:"uris"`
	Dates       [2]string `json:"dates"`
	Sites       [2]string `json:"sites"` // empty if it has none
	Cluster     string    `json:"cluster"`
	Draws       int       `json:"draws"` // how often it was drawn; with Pages 2 if each of its pages drew the other
	Stratum     int       `json:"stratum"`
	SameSite    bool      `json:"same_site"`
	Identical   bool      `json:"identical"`   // the same text
	Resemblance float64   `json:"resemblance"` // for verified pairs; 0 for others
	Containment float64   `json:"containment"` // likewise
}

// Progress says how far a judge is.
type Progress struct {
	Size   int
	Judged int
	Next   int       // first pair that is not judged; -1 if there is none
	Given  []Verdict // verdict on each pair; empty if not judged
}

// Interval is an estimate with its 95% confidence interval. Without decided
// pairs it is 0, from 0 to 1.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	True  int     `json:"true"`
	False int     `json:"false"`
	// Missing are the strata that have pairs, but none decided. The value is
	// that of the others. Low and high allow for anything in the missing
	// strata.
	Missing []int `json:"missing,omitempty"`
}

// Known reports whether there is a value.
func (i Interval) Known() bool { return i.True+i.False > 0 }

// Result is what follows from the judgements.
type Result struct {
	Audit     Audit         `json:"audit"`
	Judged    int           `json:"judged"`  // pairs that someone judged
	Unknown   int           `json:"unknown"` // pairs on which the judges say unknown or are divided
	Overall   Interval      `json:"overall"` // precision
	SameSite  Interval      `json:"same_site"`
	CrossSite Interval      `json:"cross_site"`
	Strata    []Interval    `json:"strata"` // in the order of Audit.Strata
	Judges    []JudgeResult `json:"judges"`
	Agreement *Agreement    `json:"agreement,omitempty"` // with at least two judges
	Disputed  []int         `json:"disputed"`            // items on which judges differ
}

// JudgeResult is the result of one judge.
type JudgeResult struct {
	Judge   string   `json:"judge"`
	True    int      `json:"true"`
	False   int      `json:"false"`
	Unknown int      `json:"unknown"`
	Overall Interval `json:"overall"`
}

// Agreement says how far judges agree on pairs that several of them judged.
type Agreement struct {
	Pairs    int     `json:"pairs"`
	Observed float64 `json:"observed"` // share of pairs of judgements that agree
	Alpha    float64 `json:"alpha"`    // Krippendorff's, nominal
	// Unvaried says that all these judgements are the same. Then alpha is 0 and
	// means nothing.
	Unvaried bool `json:"unvaried,omitempty"`
}
