package configs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"neardup/cluster/search"
	"neardup/signature"
	"neardup/signature/minhash"
	"neardup/signature/ring"
	"neardup/signature/shingle"
	"neardup/signature/simhash"
	"neardup/signature/terms"
	"neardup/verify"
	"neardup/verify/cosine"
	"neardup/verify/shingles"
	degree "neardup/verify/terms"
	"neardup/verify/tlcs"
)

// A method is a preset: a combination of a signature scheme, a candidate search and
// a measure. This file lists all of these: each has a field for its options and an
// entry in a list. docs/methods.md describes how to add one.

// Sign chooses how texts are signed: a scheme, and the options of each scheme.
// Those of the ring are not in a section of their own.
type Sign struct {
	Scheme       string `yaml:"scheme" json:"scheme"`
	ring.Options `yaml:",inline"`
	Simhash      simhash.Options `yaml:"simhash" json:"simhash"`
	Shingle      shingle.Options `yaml:"shingle" json:"shingle"`
	MinHash      minhash.Options `yaml:"minhash" json:"minhash"`
	Terms        terms.Options   `yaml:"terms" json:"terms"`
}

// Cluster chooses how candidates are found: a search, and the options of each
// search. Those of the search by keys are not in a section of their own.
type Cluster struct {
	Search      string `yaml:"search" json:"search"`
	search.Keys `yaml:",inline"`
	Quality     string         `yaml:"quality" json:"quality"`
	MaxPairs    int64          `yaml:"max_pairs" json:"max_pairs"` // limit of candidate pairs
	Hamming     search.Hamming `yaml:"hamming" json:"hamming"`
	Join        search.Join    `yaml:"join" json:"join"`
}

// Verify holds the settings of the verdicts and of closing them into clusters: a
// measure, and the options of each measure. Those of TLCS are not in a section of
// their own.
type Verify struct {
	Measure      string `yaml:"measure" json:"measure"`
	tlcs.Options `yaml:",inline"`
	Rarity       `yaml:",inline"`
	Closing      string           `yaml:"closing" json:"closing"`
	Partition    Partition        `yaml:"partition" json:"partition"`   // with ClosingPartition
	MaxScored    int              `yaml:"max_scored" json:"max_scored"` // 0: no limit
	AllPairs     int              `yaml:"all_pairs" json:"all_pairs"`   // with ClosingPartition: every pair is compared in sets of up to so many texts
	Contained    string           `yaml:"contained" json:"contained"`
	Transitivity bool             `yaml:"transitivity" json:"transitivity"`
	Cosine       cosine.Options   `yaml:"cosine" json:"cosine"`
	Shingles     shingles.Options `yaml:"shingles" json:"shingles"`
	Terms        degree.Options   `yaml:"terms" json:"terms"`
}

// scheme is an entry of the list of signature schemes. What make returns may
// implement signature.Tracer.
type scheme struct {
	name    string
	options func(*Config) options // the options that it uses
	make    func(*Config) signature.Scheme
	gives   signatures
}

// signatures is what a scheme's signatures tell about similarity.
type signatures int

const (
	keys         signatures = iota // texts that share one are perhaps similar
	counted                        // as keys; and a text with more of them has more text
	fingerprints                   // a text has one of 64 bits, and those of similar texts differ in few bits
	none
)

var schemes = []scheme{
	{"ring", func(c *Config) options { return c.Sign.Options },
		func(c *Config) signature.Scheme { return ring.NewScheme(c.Sign.Options) }, counted},
	{"simhash", func(c *Config) options { return c.Sign.Simhash },
		func(c *Config) signature.Scheme { return simhash.NewScheme(c.Sign.Simhash) }, fingerprints},
	{"shingle", func(c *Config) options { return c.Sign.Shingle },
		func(c *Config) signature.Scheme { return shingle.NewScheme(c.Sign.Shingle) }, keys},
	{"minhash", func(c *Config) options { return c.Sign.MinHash },
		func(c *Config) signature.Scheme { return minhash.NewScheme(c.Sign.MinHash) }, keys},
	{partTerms, func(c *Config) options { return c.termsOptions() },
		func(c *Config) signature.Scheme { return terms.New(c.termsOptions()) }, keys},
	{"none", nil, func(*Config) signature.Scheme { return unsigned{} }, none},
}

