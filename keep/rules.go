// Package keep decides which pages of a cluster to keep, and which are then
// redundant. A page is redundant only if a page that is kept was compared with it
// and has its text. The package is pure: it asks for comparisons of texts.
package keep

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"neardup/report"
	"neardup/uris"
)

// Policy says which page of a group to prefer.
type Policy string

// The policies. If a policy leaves several pages, earlier pages go first, then the
// order of the cluster.
const (
	Earliest Policy = "earliest" // by date
	Latest   Policy = "latest"
	Longest  Policy = "longest" // the most bytes of visible text
	Quality  Policy = "quality" // the best by the quality file
)

// Policies are all policies.
var Policies = []Policy{Earliest, Latest, Longest, Quality}

// Period is a part of the calendar of which every group keeps a page.
type Period string

// The periods.
const (
	Always Period = ""
	Day    Period = "day"
	Month  Period = "month"
	Year   Period = "year"
)

// Periods are the periods that can be asked for.
var Periods = []Period{Day, Month, Year}

// The defaults of Resemblance and MaxLost. Of the captures of legal pages in dating, 1,189
// of 1,435 are redundant by both, and lose 0.04% of their text. Without the limit of
// characters, a page of 83,000 loses 733, which is a clause, and a longer one would
// lose more (docs/exports.md has the table).
const (
	DefaultResemblance = 0.99
	DefaultMaxLost     = 200 // a sentence or two
)

// Rules say which pages to keep.
type Rules struct {
	Policy Policy
	// Hosts go before the policy: pages of the first host or its subdomains
	// first, then those of the second, and so on; pages of other hosts last.
	Hosts []string
	Score func(uri string) float64 // for Quality

	Resemblance   float64   // a redundant page reaches this resemblance to a page that is kept
	MaxLost       int       // and loses no more code points than this; below 0: any number
	Contained     bool      // enough: a kept page has this share of its text
	SameURI       bool      // both have the same URI
	SameHost      bool      // both have the same host
	Every         Period    // both are of one period
	Exempt        []Pattern // pages with these URIs are kept
	AllowLostURIs bool      // a URI may lose all its captures
}

// Default are the rules where none are chosen.
func Default() Rules {
	return Rules{Policy: Earliest, Resemblance: DefaultResemblance, MaxLost: DefaultMaxLost}
}

// Validate says what is wrong with the rules.
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

// covers reports whether a kept page stands for another, from the lengths of the
// two texts and of what they have in common.
func (r Rules) covers(kept, dropped, common int) bool {
	if r.MaxLost >= 0 && dropped-common > r.MaxLost {
		return false
	}
	return Resemblance(kept, dropped, common) >= r.Resemblance || r.Contained && float64(common) >= r.Resemblance*float64(dropped)
}

// need returns the least that two texts must have in common for the kept one to
// stand for the other, more than the other has if nothing is enough.
func (r Rules) need(kept, dropped int) int {
	return sort.Search(dropped+1, func(common int) bool { return common <= kept && r.covers(kept, dropped, common) || common > kept })
}

// Resemblance is the share that two texts of these lengths have in common.
func Resemblance(a, b, common int) float64 {
	if a+b == common {
		return 1 // nothing, twice
	}
	return float64(common) / float64(a+b-common)
}

// compare orders members, the one to prefer first.
func (r Rules) compare(a, b report.Member) int {
	return cmp.Or(
		report.FalseFirst(a.RevisitOf != "", b.RevisitOf != ""),
		report.FalseFirst(a.Clipped, b.Clipped),
		cmp.Compare(r.host(a), r.host(b)),
		r.byPolicy(a, b),
		report.CompareDates(a.Date, b.Date),
		cmp.Compare(a.RecordID, b.RecordID), cmp.Compare(a.Document, b.Document))
}

func (r Rules) byPolicy(a, b report.Member) int {
	switch r.Policy {
	case Latest:
		return report.CompareDates(b.Date, a.Date)
	case Longest:
		return cmp.Compare(b.TextBytes, a.TextBytes)
	case Quality:
		return cmp.Compare(r.Score(b.URI), r.Score(a.URI))
	}
	return 0
}

// host returns the index of a member's host among the preferred ones.
func (r Rules) host(m report.Member) int {
	if len(r.Hosts) == 0 {
		return 0
	}
	host := uris.Host(m.URI)
	for i, h := range r.Hosts {
		if h = uris.CanonicalHost(h); host == h || strings.HasSuffix(host, "."+h) {
			return i
		}
	}
	return len(r.Hosts)
}

// group names the members of a cluster that may stand for one another.
// A page that lacks what they must have in common is a group of its own.
func (r Rules) group(m report.Member) string {
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
		add(day[:min(len(day), map[Period]int{Year: 4, Month: 7, Day: 10}[r.Every])])
	}
	return strings.Join(parts, "\x00")
}

// String says what the rules assume of a redundant page.
func (r Rules) String() string {
	s := fmt.Sprintf("a redundant page has a resemblance of at least %v to a page that is kept", r.Resemblance)
	if r.Contained {
		s = fmt.Sprintf("a redundant page has a share of at least %v of its text in a page that is kept", r.Resemblance)
	}
	if r.MaxLost >= 0 {
		s += fmt.Sprintf(", and at most %d characters that this has not", r.MaxLost)
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
		return s + "; URIs may lose all captures in a cluster"
	}
	return s + "; of each URI in a cluster a capture stays"
}

// Pattern is a URI in which * stands for any characters. A pattern without a
// scheme is for all schemes.
type Pattern string

// Match reports whether the URI is as the pattern.
func (p Pattern) Match(uri string) bool {
	pattern := string(p)
	if !strings.Contains(pattern, "://") {
		if _, rest, ok := strings.Cut(uri, "://"); ok {
			uri = rest
		}
	}
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return uri == pattern
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if !strings.HasPrefix(uri, first) || len(uri) < len(first)+len(last) || !strings.HasSuffix(uri, last) {
		return false
	}
	uri = uri[len(first) : len(uri)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		_, rest, ok := strings.Cut(uri, piece)
		if !ok {
			return false
		}
		uri = rest
	}
	return true
}

func (r Rules) exempt(uri string) bool {
	return slices.ContainsFunc(r.Exempt, func(p Pattern) bool { return p.Match(uri) })
}
