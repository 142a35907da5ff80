// Package configs holds the settings of a run and the presets that come with the
// program. A preset is a named combination of a signature scheme, a candidate
// search and a measure, with their settings.
package configs

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"neardup/cluster/partition"
	"neardup/extract"
	"neardup/signature/terms"
	"neardup/verify/rarity"
)

//go:embed *.yaml
var presets embed.FS

// The names of the stages. A section of the config has the name of its stage.
const (
	StageExtract = "extract"
	StageSign    = "sign"
	StageCluster = "cluster"
	StageVerify  = "verify"
)

// Config holds all settings of a run. The preset default.yaml documents every
// field.
type Config struct {
	Extract extract.Options `yaml:"extract" json:"extract"`
	Text    Text            `yaml:"text" json:"text"`
	Sign    Sign            `yaml:"sign" json:"sign"`
	Cluster Cluster         `yaml:"cluster" json:"cluster"`
	Verify  Verify          `yaml:"verify" json:"verify"`
}

// Text chooses which pages, and how much of their text, signing and verifying use.
type Text struct {
	Pages      string `yaml:"pages" json:"pages"`
	MaxColumns int    `yaml:"max_columns" json:"max_columns"` // 0: no limit
	Frames     int    `yaml:"frames" json:"frames"`           // 0: none are learned

	Terms terms.Weighing `yaml:"terms" json:"terms"` // for the scheme and the measure "terms"
}

// Which pages are compared.
const (
	PagesAll   = "all"
	PagesTopic = "topic" // all but navigation pages
)

// The searches that run on a cluster: for texts that share signatures, and joins.
const (
	SearchKeys = "keys"
	SearchJoin = "join"
)

// The closing rules.
const (
	ClosingTransitive     = "transitive"
	ClosingLeaders        = "leaders"
	ClosingRepresentative = "representative"
	ClosingPartition      = "partition"
	ContainedLinks        = "links"
	ContainedLeaf         = "leaf"
	ContainedApart        = "apart"
)

// Links reports whether a near pair unites the clusters of its texts. Otherwise it
// makes one text a leaf of the other's cluster, or does neither. byResemblance
// tells whether the pair is near by resemblance.
func (v *Verify) Links(byResemblance bool) bool {
	return byResemblance || v.Contained == ContainedLinks
}

// Chains reports whether a text may be connected to its representative through
// other texts of the cluster.
func (v *Verify) Chains() bool {
	return v.Closing == ClosingTransitive || v.Closing == ClosingLeaders
}

// EveryPair reports whether every pair of a perhaps-similar set of so many texts is
// compared, not only pairs with leaders.
func (v *Verify) EveryPair(texts int) bool {
	return v.Closing == ClosingTransitive || v.Small(texts)
}

// Small reports whether a perhaps-similar set of so many texts is so small that
// every pair is compared, whatever MaxScored.
func (v *Verify) Small(texts int) bool {
	return v.Closing == ClosingPartition && texts <= v.AllPairs
}

// Judging returns the settings of rarity for judging pairs. If the resemblance
// threshold is above Sentences, that threshold also holds for sentences.
func (v *Verify) Judging() Rarity {
	o := v.Rarity
	if o.Sentences > 0 && v.Measure == MeasureTLCS {
		o.Sentences = max(o.Sentences, min(1, v.Resemblance))
	}
	return o
}

// Rarity holds the settings of the check of how rare common text is.
type Rarity = rarity.Options

// Partition holds the settings of the closing rule "partition".
type Partition = partition.Options

// Validate returns an error that names a wrong field.
func (c Config) Validate() error {
	section := func(name string, err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s.%w", name, err)
	}
	return errors.Join(
		section("extract", c.Extract.Validate()),
		section("text", c.Text.validate()),
		c.validateParts(),
		section("cluster", c.Cluster.validate()),
		section("verify", c.Verify.validate()),
	)
}

func (t Text) validate() error {
	if t.Pages != PagesAll && t.Pages != PagesTopic {
		return fmt.Errorf("pages: %q is neither %s nor %s", t.Pages, PagesAll, PagesTopic)
	}
	if t.MaxColumns < 0 {
		return fmt.Errorf("max_columns: %d is negative", t.MaxColumns)
	}
	if t.Frames < 0 || t.Frames == 1 {
		return fmt.Errorf("frames: %d is neither 0 nor 2 and more", t.Frames)
	}
	return nil
}

func (c Cluster) validate() error {
	if c.MaxPairs < 1 {
		return fmt.Errorf("max_pairs: %d is under 1", c.MaxPairs)
	}
	return nil
}

