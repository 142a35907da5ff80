package dataflow

import (
	"slices"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
)

// MaxSiteDocs limits the pages of a text that are read to find its sites, for
// cluster.Concentrated.
const MaxSiteDocs = 16

// NeedsPlaces reports whether a comparison needs to know the pages of a text.
func NeedsPlaces(c configs.Config) bool { return c.Text.Frames > 0 || c.Verify.RarePages > 0 }

// Places collects what the pages of a text tell about it.
type Places struct {
	Names pair.Names
	sites []uint64
}

// Add adds a page.
func (p *Places) Add(o rows.Occurrence) {
	p.Names.Add(o.Address, o.Title)
	if o.Site != rows.NoSite {
		p.sites = append(p.sites, o.Site)
	}
}

// Sites returns the sites, sorted.
func (p *Places) Sites() []uint64 {
	slices.Sort(p.sites)
	p.sites = slices.Compact(p.sites)
	return p.sites
}

// SitePages has for each site of a text the page that counts (rows.SitePage): the one
// with the smallest address.
type SitePages map[uint64]uint64

// Add adds a page.
func (p SitePages) Add(o rows.Occurrence) {
	if old, ok := p[o.Site]; o.Site != rows.NoSite && (!ok || o.Address < old) {
		p[o.Site] = o.Address
	}
}
