package audit

// Population is what a sample is drawn from.
type Population string

// The populations.
const (
	// Pages: a page of a cluster, each as likely, and another page of its cluster,
	// each as likely. The share of true pairs is then the paper's precision: the
	// share of a page's near-duplicates that are true, averaged over pages.
	Pages Population = "pages"
	// Verified: a page and the one that it was verified against.
	Verified Population = "verified"
)

// Design says how a sample is drawn.
type Design struct {
	Population Population `json:"population"`
	Stratified bool       `json:"stratified"` // of Verified: by site and score, as many of each
	Different  bool       `json:"different"`  // only pairs whose texts differ
	Size       int        `json:"size"`       // pairs
	Seed       uint64     `json:"seed"`
}

// Audit is a sample and where it is from.
type Audit struct {
	Name       string    `json:"name"`
	Design     Design    `json:"design"`
	Generation string    `json:"generation"` // of the clusters that it was drawn from
	Current    bool      `json:"-"`          // these are still there
	Drawn      string    `json:"drawn"`      // RFC 3339, UTC
	Strata     []Stratum `json:"strata"`     // one where it is not stratified
	Size       int       `json:"size"`       // pairs; less than asked for where there are no more
}

// Stratum is a part of a population.
type Stratum struct {
	Name       string `json:"name"`
	Population int64  `json:"population"` // pairs that could have been drawn; of Pages: pages
	Sampled    int    `json:"sampled"`
	SameSite   bool   `json:"same_site,omitempty"` // of a stratified sample: of pairs of one site
}

// Item is a pair of a sample.
type Item struct {
	Pair
	Documents   [2]string `json:"documents"` // in hexadecimal, in the order of the pair
	URIs        [2]string `json:"uris"`
	Dates       [2]string `json:"dates"`
	Sites       [2]string `json:"sites"` // empty: it has none
	Cluster     string    `json:"cluster"`
	Draws       int       `json:"draws"` // how often it was drawn; of Pages 2 where each of its pages drew the other
	Stratum     int       `json:"stratum"`
	SameSite    bool      `json:"same_site"`
	Identical   bool      `json:"identical"`   // the same text
	Resemblance float64   `json:"resemblance"` // of verified pairs; of other pairs 0
	Containment float64   `json:"containment"` // likewise
}

// Progress is how far a judge is.
type Progress struct {
	Size   int
	Judged int
	Next   int       // the first that is not judged; -1: there is none
	Given  []Verdict // of each pair, empty: not judged
}

// Interval is an estimate with its 95% confidence interval. Of nothing it says
// nothing: 0, from 0 to 1.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	True  int     `json:"true"`
	False int     `json:"false"`
	// Missing are the strata of which pairs could have been drawn and none is
	// decided. The value is of the others; low and high are those of which it can
	// be, whatever the missing strata hold.
	Missing []int `json:"missing,omitempty"`
}

// Known reports whether there is a value.
func (i Interval) Known() bool { return i.True+i.False > 0 }

// Result is what the judgements say.
type Result struct {
	Audit     Audit         `json:"audit"`
	Judged    int           `json:"judged"`  // pairs that someone judged
	Unknown   int           `json:"unknown"` // pairs on which the judges say unknown, or are divided
	Overall   Interval      `json:"overall"` // precision
	SameSite  Interval      `json:"same_site"`
	CrossSite Interval      `json:"cross_site"`
	Strata    []Interval    `json:"strata"` // in the order of Audit.Strata
	Judges    []JudgeResult `json:"judges"`
	Agreement *Agreement    `json:"agreement,omitempty"` // of two judges and more
	Disputed  []int         `json:"disputed"`            // items that judges differ on
}

// JudgeResult is one judge's part.
type JudgeResult struct {
	Judge   string   `json:"judge"`
	True    int      `json:"true"`
	False   int      `json:"false"`
	Unknown int      `json:"unknown"`
	Overall Interval `json:"overall"`
}

// Agreement is that of the judges on pairs that several have judged.
type Agreement struct {
	Pairs    int     `json:"pairs"`
	Observed float64 `json:"observed"` // share of pairs of judgements that agree
	Alpha    float64 `json:"alpha"`    // Krippendorff's, nominal
	// Unvaried says that all these judgements are the same, and that alpha, which
	// is 0 then, says nothing.
	Unvaried bool `json:"unvaried,omitempty"`
}
