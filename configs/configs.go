// Package configs holds the settings of a run and the presets that come with
// the program. A preset is a named combination of the parts of every stage.
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
	"neardup/signature/minhash"
	"neardup/signature/ring"
	"neardup/signature/shingle"
	"neardup/signature/simhash"
	"neardup/signature/terms"
	"neardup/verify/cosine"
	"neardup/verify/rarity"
	"neardup/verify/shingles"
	degree "neardup/verify/terms"
	"neardup/verify/tlcs"
)

//go:embed *.yaml
var presets embed.FS

// Config is everything that a run can be told. Every field is documented in
// the preset default.yaml.
type Config struct {
	Extract extract.Options `yaml:"extract" json:"extract"`
	Text    Text            `yaml:"text" json:"text"`
	Sign    Sign            `yaml:"sign" json:"sign"`
	Cluster Cluster         `yaml:"cluster" json:"cluster"`
	Verify  Verify          `yaml:"verify" json:"verify"`
}

// UnmarshalJSON reads a config over the preset default, so that one from before
// a setting came has that setting's default.
func (c *Config) UnmarshalJSON(b []byte) error {
	base, err := Load("default", nil)
	if err != nil {
		return err
	}
	type plain Config
	p := plain(base)
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*c = Config(p)
	return nil
}

// Text says which pages, and how much of their text, signing and verifying
// look at.
type Text struct {
	Pages      string `yaml:"pages" json:"pages"`
	MaxColumns int    `yaml:"max_columns" json:"max_columns"` // 0: all of it
	Frames     int    `yaml:"frames" json:"frames"`           // 0: none are learned

	Terms terms.Weighing `yaml:"terms" json:"terms"` // of the scheme and the measure "terms"
}

// The pages that are compared.
const (
	PagesAll   = "all"
	PagesTopic = "topic" // no navigation pages
)

// Sign says how texts are signed: a scheme, and the options of each. Those of
// the ring have no section of their own.
type Sign struct {
	Scheme       string `yaml:"scheme" json:"scheme"`
	ring.Options `yaml:",inline"`
	Simhash      simhash.Options `yaml:"simhash" json:"simhash"`
	Shingle      shingle.Options `yaml:"shingle" json:"shingle"`
	MinHash      minhash.Options `yaml:"minhash" json:"minhash"`
	Terms        terms.Options   `yaml:"terms" json:"terms"`
}

// Cluster says how candidates are found: a search, and the options of each.
// Those of the search by keys have no section of their own.
type Cluster struct {
	Search   string `yaml:"search" json:"search"`
	Keys     `yaml:",inline"`
	Quality  string  `yaml:"quality" json:"quality"`
	MaxPairs int64   `yaml:"max_pairs" json:"max_pairs"` // of candidates that are pairs
	Hamming  Hamming `yaml:"hamming" json:"hamming"`
	Join     Join    `yaml:"join" json:"join"`
}

// Keys are the settings of the search for texts that share signatures.
type Keys struct {
	MaxList   int     `yaml:"max_list" json:"max_list"`
	SiteList  int     `yaml:"site_list" json:"site_list"`
	Sites     int     `yaml:"sites" json:"sites"`
	SiteShare float64 `yaml:"site_share" json:"site_share"`
	Merge     string  `yaml:"merge" json:"merge"`
	AllPairs  int     `yaml:"all_pairs" json:"all_pairs"` // with MergePairs, as the next
	Common    int     `yaml:"common" json:"common"`
}

// Hamming are the settings of the search for signatures that differ in few bits.
type Hamming struct {
	Distance int `yaml:"distance" json:"distance"`
	AllPairs int `yaml:"all_pairs" json:"all_pairs"` // of equal signatures
}

// The readings of the merging of lists, and the closing rules.
const (
	MergeDirect           = "direct"
	MergeFollowing        = "following"
	MergePairs            = "pairs" // none: pairs of a list are candidates by themselves
	ClosingTransitive     = "transitive"
	ClosingRepresentative = "representative"
	ClosingPartition      = "partition"
	ContainedLinks        = "links"
	ContainedLeaf         = "leaf"
)

// Pairs reports whether candidates are pairs, each verified by itself, and not
// perhaps-similar sets.
func (c *Cluster) Pairs() bool { return c.Search != SearchKeys || c.Merge == MergePairs }

// Verify are the settings of the verdicts and of closing them into clusters: a
// measure, and the options of each. Those of TLCS have no section of their own.
type Verify struct {
	Measure      string `yaml:"measure" json:"measure"`
	tlcs.Options `yaml:",inline"`
	Rarity       `yaml:",inline"`
	Closing      string           `yaml:"closing" json:"closing"`
	Partition    Partition        `yaml:"partition" json:"partition"`   // with ClosingPartition
	MaxScored    int              `yaml:"max_scored" json:"max_scored"` // 0: no limit
	Contained    string           `yaml:"contained" json:"contained"`
	Transitivity bool             `yaml:"transitivity" json:"transitivity"`
	Cosine       cosine.Options   `yaml:"cosine" json:"cosine"`
	Shingles     shingles.Options `yaml:"shingles" json:"shingles"`
	Terms        degree.Options   `yaml:"terms" json:"terms"`
}

