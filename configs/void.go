package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"neardup/cluster/search"
	"neardup/signature/shingle"
	"neardup/verify/shingles"
)

// Void returns why a setting, SECTION.KEY, has no effect in a valid config: the
// other setting that makes it void. It returns "" if the setting has an effect.
func (c *Config) Void(key string) string {
	for _, r := range c.voids() {
		if r.void && slices.ContainsFunc(r.keys, func(k string) bool { return key == k || strings.HasPrefix(key, k+".") }) {
			return r.why
		}
	}
	return ""
}

// voidRule names settings that have no effect if void is true, and why.
type voidRule struct {
	void bool
	keys []string
	why  string
}

func (c *Config) voids() []voidRule {
	rule := func(void bool, section, keys, why string, a ...any) voidRule {
		r := voidRule{void: void, why: fmt.Sprintf(why, a...)}
		for k := range strings.FieldsSeq(keys) {
			r.keys = append(r.keys, section+"."+k)
		}
		return r
	}
	rules := c.voidParts()
	v, k, j := &c.Verify, &c.Cluster, &c.Cluster.Join
	pairs, byKeys, edit := c.Pairs(), k.Search == plainSearch, j.Measure == JoinEdit
	distance, lsh := edit || j.Measure == JoinHamming, j.Algorithm == JoinLSH
	return append(rules,
		rule(!v.Trustable, "verify", "rounds slope blocks", "is of the trustable part, and verify.trustable is false"),
		rule(v.Measure == measureSearch && v.RarePages > 0, "verify", "rare_pages rare_resemblance sentences rare_sentences rare_framed other_pages", "is not checked with verify.measure: %s", v.Measure),
		rule(v.RarePages == 0, "verify", "rare_resemblance sentences rare_sentences rare_framed other_pages", "is of the check that verify.rare_pages: 0 turns off"),
		rule(v.RarePages > 0 && v.Sentences == 0, "verify", "rare_sentences", "is for verify.sentences above 0, which is 0"),
		rule(v.RarePages > 0 && c.Text.Frames == 0, "verify", "rare_framed", "is of the frames of sites, which text.frames: 0 does not learn"),
		rule(v.Closing != ClosingPartition, "verify", "partition all_pairs", "is of verify.closing: %s, which is %s", ClosingPartition, v.Closing),
		rule(pairs, "verify", "max_scored", "is about sets, and the candidates are pairs"),
		rule(v.Shingles.Sketch == shingles.Exact, "verify.shingles", "size modulus", "is of a sketch, and verify.shingles.sketch is %s", v.Shingles.Sketch),
		rule(v.Shingles.Sketch == shingle.ByModulo, "verify.shingles", "size", "is not of verify.shingles.sketch: %s", v.Shingles.Sketch),
		rule(v.Shingles.Sketch != shingle.ByModulo, "verify.shingles", "modulus", "is of verify.shingles.sketch: %s, which is %s", shingle.ByModulo, v.Shingles.Sketch),
		rule(c.Sign.Shingle.Sketch == shingle.ByModulo || c.Sign.Shingle.Sketch == shingle.All, "sign.shingle", "size", "is not of sign.shingle.sketch: %s", c.Sign.Shingle.Sketch),
		rule(c.Sign.Shingle.Sketch != shingle.ByModulo, "sign.shingle", "modulus", "is of sign.shingle.sketch: %s, which is %s", shingle.ByModulo, c.Sign.Shingle.Sketch),
		rule(c.Sign.MinHash.Bands > 0, "sign.minhash", "threshold recall", "is for sign.minhash.bands: 0, which is %d", c.Sign.MinHash.Bands),
		rule(k.SiteList == 0, "cluster", "sites site_share", "is of the rule that cluster.site_list: 0 turns off"),
		rule(byKeys && k.Merge != search.MergePairs, "cluster", "all_pairs", "is of cluster.merge: %s, which is %s", search.MergePairs, k.Merge),
		rule(!pairs, "cluster", "max_pairs", "is about candidates that are pairs, and here they are sets"),
		rule(edit, "cluster.join", "repeats", "is not of cluster.join.measure: %s", JoinEdit),
		rule(distance, "cluster.join", "threshold", "is not of cluster.join.measure: %s", j.Measure),
		rule(!distance, "cluster.join", "distance", "is of cluster.join.measure: %s or %s, which is %s", JoinEdit, JoinHamming, j.Measure),
		rule(lsh, "cluster.join", "extra bitmaps", "is not of cluster.join.algorithm: %s", JoinLSH),
		rule(!lsh, "cluster.join", "rows recall", "is of cluster.join.algorithm: %s, which is %s", JoinLSH, j.Algorithm),
		rule(j.Algorithm != JoinPPJoinPlus, "cluster.join", "max_depth", "is of cluster.join.algorithm: %s, which is %s", JoinPPJoinPlus, j.Algorithm),
		rule(j.Weights != JoinUnweighted, "cluster.join", "bitmaps", "is for tokens without weights, and cluster.join.weights is %s", j.Weights),
		rule(c.Extract.PDF.MaxPages == 0, "extract.pdf", "max_memory max_steps", "is of documents that extract.pdf.max_pages: 0 does not read"),
	)
}