// partTerms is the name of a scheme and of a measure, which weigh terms in the same
// way.
const partTerms = "terms"

// CountsTerms reports whether the method weighs terms by their frequencies in the
// collection.
func (c *Config) CountsTerms() bool {
	return (c.Sign.Scheme == partTerms || c.Verify.Measure == partTerms) && c.Text.Terms.Frequencies == terms.OfCollection
}

func (c *Config) termsOptions() terms.Options {
	o := c.Sign.Terms
	o.Weighing = c.Text.Terms
	return o
}

func (c *Config) termsMeasure() degree.Options {
	o := c.Verify.Terms
	o.Weighing = c.Text.Terms
	return o
}

// unsigned is the scheme that signs nothing.
type unsigned struct{}

func (unsigned) Sign(dst []signature.Signature, _ string) []signature.Signature { return dst }

// searching is an entry of the list of searches. What make returns may implement
// search.Scorer.
type searching struct {
	name      string
	options   func(*Config) options
	make      func(*Config) search.Search
	threshold threshold  // of the search's own scores
	needs     signatures // none: it works with any scheme, or without one
}

var searches = []searching{
	{SearchKeys, func(c *Config) options { return c.Cluster.Keys },
		func(c *Config) search.Search { return search.NewKeys(c.Cluster.Keys) }, threshold{}, keys},
	{searchHamming, func(c *Config) options { return c.Cluster.Hamming },
		func(c *Config) search.Search { return c.Cluster.Hamming },
		threshold{"cluster.hamming.distance", []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}}, fingerprints},
	{SearchJoin, func(c *Config) options { return c.Cluster.Join },
		func(c *Config) search.Search { return c.Cluster.Join },
		threshold{"cluster.join.threshold", similarities[8:]}, none},
}

// threshold is the setting that trades a part's precision for its recall, with the
// values from which a curve over it is made, in order.
type threshold struct {
	key    string
	values []string
}

var similarities = []string{"0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5",
	"0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95"}

// measure is an entry of the list of measures. What make returns may implement
// interfaces that explain uses: tlcs.Aligner, verify.Containing.
type measure struct {
	name      string
	options   func(*Config) options
	make      func(*Config) verify.Measure
	threshold threshold
}

// MeasureTLCS is the measure with an index for large sets.
const MeasureTLCS = "tlcs"

// measureSearch is the measure that takes the search's own score.
const measureSearch = "search"

// Parts whose scores are estimates.
const (
	searchHamming   = "hamming"
	measureShingles = "shingles"
)

var measures = []measure{
	{MeasureTLCS, func(c *Config) options { return c.Verify.Options }, func(c *Config) verify.Measure { return c.Verify.Options.Measure() },
		threshold{"verify.resemblance", similarities}},
	{"cosine", func(c *Config) options { return c.Verify.Cosine }, func(c *Config) verify.Measure { return cosine.New(c.Verify.Cosine) },
		threshold{"verify.cosine.cosine", append(similarities[8:], "0.98", "0.99")}},
	{measureShingles, func(c *Config) options { return c.Verify.Shingles }, func(c *Config) verify.Measure { return shingles.New(c.Verify.Shingles) },
		threshold{"verify.shingles.resemblance", similarities}},
	{partTerms, func(c *Config) options { return c.termsMeasure() }, func(c *Config) verify.Measure { return degree.New(c.termsMeasure()) },
		threshold{"verify.terms.threshold", similarities[4:]}},
	{measureSearch, nil, func(*Config) verify.Measure { return nil }, threshold{}},
}

// options are the options of one part.
type options interface{ Validate() error }

func (s scheme) String() string    { return s.name }
func (s searching) String() string { return s.name }
func (m measure) String() string   { return m.name }

