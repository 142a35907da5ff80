package configs

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

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
)

// A method is a preset: a combination of a signature scheme, a candidate search
// and a measure. These are the lists of all there are; docs/methods.md says how
// to add one.

// scheme is a way to sign texts.
type scheme struct {
	name    string
	options func(*Config) options // those that it uses
	make    func(*Config) signature.Scheme
}

var schemes = []scheme{
	{SchemeRing, func(c *Config) options { return c.Sign.Options },
		func(c *Config) signature.Scheme { return ring.NewScheme(c.Sign.Options) }},
	{SchemeSimhash, func(c *Config) options { return c.Sign.Simhash },
		func(c *Config) signature.Scheme { return simhash.NewScheme(c.Sign.Simhash) }},
	{"shingle", func(c *Config) options { return c.Sign.Shingle },
		func(c *Config) signature.Scheme { return shingle.NewScheme(c.Sign.Shingle) }},
	{"minhash", func(c *Config) options { return c.Sign.MinHash },
		func(c *Config) signature.Scheme { return minhash.NewScheme(c.Sign.MinHash) }},
	{partTerms, func(c *Config) options { return c.termsOptions() },
		func(c *Config) signature.Scheme { return terms.New(c.termsOptions()) }},
	{SchemeNone, nil, func(*Config) signature.Scheme { return unsigned{} }},
}

// partTerms is a scheme and a measure, which weigh terms in one way.
const partTerms = "terms"

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

// The signature schemes that others than this list name: the ring counts
// signatures for a text's weight, some searches need a certain one or none.
const (
	SchemeRing    = "ring"
	SchemeSimhash = "simhash"
	SchemeNone    = "none"
)

// unsigned signs nothing.
type unsigned struct{}

func (unsigned) Sign(dst []signature.Signature, _ string) []signature.Signature { return dst }

// search is a way to find candidates. Package pipeline does it.
type search struct {
	name      string
	options   func(*Cluster) any
	threshold threshold // of the scores that it gives
}

// The searches.
const (
	SearchKeys    = "keys"    // texts that share signatures
	SearchHamming = "hamming" // texts whose signatures differ in few bits
	SearchJoin    = "join"    // a similarity join of the texts
)

var searches = []search{
	{SearchKeys, func(c *Cluster) any { return &c.Keys }, threshold{}},
	{SearchHamming, func(c *Cluster) any { return &c.Hamming }, threshold{"cluster.hamming.distance", []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"}}},
	{SearchJoin, func(c *Cluster) any { return &c.Join }, threshold{"cluster.join.threshold", similarities[8:]}},
}

// threshold is the setting that trades the precision of a part for its recall,
// and values that a curve over it is made of, in their order.
type threshold struct {
	key    string
	values []string
}

var similarities = []string{"0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5",
	"0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95"}

// measure is a way to compare two texts.
type measure struct {
	name      string
	options   func(*Config) options
	make      func(*Config) verify.Measure
	threshold threshold
}

// The measures that others than this list name.
const (
	MeasureTLCS     = "tlcs"
	MeasureShingles = "shingles"
	MeasureSearch   = "search" // that of the search, which has found the pair by its score
)

var measures = []measure{
	{MeasureTLCS, func(c *Config) options { return c.Verify.Options }, func(c *Config) verify.Measure { return c.Verify.Options.Measure() },
		threshold{"verify.resemblance", similarities}},
	{"cosine", func(c *Config) options { return c.Verify.Cosine }, func(c *Config) verify.Measure { return cosine.New(c.Verify.Cosine) },
		threshold{"verify.cosine.cosine", append(similarities[8:], "0.98", "0.99")}},
	{MeasureShingles, func(c *Config) options { return c.Verify.Shingles }, func(c *Config) verify.Measure { return shingles.New(c.Verify.Shingles) },
		threshold{"verify.shingles.resemblance", similarities}},
	{partTerms, func(c *Config) options { return c.termsMeasure() }, func(c *Config) verify.Measure { return degree.New(c.termsMeasure()) },
		threshold{"verify.terms.threshold", similarities[4:]}},
	{MeasureSearch, nil, func(*Config) verify.Measure { return nil }, threshold{}},
}

// options are those of one part.
type options interface{ Validate() error }

func (s scheme) String() string  { return s.name }
func (s search) String() string  { return s.name }
func (m measure) String() string { return m.name }

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

// named finds a part by its name.
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

// must is for configs that were validated.
func must[T fmt.Stringer](list []T, name string) T {
	return list[slices.IndexFunc(list, func(part T) bool { return part.String() == name })]
}

// Signs reports whether the method signs texts.
func (c Config) Signs() bool { return c.Sign.Scheme != SchemeNone }

// WeighsBySignatures reports whether a text with more signatures has a larger key,
// as in the TLCS paper. Other schemes give long texts no more than short ones.
func (c Config) WeighsBySignatures() bool { return c.Sign.Scheme == SchemeRing }

// NewScheme makes the signature scheme of a valid config.
func (c *Config) NewScheme() signature.Scheme { return must(schemes, c.Sign.Scheme).make(c) }

// NewMeasure makes the measure of a valid config; nil is that of the search.
func (c *Config) NewMeasure() verify.Measure { return must(measures, c.Verify.Measure).make(c) }

// Threshold returns the setting that trades the precision of the config's method for
// its recall, and the values that a curve over it is made of, in their order.
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
		use(used, prefix(part.name, SchemeRing), part.options(c))
	}
	return map[string]any{"text": c.usedText(c.Sign.Scheme), "sign": used}
}

