package page

import "fmt"

// Options are the settings of reading pages.
type Options struct {
	Clean    Clean       `yaml:"clean" json:"clean"`       // how much of a page's visible text is its text
	Overlays string      `yaml:"overlays" json:"overlays"` // cookie banners and similar overlays: drop or keep
	Sites    []SiteRules `yaml:"sites" json:"sites"`       // what to read of the pages of particular hosts
}

// Clean is how much of a page's visible text is its text.
type Clean string

// The ways to clean.
const (
	CleanNone Clean = "none" // all of it
	CleanMain Clean = "main" // the main content without title and by-line, if that is certain
)

// Values of Options.Overlays.
const (
	OverlaysDrop = "drop"
	OverlaysKeep = "keep"
)

// SiteRules choose what to read of the pages of a host: only what a selector in
// Keep selects, if there are any, and nothing that a selector in Drop selects.
type SiteRules struct {
	Host string   `yaml:"host" json:"host"`           // of the target URI; subdomains are included
	Keep []string `yaml:"keep" json:"keep,omitempty"` // CSS selectors
	Drop []string `yaml:"drop" json:"drop,omitempty"`
}

// Kind is the purpose of a page.
type Kind string

// The kinds of pages. The TLCS paper clusters topic pages.
const (
	KindTopic      Kind = "topic"      // a page with content
	KindNavigation Kind = "navigation" // a page that links to other pages
)

// Text is what is read of a page, by the options.
type Text struct {
	Title  string // the heading of the main content if it is known, otherwise the title element
	Byline string // author and date of the main content, as the page writes them; may be empty
	Text   string // visible blocks, one per line, with white space collapsed
	Kind   Kind

	Visible string // all visible blocks; Text has some or all of them
	Marks   Marks  // kinds of the lines of Visible

	Parsed bool // read through the tree, because the scanner could not be sure

	Cut            bool // there is more text than was asked for
	OverlayDropped bool // the text of an overlay is left out
	RulesUnmatched bool // the site's rules would leave no text or cost too much, so all of it is kept
	Flat           bool // read token by token, because a tree would be too large or too deep
	MainUnsure     bool // the main content is uncertain, so all of the text is kept
}

// Validate returns an error if an option is wrong.
func (o Options) Validate() error {
	switch {
	case o.Clean != CleanNone && o.Clean != CleanMain:
		return fmt.Errorf("clean: %q is neither %s nor %s", o.Clean, CleanNone, CleanMain)
	case o.Overlays != OverlaysDrop && o.Overlays != OverlaysKeep:
		return fmt.Errorf("overlays: %q is neither %s nor %s", o.Overlays, OverlaysDrop, OverlaysKeep)
	}
	_, err := compileSites(o.Sites)
	return err
}

// Reader reads pages. It is safe for concurrent use.
type Reader struct {
	clean Clean
	drop  bool // overlays are dropped
	sites []site
}

// NewReader returns a Reader. The options must be valid.
func NewReader(o Options) *Reader {
	sites, err := compileSites(o.Sites)
	if err != nil {
		panic(err) // Validate reports it before
	}
	return &Reader{clean: o.Clean, drop: o.Overlays == OverlaysDrop, sites: sites}
}

// Read reads a page, which must be valid UTF-8, of a host (see uris.Host). It
// returns at most max bytes of text.
func (r *Reader) Read(page, host string, max int) Text {
	s, t := r.show(page, host, max)
	if t.Text == "" {
		return t
	}
	lines := measures(s)
	t.Kind = kindOf(lines)
	if r.clean != CleanMain || s.selected {
		return t
	}
	c := contentOf(s, lines)
	t.Marks, t.Byline = c.marks, c.byline
	if c.title != "" {
		t.Title = c.title
	}
	if t.MainUnsure = !c.sure; c.sure {
		t.Text = c.main
	}
	return t
}

// show returns the page's visible content by the rules of its site.
func (r *Reader) show(page, host string, max int) (s shown, t Text) {
	ok := false
	if site := siteFor(r.sites, host); site != nil {
		s, ok = site.text(page, max, r.drop)
		t.RulesUnmatched = !ok
	}
	switch {
	case ok:
	case r.drop:
		s = withoutOverlays(page, max)
	default:
		s = visibleText(page, max)
	}
	t.Title, t.Text, t.Visible, t.Parsed, t.Cut, t.OverlayDropped, t.Flat = s.title, s.text, s.text, s.parsed, s.cut, s.dropped, s.flat
	return s, t
}
