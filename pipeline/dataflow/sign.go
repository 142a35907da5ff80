package dataflow

import (
	"slices"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/pipeline/rows"
	"neardup/signature"
	"neardup/verify/rarity"
)

// Text is a text that is to be signed.
type Text struct {
	ID    rows.TextID
	Text  string   // as stored
	Sites []uint64 // that have it, sorted; only with text.frames
}

// Pages gives the number of pages of a site that have a sentence, by their
// rarity.SiteKey; 1 where they are too few to be kept.
type Pages func(sentence uint64) (int, error)

// Signer signs texts by the scheme of a config. A worker has its own.
type Signer struct {
	config configs.Config
	frames Pages
	scheme signature.Scheme
	last   []signature.Signature
}

// NewSigner returns a signer. frames is asked with text.frames only.
func NewSigner(c configs.Config, frames Pages) *Signer {
	return &Signer{config: c, frames: frames, scheme: c.NewScheme()}
}

// Sign returns what is known of a text that was signed, and appends its postings. A
// text that has a frame is signed without it; if the scheme makes many signatures,
// also with it, so that pages of one site meet whose own text is short.
func (s *Signer) Sign(postings []cluster.Posting, t Text) (rows.Signed, []cluster.Posting, error) {
	var row rows.Signed
	r, err := Read(s.config, t, s.frames)
	if err != nil {
		return row, nil, err
	}
	if s.config.Text.Frames > 0 {
		row.Characters = uint32(utf8.RuneCountInString(r.Whole))
		row.LeftOut = row.Characters - min(row.Characters, uint32(utf8.RuneCountInString(r.Own)))
	}
	s.last = s.last[:0]
	signed := r.Signed(s.config)
	for _, reading := range signed {
		s.last = s.scheme.Sign(s.last, reading)
	}
	if len(signed) > 1 {
		slices.SortFunc(s.last, func(a, b signature.Signature) int { return slices.Compare(a[:], b[:]) })
		s.last = slices.Compact(s.last)
	}
	row.Signatures = uint32(len(s.last))
	key := cluster.NewKey(Weight(s.config, r.Own, len(s.last)), t.ID)
	postings = slices.Grow(postings, len(s.last))
	for _, signature := range s.last {
		postings = append(postings, cluster.Posting{Signature: signature, Key: key})
	}
	return row, postings, nil
}

// frameShare: a sentence of a frame stands on one in so many pages of the site at
// least. On a large site what stands on ten may be a story told twice.
const frameShare = 20

// ownColumns is the least that is left of a text without frames: of less, nobody can
// say what the page is about. docs/benchmarks/frames.md has the rows.
const ownColumns = 200

// Readings are the ways in which a text is compared, up to text.max_columns.
type Readings struct {
	Whole string
	Own   string // without the frames of the sites that have it; Whole if they have none in it, or it is little else
}

// HasFrame reports whether the two are different.
func (r Readings) HasFrame() bool { return len(r.Own) != len(r.Whole) }

// Signed returns the readings that are signed, the one without frames first. The
// other has signatures of its own if the scheme makes many.
func (r Readings) Signed(c configs.Config) []string {
	if r.HasFrame() && c.WeighsBySignatures() {
		return []string{r.Own, r.Whole}
	}
	return []string{r.Own}
}

// Read reads a text. A sentence is of a site's frame if text.frames or more of its
// pages have it, and one in twenty.
func Read(c configs.Config, t Text, frames Pages) (Readings, error) {
	whole := text.Cut(t.Text, c.Text.MaxColumns)
	r := Readings{whole, whole}
	own, err := WithoutFrames(c, t, frames)
	if err != nil || len(own) == len(t.Text) {
		return r, err
	}
	if own = text.Cut(own, c.Text.MaxColumns); text.Columns(own) >= ownColumns {
		r.Own = own
	}
	return r, nil
}

// WithoutFrames returns a text without the frames of the sites that have it, however
// little is left.
func WithoutFrames(c configs.Config, t Text, frames Pages) (string, error) {
	if c.Text.Frames == 0 || len(t.Sites) == 0 {
		return t.Text, nil
	}
	least := make([]int, len(t.Sites)) // pages of each site that have a sentence of its frame
	for i, site := range t.Sites {
		n, err := frames(siteKey(site))
		if err != nil {
			return "", err
		}
		least[i] = max(c.Text.Frames, (n+frameShare-1)/frameShare)
	}
	var framed []bool
	found := false
	for s := range text.Each(t.Text) {
		in := false
		if u := rarity.ExactUnitOf(s); u.Key != 0 {
			for i, site := range t.Sites {
				n, err := frames(rarity.SiteKey(site, u.Key))
				if err != nil {
					return "", err
				}
				in = in || n >= least[i]
			}
		}
		framed, found = append(framed, in), found || in
	}
	if !found {
		return t.Text, nil
	}
	return text.Without(t.Text, func(i int) bool { return framed[i] }), nil
}

// Weight is W of a text's key: the number of its signatures (TLCS paper, section
// 3.1), or its length in code points with schemes that give long texts no more
// signatures than short ones.
func Weight(c configs.Config, compared string, signatures int) float32 {
	if c.WeighsBySignatures() {
		return float32(signatures)
	}
	return float32(utf8.RuneCountInString(compared))
}
