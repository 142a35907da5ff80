// Package compare compares several methods, each of which is a config. It plans the
// runs, computes how far the methods' clusters agree, finds the pairs of pages that
// they dispute, and writes tables, files and plots. It is pure; package
// pipeline/trials does the runs.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"neardup/configs"
	"neardup/screen"
	"neardup/sweep"
)

// Plan is what a comparison runs.
type Plan struct {
	Base    configs.Config // all methods use its extraction
	Methods []Planned
}

// Planned is a method to run.
type Planned struct {
	Name   string
	Config configs.Config
	Key    string    // setting that its curve varies; empty without a curve
	Curve  []Variant // in the order of the values, including the method's own
}

// Variant is a method with a value of its threshold.
type Variant struct {
	Value  string
	Own    bool // the value is the method's own
	Config configs.Config
}

// Presets returns all presets, the preset default first.
func Presets() []string {
	names := slices.DeleteFunc(configs.Names(), func(n string) bool { return n == "default" })
	return append([]string{"default"}, names...)
}

// NewPlan returns the plan for methods, each a preset or a config file. All use the
// section extract of the base. Settings such as "verify.slope=0.2" apply to each
// method. Every config of the plan is valid.
func NewPlan(base configs.Config, methods, settings []string, curves bool) (Plan, error) {
	p := Plan{Base: base}
	for _, method := range methods {
		if method = strings.TrimSpace(method); method == "" {
			return p, errors.New("--methods: a name is empty")
		}
		m := Planned{Name: methodName(method)}
		var err error
		if m.Config, err = configs.Load(method, nil); err != nil {
			return p, fmt.Errorf("--methods: %w", err)
		}
		m.Config.Extract = base.Extract
		if err := m.Config.Set(settings); err != nil {
			return p, fmt.Errorf("method %s: %w", m.Name, err)
		}
		if slices.ContainsFunc(p.Methods, func(o Planned) bool { return o.Name == m.Name }) {
			return p, fmt.Errorf("--methods: two are called %s", m.Name)
		}
		if curves {
			if err := m.addCurve(); err != nil {
				return p, fmt.Errorf("curve of %s: %w", m.Name, err)
			}
		}
		p.Methods = append(p.Methods, m)
	}
	if len(p.Methods) == 0 {
		return p, errors.New("--methods: there are none")
	}
	for _, s := range settings {
		key, _, _ := strings.Cut(s, "=")
		if !slices.ContainsFunc(p.Methods, func(m Planned) bool { return m.Config.Void(key) == "" }) {
			return p, fmt.Errorf("--set %s: %s, in every method", s, p.Methods[0].Config.Void(key))
		}
	}
	return p, nil
}

// methodName returns the name of a config file without its folder and extension.
func methodName(method string) string {
	base := filepath.Base(method)
	return screen.Printable(strings.TrimSuffix(base, filepath.Ext(base)))
}

// addCurve adds a variant for each value of the method's threshold.
func (m *Planned) addCurve() error {
	var values []string
	if m.Key, values = m.Config.Threshold(); m.Key == "" {
		return nil
	}
	own, err := variant(m.Config, m.Key)
	if err != nil {
		return err
	}
	own.Own = true
	m.Curve = []Variant{own}
	for _, value := range values {
		c := m.Config
		if err := c.Set([]string{m.Key + "=" + value}); err != nil {
			return err
		}
		if reflect.DeepEqual(c, m.Config) {
			continue
		}
		v, err := variant(c, m.Key)
		if err != nil {
			return err
		}
		m.Curve = append(m.Curve, v)
	}
	sort.SliceStable(m.Curve, func(i, j int) bool {
		a, b := m.Curve[i], m.Curve[j]
		return cmp.Compare(number(a.Value), number(b.Value)) < 0
	})
	return nil
}

func variant(c configs.Config, key string) (Variant, error) {
	value, err := c.Value(key)
	return Variant{Value: sweep.Setting{Key: key, Value: value}.Text(), Config: c}, err
}

// number returns the value of a number, or 0 for anything else.
func number(value string) float64 {
	x, _ := strconv.ParseFloat(value, 64)
	return x
}
