// Package sweep plans runs that differ in settings, and writes tables, files and
// plots of their results. It is pure; package pipeline/trials does the runs.
package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"neardup/configs"
)

// Setting is a setting and its value.
type Setting struct {
	Key   string          `json:"key"` // SECTION.KEY
	Value json.RawMessage `json:"value"`
}

// Text returns the value as users write it.
func (s Setting) Text() string {
	var text string
	if json.Unmarshal(s.Value, &text) == nil {
		return text
	}
	return string(s.Value)
}

func (s Setting) String() string { return s.Key + "=" + s.Text() }

// numeric returns the value as a number.
func (s Setting) numeric() (x float64, ok bool) {
	return x, json.Unmarshal(s.Value, &x) == nil && string(s.Value) != "null"
}

// Vary is a setting with the values to try.
type Vary struct {
	Key    string            `json:"key"`
	Values []json.RawMessage `json:"values"`
}

// Variant is one run: the base with some settings changed. The base itself has
// none.
type Variant struct {
	Settings []Setting
	Config   configs.Config
}

// Name returns the name of the variant, which is its settings.
func (v Variant) Name() string { return name(v.Settings) }

func name(settings []Setting) string {
	if len(settings) == 0 {
		return "base"
	}
	var parts []string
	for _, s := range settings {
		parts = append(parts, s.String())
	}
	return strings.Join(parts, " ")
}

// Plan lists the runs of a sweep: the base, then the variants in the given order.
type Plan struct {
	Varies   []Vary
	Grid     bool
	Variants []Variant // the first is the base
}

// NewPlan returns the plan for settings to vary, each SECTION.KEY=V1,V2,... They
// vary one at a time, or with grid in all combinations, the last setting fastest.
// Every variant's config is valid.
func NewPlan(base configs.Config, vary []string, grid bool) (Plan, error) {
	p := Plan{Grid: grid, Variants: []Variant{{Config: base}}}
	var each [][]Variant // for each setting, the base with each of its values
	for _, v := range vary {
		variants, err := varied(base, v)
		if err != nil {
			return p, fmt.Errorf("--vary %s: %w", v, err)
		}
		of := Vary{Key: variants[0].Settings[0].Key}
		for _, known := range p.Varies {
			if known.Key == of.Key {
				return p, fmt.Errorf("--vary %s: %s is varied already", v, of.Key)
			}
		}
		for _, one := range variants {
			of.Values = append(of.Values, one.Settings[0].Value)
		}
		p.Varies = append(p.Varies, of)
		each = append(each, variants)
	}
	if grid && len(each) > 0 {
		all, err := combine(base, each)
		if err != nil {
			return p, err
		}
		p.Variants = append(p.Variants, all...)
		return p, p.checkVoid()
	}
	for _, variants := range each {
		p.Variants = append(p.Variants, variants...)
	}
	return p, p.checkVoid()
}

// checkVoid returns an error for a key that has no effect in any variant.
func (p Plan) checkVoid() error {
	for _, v := range p.Varies {
		why := ""
		for _, variant := range p.Variants {
			if !slices.ContainsFunc(variant.Settings, func(s Setting) bool { return s.Key == v.Key }) {
				continue
			}
			if why = variant.Config.Void(v.Key); why == "" {
				break
			}
		}
		if why != "" {
			return fmt.Errorf("--vary %s: %s", v.Key, why)
		}
	}
	return nil
}

// varied returns the base with each value of SECTION.KEY=V1,V2,...
func varied(base configs.Config, vary string) ([]Variant, error) {
	key, list, ok := strings.Cut(vary, "=")
	if !ok || key == "" {
		return nil, errors.New("want SECTION.KEY=V1,V2,..., such as verify.slope=0.1,0.2")
	}
	var out []Variant
	for _, text := range splitValues(list) {
		v := Variant{Config: base}
		if err := v.Config.Set([]string{key + "=" + text}); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "--set "))
		}
		value, err := v.Config.Value(key)
		if err != nil {
			return nil, err
		}
		v.Settings = []Setting{{key, value}}
		for _, o := range out {
			if string(o.Settings[0].Value) == string(value) {
				return nil, fmt.Errorf("the value %s is given twice", v.Settings[0].Text())
			}
		}
		out = append(out, v)
	}
	return out, nil
}

// combine returns all combinations of one variant from each list.
func combine(base configs.Config, each [][]Variant) ([]Variant, error) {
	all := []Variant{{Config: base}}
	for _, variants := range each {
		var longer []Variant
		for _, a := range all {
			for _, b := range variants {
				s := b.Settings[0]
				v := Variant{Settings: append(a.Settings[:len(a.Settings):len(a.Settings)], s), Config: a.Config}
				// A JSON value is a YAML value. Values that are valid alone may be
				// invalid together.
				if err := v.Config.Set([]string{s.Key + "=" + string(s.Value)}); err != nil {
					return nil, fmt.Errorf("%s: %w", v.Name(), err)
				}
				longer = append(longer, v)
			}
		}
		all = longer
	}
	return all, nil
}

// splitValues splits a list at commas, except inside brackets, braces or quotes.
func splitValues(list string) []string {
	var out []string
	depth, from := 0, 0
	var quote rune
	for i, r := range list {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'':
			quote = r
		case r == '[' || r == '{':
			depth++
		case r == ']' || r == '}':
			depth--
		case r == ',' && depth <= 0:
			out = append(out, list[from:i])
			from = i + 1
		}
	}
	return append(out, list[from:])
}

// Order returns the order of the variants that redoes the fewest stages. stages[i]
// has the options of each stage for variant i. A stage is redone if its own options
// or those of an earlier stage change. present has the options of the stages that
// are already up to date.
//
// Variants with equal first stages form a tree. Every node must be made at least
// once. Depth-first order makes each exactly once; what is already present goes
// first. Otherwise Order keeps the given order.
func Order(stages [][]string, present []string) []int {
	all := make([]int, len(stages))
	for i := range all {
		all[i] = i
	}
	return order(stages, all, 0, present)
}

func order(stages [][]string, variants []int, depth int, present []string) []int {
	if len(variants) == 0 || depth == len(stages[variants[0]]) {
		return variants
	}
	groups := map[string][]int{}
	var names []string
	for _, v := range variants {
		options := stages[v][depth]
		if groups[options] == nil {
			names = append(names, options)
		}
		groups[options] = append(groups[options], v)
	}
	var out []int
	if len(present) > depth {
		out = order(stages, groups[present[depth]], depth+1, present)
	}
	for _, options := range names {
		if len(present) > depth && options == present[depth] {
			continue
		}
		out = append(out, order(stages, groups[options], depth+1, nil)...)
	}
	return out
}
