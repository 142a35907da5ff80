// Package keep decides which pages of a cluster to keep and which are redundant. A
// page is redundant only if it was compared with a page that is kept and that has
// its text. The package is pure: its caller compares the texts.
package keep

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"neardup/report"
	"neardup/uris"
)

// Policy chooses the preferred page of a group.
type Policy string

// The policies. If several pages are equal by a policy, earlier pages come first,
// then the order of the cluster.
const (
	Earliest Policy = "earliest" // by date
	Latest   Policy = "latest"
	Longest  Policy = "longest" // the most bytes of visible text
	Quality  Policy = "quality" // the highest score from outside
)

// Policies are all policies.
var Policies = []Policy{Earliest, Latest, Longest, Quality}

// Period is a part of the calendar. Every group keeps a page of each.
type Period string

// The periods.
const (
	Always Period = ""
	Day    Period = "day"
	Month  Period = "month"
	Year   Period = "year"
)

// Periods are the periods that users can choose.
var Periods = []Period{Day, Month, Year}

// Defaults of Resemblance and MaxLost. Of the 1,435 captures of legal pages in
// dating, 1,190 are redundant by both, and lose 0.04% of their text. Without the
// limit of characters, a page of 83,000 characters loses 733, which is a clause,
// and a longer page would lose more (docs/exports.md has the table).
const (
	DefaultResemblance = 0.99
	DefaultMaxLost     = 200 // a sentence or two
	DefaultMinText     = 200 // as for main content (docs/content.md): with less, a page may say what is not in its text
)

// Rules choose which pages to keep.
type Rules struct {
	Policy Policy
	// Hosts take precedence over the policy: pages of the first host or its
	// subdomains come first, then those of the second, and so on; pages of other
	// hosts come last.
	Hosts Hosts
	Named Named                             // for String
	Score func(uri string) (float64, error) // for Quality
	From  []report.Preference               // the lists that Hosts and Score come from

	Resemblance   float64  // smallest resemblance of a redundant page to a kept page
	MaxLost       int      // largest number of its code points that the kept page lacks; negative: no limit
	MinText       int      // a page with less text (bytes of UTF-8) is redundant only because of one with the same payload
	Contained     bool     // the share of its text that the kept page has counts, in place of the resemblance
	SameURI       bool     // both must have the same URI
	SameHost      bool     // both must have the same host
	Every         Period   // both must be of one period
	Exempt        Patterns // pages with these URIs are kept
	Judged        Judged   // pairs of pages that are kept beside each other
	AllowLostURIs bool     // a URI may lose all its captures
}

// Named are the hosts and patterns that users name themselves, as they are written, and the
// file of further patterns, if any. Hosts and Exempt of the rules have them, too.
type Named struct {
	Hosts, Exempt []string
	ExemptSHA256  string // of that file
	ExemptListed  int    // its patterns
}

// Judged has, by record ID, the record IDs of the pages that people judged to be different
// from a page. They may be in one cluster all the same, as pages of one text are.
type Judged map[string][]string

// Among returns those of the record IDs whose pages are judged to be different from one of
// the others.
func (j Judged) Among(there map[string]bool) map[string]bool {
	if len(j) == 0 {
		return nil
	}
	out := map[string]bool{}
	for id := range there {
		if slices.ContainsFunc(j[id], func(other string) bool { return there[other] }) {
			out[id] = true
		}
	}
	return out
}

// Default returns the default rules.
func Default() Rules {
	return Rules{Policy: Earliest, Resemblance: DefaultResemblance, MaxLost: DefaultMaxLost, MinText: DefaultMinText}
}

// Validate returns an error if the rules are wrong.
func (r Rules) Validate() error {
	switch {
	case !slices.Contains(Policies, r.Policy):
		return fmt.Errorf("policy: there is no %q", r.Policy)
	case r.Policy == Quality && r.Score == nil:
		return fmt.Errorf("policy: quality needs scores")
	case !(r.Resemblance > 0 && r.Resemblance <= 1):
		return fmt.Errorf("resemblance: %v, must be above 0 and at most 1", r.Resemblance)
	case r.Every != Always && !slices.Contains(Periods, r.Every):
		return fmt.Errorf("every: there is no %q", r.Every)
	}
	return nil
}

// covers reports whether a kept page can replace another, from the lengths of the
// two texts and of what they have in common.
func (r Rules) covers(kept, dropped, common int) bool {
	if r.MaxLost >= 0 && dropped-common > r.MaxLost {
		return false
	}
	return Resemblance(kept, dropped, common) >= r.Resemblance || r.Contained && float64(common) >= r.Resemblance*float64(dropped)
}

// need returns how many code points the two texts must have in common for the kept
// page to replace the other. It is more than the other has if nothing is enough.
func (r Rules) need(kept, dropped int) int {
	return sort.Search(dropped+1, func(common int) bool { return common <= kept && r.covers(kept, dropped, common) || common > kept })
}

// Resemblance returns the resemblance of two texts of lengths a and b with common
// code points in common.
func Resemblance(a, b, common int) float64 {
	if a+b == common {
		return 1 // both are empty
	}
	return float64(common) / float64(a+b-common)
}