// Parts returns the names of all schemes, searches and measures.
func Parts() (schemeNames, searchNames, measureNames []string) {
	return names(schemes), names(searches), names(measures)
}

func names[T fmt.Stringer](list []T) (out []string) {
	for _, part := range list {
		out = append(out, part.String())
	}
	return out
}

// named returns the part with a name. key is the setting that names it.
func named[T fmt.Stringer](list []T, key, name string) (part T, err error) {
	for _, part := range list {
		if part.String() == name {
			return part, nil
		}
	}
	all := names(list)
	last := len(all) - 1
	return part, fmt.Errorf("%s: %q is neither %s nor %s", key, name, strings.Join(all[:last], ", "), all[last])
}

// must returns the part with a name, for configs that were validated.
func must[T fmt.Stringer](list []T, name string) T {
	return list[slices.IndexFunc(list, func(part T) bool { return part.String() == name })]
}

// Signs reports whether the method signs texts.
func (c *Config) Signs() bool { return c.gives() != none }

// WeighsBySignatures reports whether a text with more signatures has a larger key,
// as in the TLCS paper. Other schemes give long texts no more signatures than short
// ones.
func (c *Config) WeighsBySignatures() bool { return c.gives() == counted }

// Fingerprints reports whether a text has one signature of 64 bits, and those of
// similar texts differ in few bits.
func (c *Config) Fingerprints() bool { return c.gives() == fingerprints }

func (c *Config) gives() signatures { return must(schemes, c.Sign.Scheme).gives }

// NewSearch returns the search of a valid config.
func (c *Config) NewSearch() search.Search { return must(searches, c.Cluster.Search).make(c) }

// Pairs reports whether the search finds candidate pairs, each verified by itself,
// instead of perhaps-similar sets.
func (c *Config) Pairs() bool { return c.NewSearch().Emits() != search.Sets }

// NewScheme returns the signature scheme of a valid config.
func (c *Config) NewScheme() signature.Scheme { return must(schemes, c.Sign.Scheme).make(c) }

// NewMeasure returns the measure of a valid config. It is nil if the search's own
// score decides.
func (c *Config) NewMeasure() verify.Measure { return must(measures, c.Verify.Measure).make(c) }

// EstimatedBy returns by what the scores estimate the resemblance of two texts. It
// is empty for methods that compare the texts themselves, or all of their words,
// q-grams or shingles.
func (c Config) EstimatedBy() string {
	switch {
	case c.Verify.Measure == measureSearch && c.Cluster.Search == searchHamming:
		return "the share of bits that two simhashes have in common"
	case c.Verify.Measure == measureSearch && c.Cluster.Search == SearchJoin && c.Cluster.Join.Sketch > 0:
		return "sketches of tokens"
	case c.Verify.Measure == measureShingles && c.Verify.Shingles.Sketch != shingles.Exact:
		return "sketches of shingles"
	}
	return ""
}

// Threshold returns the setting that trades the precision of the config's method
// for its recall, and the values from which a curve over it is made, in order.
func (c Config) Threshold() (key string, values []string) {
	t := must(measures, c.Verify.Measure).threshold
	if t.key == "" {
		t = must(searches, c.Cluster.Search).threshold
	}
	return t.key, t.values
}

// UsedBySign returns the settings of signing that the method uses, by their keys.
func (c *Config) UsedBySign() map[string]any {
	used := map[string]any{"scheme": c.Sign.Scheme}
	if part := must(schemes, c.Sign.Scheme); part.options != nil {
		use(used, prefix(part.name, plainScheme), part.options(c))
	}
	return map[string]any{"text": c.usedText(c.Sign.Scheme), "sign": used}
}

// UsedByCluster returns the settings of clustering that the search uses, by their
// keys.
func (c *Config) UsedByCluster() map[string]any {
	used := map[string]any{"search": c.Cluster.Search, "quality": c.Cluster.Quality, "max_pairs": c.Cluster.MaxPairs}
	part := must(searches, c.Cluster.Search)
	use(used, prefix(part.name, plainSearch), part.options(c))
	return map[string]any{"cluster": used}
}