// voidParts returns rules for the settings of schemes, searches and measures that
// the method does not use.
func (c *Config) voidParts() (rules []voidRule) {
	unused := func(section, plain, used string, all []string, options func(string) any) {
		for _, part := range all {
			o := options(part)
			if part == used || o == nil {
				continue
			}
			why := fmt.Sprintf("is of the part %s, and the method has %s", part, used)
			r := voidRule{void: true, why: why, keys: []string{section + "." + part}}
			if part == plain {
				r.keys = nil
				for key := range keysOf(o) {
					r.keys = append(r.keys, section+"."+key)
				}
			}
			rules = append(rules, r)
		}
	}
	schemeNames, searchNames, measureNames := Parts()
	unused("sign", plainScheme, c.Sign.Scheme, schemeNames, func(name string) any {
		if s := must(schemes, name); s.options != nil {
			return s.options(c)
		}
		return nil
	})
	unused("cluster", plainSearch, c.Cluster.Search, searchNames, func(name string) any { return must(searches, name).options(c) })
	unused("verify", plainMeasure, c.Verify.Measure, measureNames, func(name string) any {
		if m := must(measures, name); m.options != nil {
			return m.options(c)
		}
		return nil
	})
	terms := c.Sign.Scheme == partTerms || c.Verify.Measure == partTerms
	return append(rules, voidRule{void: !terms, keys: []string{"text.terms"}, why: "is of the scheme and the measure " + partTerms})
}

// keysOf returns the keys of the options of a part.
func keysOf(options any) map[string]json.RawMessage {
	used := map[string]any{}
	use(used, "", options)
	out := map[string]json.RawMessage{}
	for k, v := range used {
		out[k] = v.(json.RawMessage)
	}
	return out
}

// checkVoid returns an error for a setting, SECTION.KEY=VALUE, that others make
// void.
func (c *Config) checkVoid(settings []string) error {
	for _, s := range settings {
		key, _, _ := strings.Cut(s, "=")
		if why := c.Void(key); why != "" {
			return fmt.Errorf("--set %s: %s %s", s, key, why)
		}
	}
	return nil
}

// checkVoidFile returns an error for a setting of a config file that others make
// void and that differs from the preset default. The rest of a file may be a copy
// of that preset.
func (c *Config) checkVoidFile(b []byte) error {
	var written map[string]any
	if err := yaml.NewDecoder(bytes.NewReader(b)).Decode(&written); err != nil {
		return nil // an empty file; other errors were found before
	}
	base, err := Load("default", nil)
	if err != nil {
		return err
	}
	var keys []string
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		if m, ok := v.(map[string]any); ok {
			for k, v := range m {
				walk(prefix+"."+k, v)
			}
			return
		}
		keys = append(keys, strings.TrimPrefix(prefix, "."))
	}
	walk("", written)
	slices.Sort(keys)
	for _, key := range keys {
		was, err1 := base.Value(key)
		is, err2 := c.Value(key)
		if err1 != nil || err2 != nil || bytes.Equal(was, is) {
			continue
		}
		if why := c.Void(key); why != "" {
			return fmt.Errorf("%s %s", key, why)
		}
	}
	return nil
}