func (v Verify) validate() error {
	if !v.Chains() && v.Closing != ClosingRepresentative && v.Closing != ClosingPartition {
		return fmt.Errorf("closing: %q is neither %s, %s, %s nor %s", v.Closing, ClosingPartition, ClosingRepresentative, ClosingTransitive, ClosingLeaders)
	}
	if v.AllPairs < 0 {
		return fmt.Errorf("all_pairs: %d is negative", v.AllPairs)
	}
	if v.MaxScored < 0 {
		return fmt.Errorf("max_scored: %d is negative", v.MaxScored)
	}
	for _, t := range []struct {
		key   string
		value float64
	}{{"resemblance", v.Resemblance}, {"shingles.resemblance", v.Shingles.Resemblance}, {"terms.threshold", v.Terms.Threshold}} {
		if t.value > 1 {
			return fmt.Errorf("%s: %v is above 1, the greatest resemblance there is", t.key, t.value)
		}
	}
	if err := v.Partition.Validate(); err != nil {
		return fmt.Errorf("partition.%w", err)
	}
	if v.Contained != ContainedApart && v.Contained != ContainedLeaf && v.Contained != ContainedLinks {
		return fmt.Errorf("contained: %q is neither %s, %s nor %s", v.Contained, ContainedApart, ContainedLeaf, ContainedLinks)
	}
	if v.Transitivity && v.Closing != ClosingTransitive {
		return fmt.Errorf("transitivity: true needs closing: %s", ClosingTransitive)
	}
	return v.Rarity.Validate()
}

// Names returns the names of the presets.
func Names() []string {
	entries, _ := presets.ReadDir(".")
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	sort.Strings(names)
	return names
}

// Preset returns the YAML of a preset.
func Preset(name string) ([]byte, error) {
	b, err := presets.ReadFile(path.Base(name) + ".yaml")
	if err != nil || path.Base(name) != name {
		return nil, fmt.Errorf("no preset %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return b, nil
}

// Load reads a preset, or a file, over the preset default, and then applies
// settings such as "verify.slope=0.2". It returns an error for unknown keys, and
// for settings that others make void (Void).
func Load(nameOrFile string, settings []string) (Config, error) {
	var c Config
	base, err := Preset("default")
	if err != nil {
		return c, err
	}
	if err := decode(base, &c); err != nil {
		return c, fmt.Errorf("preset default: %w", err)
	}
	b, err := Preset(nameOrFile)
	file := err != nil
	if file {
		var fileErr error
		if b, fileErr = os.ReadFile(nameOrFile); errors.Is(fileErr, fs.ErrNotExist) {
			return c, fmt.Errorf("config: %w, and no file of that name", err)
		} else if fileErr != nil {
			return c, fmt.Errorf("config: %w", fileErr)
		}
	}
	if err := decode(b, &c); err != nil {
		return c, fmt.Errorf("config %s: %w", nameOrFile, err)
	}
	if err := c.Set(settings); err != nil {
		return c, err
	}
	if file {
		if err := c.checkVoidFile(b); err != nil {
			return c, fmt.Errorf("config %s: %w", nameOrFile, err)
		}
	}
	return c, c.checkVoid(settings)
}

// Set applies settings such as "verify.slope=0.2" and validates the result.
func (c *Config) Set(settings []string) error {
	for _, s := range settings {
		if err := set(c, s); err != nil {
			return fmt.Errorf("--set %s: %w", s, err)
		}
	}
	return c.Validate()
}

// Change is Set for settings that somebody asks for. It returns an error for settings that
// others make void (Void).
func (c *Config) Change(settings []string) error {
	if err := c.Set(settings); err != nil {
		return err
	}
	return c.checkVoid(settings)
}

// set applies one "section.key=value".
func set(c *Config, setting string) error {
	name, value, ok := strings.Cut(setting, "=")
	keys := strings.Split(name, ".")
	if !ok || len(keys) < 2 {
		return errors.New("want SECTION.KEY=VALUE, such as verify.slope=0.2")
	}
	if value == "" {
		value = `""` // YAML would read null and leave the setting as it is
	}
	for _, key := range slices.Backward(keys[1:]) {
		value = fmt.Sprintf("{%s: %s}", key, value)
	}
	return decode(fmt.Appendf(nil, "%s: %s\n", keys[0], value), c)
}

// unknownKey matches the YAML library's message for an unknown key.
var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

func decode(b []byte, c *Config) error {
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && err != io.EOF {
		message := strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:\n  ")
		return errors.New(unknownKey.ReplaceAllString(message, "unknown key $1"))
	}
	if err := d.Decode(&yaml.Node{}); err != io.EOF {
		return errors.New("more than one YAML document")
	}
	return nil
}

// Marshal returns the config as YAML.
func (c Config) Marshal() ([]byte, error) { return yaml.Marshal(c) }

// Value returns the value of a setting, SECTION.KEY, as JSON.
func (c Config) Value(key string) (json.RawMessage, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(key, ".") {
		var section map[string]json.RawMessage
		if err := json.Unmarshal(b, &section); err != nil || section[name] == nil {
			return nil, fmt.Errorf("there is no setting %s", key)
		}
		b = section[name]
	}
	return b, nil
}