// UsedByVerify returns the settings of verifying that the measure uses, by their
// keys.
func (c *Config) UsedByVerify() map[string]any {
	v := c.Verify
	used := map[string]any{"measure": v.Measure, "closing": v.Closing, "contained": v.Contained, "max_scored": v.MaxScored, "transitivity": v.Transitivity}
	if v.Closing == ClosingPartition {
		used["partition"], used["all_pairs"] = v.Partition, v.AllPairs
	}
	use(used, "", v.Rarity)
	if part := must(measures, v.Measure); part.options != nil {
		use(used, prefix(part.name, plainMeasure), part.options(c))
	}
	return map[string]any{"text": c.usedText(v.Measure), "verify": used}
}

// usedText returns the settings of the text that a part uses.
func (c *Config) usedText(part string) map[string]any {
	used := map[string]any{}
	use(used, "", c.Text)
	if part != partTerms {
		delete(used, "terms")
	}
	return used
}

// use puts options under their keys, below prefix if it is not empty.
func use(used map[string]any, prefix string, options any) {
	b, err := json.Marshal(options)
	if err != nil {
		panic(err) // options are plain structs
	}
	if prefix != "" {
		used[strings.TrimSuffix(prefix, ".")] = json.RawMessage(b)
		return
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(b, &keys); err != nil {
		panic(err)
	}
	for key, value := range keys {
		used[key] = value
	}
}

// validateParts returns an error for unknown parts, for parts that do not fit
// together, and for invalid options of the parts in use.
func (c *Config) validateParts() error {
	s, err := named(schemes, "sign.scheme", c.Sign.Scheme)
	if err != nil {
		return err
	}
	find, err := named(searches, "cluster.search", c.Cluster.Search)
	if err != nil {
		return err
	}
	m, err := named(measures, "verify.measure", c.Verify.Measure)
	if err != nil {
		return err
	}
	var wrong []error
	if s.options != nil {
		wrong = append(wrong, prefixed("sign."+prefix(s.name, plainScheme), s.options(c).Validate()))
	}
	wrong = append(wrong, prefixed("cluster."+prefix(find.name, plainSearch), find.options(c).Validate()))
	if m.options != nil {
		wrong = append(wrong, prefixed("verify."+prefix(m.name, plainMeasure), m.options(c).Validate()))
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	_, scores := find.make(c).(search.Scorer)
	switch {
	case find.needs == fingerprints && s.gives != fingerprints:
		return fmt.Errorf("cluster.search: %s needs signatures of 64 bits that differ in few bits: take sign.scheme: %s", find, with(fingerprints))
	case find.needs != none && s.gives == none:
		return fmt.Errorf("cluster.search: %s needs signatures, and sign.scheme is %s", find, s)
	case m.make(c) == nil && !scores:
		return fmt.Errorf("verify.measure: %s is for a search that scores pairs, and cluster.search is %s", m, find)
	}
	if c.Verify.Closing == ClosingLeaders && c.Pairs() {
		return fmt.Errorf("verify.closing: %s is for perhaps-similar sets, and here the candidates are pairs, each verified by itself; take %s", ClosingLeaders, ClosingTransitive)
	}
	if c.Verify.Transitivity && !c.Pairs() {
		return fmt.Errorf("verify.transitivity: true needs candidates that are pairs, such as those of cluster.merge: %s", search.MergePairs)
	}
	return nil
}

// with returns the names of the schemes with such signatures, for a message.
func with(gives signatures) string {
	var found []string
	for _, s := range schemes {
		if s.gives == gives {
			found = append(found, s.name)
		}
	}
	return strings.Join(found, ", ")
}

func prefixed(prefix string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", prefix, err)
}

// The parts whose options are at the top of their section.
var plainScheme, plainSearch, plainMeasure = schemes[0].name, searches[0].name, measures[0].name

// prefix returns the key under which a part has its options. It is empty for the
// part plain, whose options are at the top of their section.
func prefix(name, plain string) string {
	if name == plain {
		return ""
	}
	return name + "."
}