// Links reports whether a near pair unites the clusters of its texts, rather than
// making one text a leaf of the other's cluster.
func (v *Verify) Links(byResemblance bool) bool {
	return byResemblance || v.Contained == ContainedLinks
}

// Rarity are the settings of the check of how rare common text is.
type Rarity = rarity.Options

// Partition are the settings of the closing rule of that name.
type Partition = partition.Options

// Validate says which field is wrong, and why.
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
	switch c.Search {
	case SearchHamming:
		return prefixed("hamming.", c.Hamming.validate())
	case SearchJoin:
		return prefixed("join.", c.Join.Validate())
	}
	return c.Keys.validate()
}

func (k Keys) validate() error {
	switch {
	case k.MaxList < 2:
		return fmt.Errorf("max_list: %d is under 2", k.MaxList)
	case k.SiteList < 0:
		return fmt.Errorf("site_list: %d is negative", k.SiteList)
	case k.Sites < 1:
		return fmt.Errorf("sites: %d is under 1", k.Sites)
	case !(k.SiteShare > 0 && k.SiteShare <= 1):
		return fmt.Errorf("site_share: %v is not in (0, 1]", k.SiteShare)
	case k.Merge != MergeDirect && k.Merge != MergeFollowing && k.Merge != MergePairs:
		return fmt.Errorf("merge: %q is neither %s, %s nor %s", k.Merge, MergeDirect, MergeFollowing, MergePairs)
	case k.AllPairs < 0:
		return fmt.Errorf("all_pairs: %d is negative", k.AllPairs)
	case k.Common < 1:
		return fmt.Errorf("common: %d is under 1", k.Common)
	case k.Common > 1 && k.Merge != MergePairs:
		return fmt.Errorf("common: %d needs merge: %s", k.Common, MergePairs)
	}
	return nil
}

func (h Hamming) validate() error {
	switch {
	case h.Distance < 0 || h.Distance > maxDistance:
		return fmt.Errorf("distance: %d is not from 0 to %d", h.Distance, maxDistance)
	case h.AllPairs < 0:
		return fmt.Errorf("all_pairs: %d is negative", h.AllPairs)
	}
	return nil
}

// maxDistance is twice the distance beyond which simhash joins what is of one
// kind (docs/benchmarks/methods.md): tables of more compare nearly every pair.
const maxDistance = 16

func prefixed(prefix string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", prefix, err)
}

func (v Verify) validate() error {
	if v.Closing != ClosingTransitive && v.Closing != ClosingRepresentative && v.Closing != ClosingPartition {
		return fmt.Errorf("closing: %q is neither %s, %s nor %s", v.Closing, ClosingPartition, ClosingTransitive, ClosingRepresentative)
	}
	if v.MaxScored < 0 {
		return fmt.Errorf("max_scored: %d is negative", v.MaxScored)
	}
	if err := v.Partition.Validate(); err != nil {
		return fmt.Errorf("partition.%w", err)
	}
	if v.Contained != ContainedLinks && v.Contained != ContainedLeaf {
		return fmt.Errorf("contained: %q is neither %s nor %s", v.Contained, ContainedLinks, ContainedLeaf)
	}
	if v.Transitivity && v.Closing != ClosingTransitive {
		return fmt.Errorf("transitivity: true needs closing: %s", ClosingTransitive)
	}
	return v.Rarity.Validate()
}

// Names lists the presets.
func Names() []string {
	entries, _ := presets.ReadDir(".")
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	sort.Strings(names)
	return names
}

// Preset returns the text of a preset.
func Preset(name string) ([]byte, error) {
	b, err := presets.ReadFile(path.Base(name) + ".yaml")
	if err != nil || path.Base(name) != name {
		return nil, fmt.Errorf("no preset %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return b, nil
}

// Load reads the preset or the file of that name over the preset default, then
// applies settings such as "verify.slope=0.2". Keys that do not exist are
// errors.
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
	if err != nil {
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
	return c, c.Set(settings)
}

// Set applies settings such as "verify.slope=0.2" and validates the outcome.
func (c *Config) Set(settings []string) error {
	for _, s := range settings {
		if err := set(c, s); err != nil {
			return fmt.Errorf("--set %s: %w", s, err)
		}
	}
	return c.Validate()
}

// set applies one "section.key=value".
func set(c *Config, setting string) error {
	name, value, ok := strings.Cut(setting, "=")
	keys := strings.Split(name, ".")
	if !ok || len(keys) < 2 {
		return errors.New("want SECTION.KEY=VALUE, such as verify.slope=0.2")
	}
	if value == "" {
		value = `""` // YAML would take it for null and leave the setting as it is
	}
	for _, key := range slices.Backward(keys[1:]) {
		value = fmt.Sprintf("{%s: %s}", key, value)
	}
	return decode(fmt.Appendf(nil, "%s: %s\n", keys[0], value), c)
}

// unknownKey is how the YAML library words it.
var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

func decode(b []byte, c *Config) error {
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil && err != io.EOF {
		return errors.New(unknownKey.ReplaceAllString(err.Error(), "unknown key $1"))
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
