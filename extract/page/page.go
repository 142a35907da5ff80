package page

import "fmt"

// Options are the settings of what is read of pages.
type Options struct {
	Clean    Clean       `yaml:"clean" json:"clean"`       // how much of a page's visible text is its text
	Overlays string      `yaml:"overlays" json:"overlays"` // cookie banners and the like: drop or keep
	Sites    []SiteRules `yaml:"sites" json:"sites"`       // what to read of the pages of single hosts
}

// Clean says how much of a page's visible text is its text.
type Clean string

// The ways to clean.
const (
	CleanNone Clean = "none" // all of it
	CleanMain Clean = "main" // its main content without title and by-line, where that is certain
)

// What becomes of overlays.
const (
	OverlaysDrop = "drop"
	OverlaysKeep = "keep"
)

// SiteRules say what to read of the pages of a host: only what one of the
// selectors Keep selects, if there are any, and nothing that one of Drop does.
type SiteRules struct {
	Host string   `yaml:"host" json:"host"`           // of the target URI; also of its subdomains
	Keep []string `yaml:"keep" json:"keep,omitempty"` // CSS selectors
	Drop []string `yaml:"drop" json:"drop,omitempty"`
}

// Kind says what a page is for.
type Kind string

// The kinds of pages. The TLCS paper clusters topic pages.
const (
	KindTopic      Kind = "topic"      // it says something
	KindNavigation Kind = "navigation" // it leads to pages that do
)

// Text is what a page shows, as the options have it.
type Text struct {
	Title  string // the heading of the content, where that is known, else the title element
	Byline string // who wrote the content and when, as it stands there; may be empty
	Text   string // visible blocks, one a line, white space collapsed
	Kind   Kind

	Visible string // all visible blocks; Text has some of them, or all
	Marks   Marks  // what each of these is

	Parsed bool // by way of a tree: the scanner could not be sure

	Cut            bool // there is more text than asked for
	OverlayDropped bool // the text of an overlay is left out
	RulesUnmatched bool // the site's rules would leave no text: all of it is kept
	Flat           bool // read token by token: a tree would be too large or too deep
	MainUnsure     bool // what is main content is not certain: all of the text is kept
}

// Validate says what is wrong with the options.
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
	drop  bool // overlays
	sites []site
}

// NewReader makes a Reader. The options must be valid.
func NewReader(o Options) *Reader {
	sites, err := compileSites(o.Sites)
	if err != nil {
		panic(err) // Validate says so before
	}
	return &Reader{clean: o.Clean, drop: o.Overlays == OverlaysDrop, sites: sites}
}

// Read reads a page, which is valid UTF-8, of a host (see uri.Host): at most
// max bytes of text.
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

// show returns what the page shows under the rules of its site.
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