// compare orders members by their numbers, the preferred one first.
func (x *chooser) compare(i, j int) int {
	a, b := x.members[i], x.members[j]
	return cmp.Or(
		report.FalseFirst(a.Derived, b.Derived),
		report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""),
		report.FalseFirst(a.Clipped, b.Clipped),
		cmp.Compare(x.host(a), x.host(b)),
		x.byPolicy(i, j),
		report.CompareDates(a.Date, b.Date),
		cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.Document, b.Document), i-j)
}

func (x *chooser) byPolicy(i, j int) int {
	a, b := x.members[i], x.members[j]
	switch x.Policy {
	case Earliest:
		return cmp.Or(undatedLast(a, b), report.CompareDates(a.Date, b.Date))
	case Latest:
		return cmp.Or(undatedLast(a, b), report.CompareDates(b.Date, a.Date))
	case Longest:
		return cmp.Compare(b.TextBytes, a.TextBytes)
	case Quality:
		return cmp.Compare(x.scores[j], x.scores[i])
	}
	return 0
}

// undatedLast orders members whose date is no date behind all others: it tells
// nothing about which of them is the first or the last.
func undatedLast(a, b report.Member) int {
	_, x := report.Day(a.Date)
	_, y := report.Day(b.Date)
	return report.FalseFirst(!x, !y)
}

// host returns the place of a member's host among the preferred ones.
func (r Rules) host(m report.Member) int {
	if len(r.Hosts) == 0 {
		return 0
	}
	return r.Hosts.place(uris.Host(m.URI))
}

// Hosts are preferred hosts in the spelling of uris.Host, with their places.
type Hosts map[string]int

// Then returns the hosts, and others behind them in their order, which may have any
// spelling. A host that comes again has its first place.
func (h Hosts) Then(names ...string) Hosts {
	out := Hosts{}
	maps.Copy(out, h)
	for _, name := range names {
		name = uris.CanonicalHost(name)
		if _, ok := out[name]; !ok {
			out[name] = len(out)
		}
	}
	return out
}

// place returns the first place of the host and of those that it is a subdomain of.
// A host that is not preferred comes behind all others.
func (h Hosts) place(host string) int {
	first := math.MaxInt
	for more := true; more; _, host, more = strings.Cut(host, ".") {
		if i, ok := h[host]; ok {
			first = min(first, i)
		}
	}
	return first
}

// Group returns a name that members share if they can replace each other. A page
// that lacks what the rules compare is a group of its own.
func (r Rules) Group(m report.Member) string {
	var parts []string
	add := func(part string) {
		if part == "" {
			part = "only " + m.Document
		}
		parts = append(parts, part)
	}
	if r.SameURI {
		add(m.URI)
	}
	if r.SameHost {
		add(uris.Host(m.URI))
	}
	if r.Every != Always {
		day, _ := report.Day(m.Date)
		period := map[Period]string{Year: "2006", Month: "2006-01", Day: "2006-01-02"}[r.Every]
		if digits(m.Date) < digits(period) { // a year may be any of its months
			day = ""
		}
		add(day[:min(len(day), len(period))])
	}
	return strings.Join(parts, "\x00")
}

// digits returns how many digits a date has.
func digits(date string) (n int) {
	for _, c := range date {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// String describes the conditions for a redundant page, and what decides which one stays.
func (r Rules) String() string {
	s := fmt.Sprintf("a redundant page has a resemblance of at least %v to a page that is kept", r.Resemblance)
	if r.Contained {
		s = fmt.Sprintf("a redundant page has a share of at least %v of its text in a page that is kept", r.Resemblance)
	}
	if r.MaxLost >= 0 {
		s += fmt.Sprintf(", and at most %d characters that are missing there", r.MaxLost)
	}
	if r.MinText > 0 {
		s += fmt.Sprintf(", and at least %d bytes of text, or the payload of that page", r.MinText)
	}
	for _, x := range []struct {
		said bool
		text string
	}{{r.SameURI, "the same URI"}, {r.SameHost, "the same host"}, {r.Every != Always, "the same " + string(r.Every)}} {
		if x.said {
			s += ", " + x.text
		}
	}
	if r.AllowLostURIs {
		s += "; URIs may lose all captures in a cluster"
	} else {
		s += "; of each URI in a cluster a capture stays"
	}
	return s + r.preference() + r.exemption()
}

// preference describes which page is preferred, in the order of compare.
func (r Rules) preference() string {
	s := "; a page is preferred by "
	if len(r.Named.Hosts) > 0 {
		s += "the hosts " + strings.Join(r.Named.Hosts, ", ") + ", then by "
	}
	policy := "the policy " + string(r.Policy)
	for _, p := range r.From {
		list := fmt.Sprintf("the %s of %s (SHA-256 %.12s)", p.Kind, p.Name, p.SHA256)
		if p.Kind == "hosts" {
			s += list + ", then by "
		} else {
			policy += " with " + list
		}
	}
	return s + policy
}

// exemption describes the pages that stay in any case.
func (r Rules) exemption() (s string) {
	if len(r.Named.Exempt) > 0 {
		s = "; pages that match " + strings.Join(r.Named.Exempt, ", ") + " are exempt"
	}
	if r.Named.ExemptSHA256 != "" {
		s += fmt.Sprintf("; pages that match a list of patterns (%d, SHA-256 %.12s) are exempt", r.Named.ExemptListed, r.Named.ExemptSHA256)
	}
	return s
}