// UsedByCluster returns the settings of clustering that the search uses, by their
// keys.
func (c *Config) UsedByCluster() map[string]any {
	used := map[string]any{"search": c.Cluster.Search, "quality": c.Cluster.Quality, "max_pairs": c.Cluster.MaxPairs}
	part := must(searches, c.Cluster.Search)
	use(used, prefix(part.name, SearchKeys), part.options(&c.Cluster))
	return map[string]any{"cluster": used}
}

// UsedByVerify returns the settings of verifying that the measure uses, by their
// keys.
func (c *Config) UsedByVerify() map[string]any {
	v := c.Verify
	used := map[string]any{"measure": v.Measure, "closing": v.Closing, "contained": v.Contained, "max_scored": v.MaxScored, "transitivity": v.Transitivity}
	if v.Closing == ClosingPartition {
		used["partition"] = v.Partition
	}
	use(used, "", v.Rarity)
	if part := must(measures, v.Measure); part.options != nil {
		use(used, prefix(part.name, MeasureTLCS), part.options(c))
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

// validateParts names parts that there are not, that do not fit together, and
// options of those that are used that make no sense.
func (c *Config) validateParts() error {
	s, err := named(schemes, "sign.scheme", c.Sign.Scheme)
	if err != nil {
		return err
	}
	if _, err := named(searches, "cluster.search", c.Cluster.Search); err != nil {
		return err
	}
	m, err := named(measures, "verify.measure", c.Verify.Measure)
	if err != nil {
		return err
	}
	if s.options != nil {
		if err := s.options(c).Validate(); err != nil {
			return fmt.Errorf("sign.%s%w", prefix(s.name, SchemeRing), err)
		}
	}
	if m.options != nil {
		if err := m.options(c).Validate(); err != nil {
			return fmt.Errorf("verify.%s%w", prefix(m.name, MeasureTLCS), err)
		}
	}
	switch search := c.Cluster.Search; {
	case search == SearchHamming && c.Sign.Scheme != SchemeSimhash:
		return fmt.Errorf("cluster.search: %s needs signatures of 64 bits that differ in few of them, sign.scheme: %s", search, SchemeSimhash)
	case search == SearchKeys && c.Sign.Scheme == SchemeNone:
		return fmt.Errorf("cluster.search: %s needs signatures, and sign.scheme is %s", search, SchemeNone)
	case search == SearchKeys && c.Verify.Measure == MeasureSearch:
		return fmt.Errorf("verify.measure: %s is for a search that scores pairs, and cluster.search is %s", MeasureSearch, search)
	}
	if c.Verify.Transitivity && !c.Cluster.Pairs() {
		return fmt.Errorf("verify.transitivity: true needs candidates that are pairs, such as those of cluster.merge: %s", MergePairs)
	}
	return nil
}

// prefix returns the key under which a part has its options; those of plain stand at
// the top of their section.
func prefix(name, plain string) string {
	if name == plain {
		return ""
	}
	return name + "."
}
