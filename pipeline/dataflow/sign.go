package dataflow

import (
	"iter"
	"slices"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/configs"
	"neardup/extract/text"
	"neardup/pipeline/rows"
	"neardup/signature"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// Text is a text to be signed.
type Text struct {
	ID    rows.TextID
	Text  string     // as stored
	Sites []uint64   // sites that have it, sorted; only with text.frames
	Names pair.Names // of its pages, likewise
}

// Pages returns the number of pages of a site that have a sentence, given by its
// rarity.SiteKey. It returns 1 if they are too few to be kept.
type Pages func(sentence uint64) (int, error)

// Signer signs texts by the scheme of a config. Each worker has its own.
type Signer struct {
	config configs.Config
	frames Pages
	scheme signature.Scheme
	last   []signature.Signature
}

// NewSigner returns a signer. It calls frames only with text.frames.
func NewSigner(c configs.Config, frames Pages) *Signer {
	return &Signer{config: c, frames: frames, scheme: c.NewScheme()}
}

// Sign appends the postings of a text and returns their counts. A text that has a
// frame is signed without it. If the scheme makes many signatures, the text is also
// signed with its frame, so that pages of one site with a short text of their own
// meet.
func (s *Signer) Sign(postings []cluster.Posting, t Text) (rows.Signed, []cluster.Posting, error) {
	r, err := Read(s.config, t, s.frames)
	if err != nil {
		return rows.Signed{}, nil, err
	}
	row, postings := s.sign(postings, t.ID, r)
	return row, postings, nil
}

// SignFramed is Sign for a text whose sentences in frames are known, by Framed.
func (s *Signer) SignFramed(postings []cluster.Posting, t Text, u rows.Units, framed []byte) (rows.Signed, []cluster.Posting) {
	row, postings := s.sign(postings, t.ID, readFramed(s.config, t.Text, framedUnits(u, framed)))
	row.Framed = framed
	return row, postings
}

// sign appends the postings of the readings of a text.
func (s *Signer) sign(postings []cluster.Posting, id rows.TextID, r Readings) (rows.Signed, []cluster.Posting) {
	var row rows.Signed
	row.Characters = uint32(utf8.RuneCountInString(r.Whole))
	row.LeftOut = row.Characters - min(row.Characters, uint32(utf8.RuneCountInString(r.Own)))
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
	key := cluster.NewKey(Weight(s.config, r.Own, len(s.last)), id)
	postings = slices.Grow(postings, len(s.last))
	for _, signature := range s.last {
		postings = append(postings, cluster.Posting{Signature: signature, Key: key})
	}
	return row, postings
}

// frameShare: on a large site, a sentence of a frame stands on at least one in
// frameShare pages. A sentence on only ten pages may be a story that is told twice.
const frameShare = 20

// FewestFramePages returns the number of pages below which no sentence belongs to a
// frame. Two pages of a site may share an article at two addresses.
func FewestFramePages(c configs.Config) int { return min(c.Text.Frames, 3) }

// framePages returns the number of pages from which a sentence belongs to the frame
// of a site with so many pages: text.frames; on a small site half of its pages; on
// a large one a frameShare-th of them. docs/benchmarks/frames.md has the
// measurements.
func framePages(c configs.Config, pages int) int {
	return max(FewestFramePages(c), min(c.Text.Frames, (pages+1)/2), (pages+frameShare-1)/frameShare)
}

// ownColumns is the smallest text that may be left without frames, in columns. From
// less, nobody can tell what the page is about. docs/benchmarks/frames.md has the
// measurements.
const ownColumns = 200

// Readings are the forms of a text that are compared, each cut at text.max_columns.
type Readings struct {
	Whole string
	Own   string // without the frames of the sites that have it; Whole if there is no frame in it or little else
}

// HasFrame reports whether the two readings differ.
func (r Readings) HasFrame() bool { return len(r.Own) != len(r.Whole) }

// Signed returns the readings that are signed, the one without frames first. Whole
// is signed on its own only if the scheme makes many signatures.
func (r Readings) Signed(c configs.Config) []string {
	if r.HasFrame() && c.WeighsBySignatures() {
		return []string{r.Own, r.Whole}
	}
	return []string{r.Own}
}

// Read returns the readings of a text.
func Read(c configs.Config, t Text, frames Pages) (Readings, error) {
	own, err := withoutFrames(c, t, frames)
	return readings(c, t.Text, own), err
}

// readFramed is Read for a text whose sentences in frames are known.
func readFramed(c configs.Config, whole string, framed []uint64) Readings {
	own := whole
	if len(framed) > 0 {
		own, _ = without(whole, func(unit uint64) (bool, error) {
			_, ok := slices.BinarySearch(framed, unit)
			return ok, nil
		})
	}
	return readings(c, whole, own)
}

// readings returns the readings of a text and of what is left of it without frames.
func readings(c configs.Config, whole, own string) Readings {
	same := len(own) == len(whole)
	whole = text.Cut(whole, c.Text.MaxColumns)
	r := Readings{whole, whole}
	if same {
		return r
	}
	if own = text.Cut(own, c.Text.MaxColumns); !tooLittle(own) {
		r.Own = own
	}
	return r
}

// tooLittle reports whether what is left of a text without frames does not stand for it.
func tooLittle(own string) bool { return text.Columns(own) < ownColumns }

// Clean returns Readings.Own of a text, but does not cut it. framed reports whether the
// text has a frame, left out or not.
func Clean(c configs.Config, t Text, frames Pages) (own string, framed bool, err error) {
	own, err = withoutFrames(c, t, frames)
	if framed = len(own) != len(t.Text); tooLittle(own) {
		own = t.Text
	}
	return own, framed, err
}

// withoutFrames returns a text without the frames of the sites that have it,
// however little is left.
func withoutFrames(c configs.Config, t Text, frames Pages) (string, error) {
	if c.Text.Frames == 0 || len(t.Sites) == 0 {
		return t.Text, nil
	}
	in, err := inFrames(c, t.Sites, frames)
	if err != nil {
		return "", err
	}
	return without(t.Text, in)
}

// without returns a text without the sentences that are in a frame.
func without(t string, in func(unit uint64) (bool, error)) (string, error) {
	var framed []bool
	found := false
	for s := range text.Each(t) {
		is := false
		if u := rarity.ExactUnitOf(s); u.Key != 0 {
			var err error
			if is, err = in(u.Key); err != nil {
				return "", err
			}
		}
		framed, found = append(framed, is), found || is
	}
	if !found {
		return t, nil
	}
	return text.Without(t, func(i int) bool { return framed[i] }), nil
}

// inFrames returns a function that reports whether a unit is in the frame of one of
// the sites.
func inFrames(c configs.Config, sites []uint64, frames Pages) (func(unit uint64) (bool, error), error) {
	least := make([]int, len(sites)) // of each site: pages from which a sentence belongs to its frame
	for i, site := range sites {
		n, err := frames(siteKey(site))
		if err != nil {
			return nil, err
		}
		least[i] = framePages(c, n)
	}
	return func(unit uint64) (bool, error) {
		for i, site := range sites {
			if n, err := frames(rarity.SiteKey(site, unit)); err != nil || n >= least[i] {
				return err == nil, err
			}
		}
		return false, nil
	}, nil
}

// Framed returns the sentences of a text that are in the frame of one of its sites,
// as rows.Signed has them.
func Framed(c configs.Config, u rows.Units, sites []uint64, frames Pages) ([]byte, error) {
	if len(sites) == 0 {
		return nil, nil
	}
	in, err := inFrames(c, sites, frames)
	if err != nil {
		return nil, err
	}
	var framed []byte
	for i, unit := range allExact(u) {
		is, err := in(unit)
		if err != nil {
			return nil, err
		}
		if is {
			framed = append(framed, make([]byte, max(0, i/8+1-len(framed)))...)
			framed[i/8] |= 1 << (i % 8)
		}
	}
	return framed, nil
}

// framedUnits returns the units of the framed sentences, sorted.
func framedUnits(u rows.Units, framed []byte) (units []uint64) {
	for i, unit := range allExact(u) {
		if i/8 < len(framed) && framed[i/8]&(1<<(i%8)) != 0 {
			units = append(units, unit)
		}
	}
	slices.Sort(units)
	return units
}

// allExact yields the units with numbers, in the order of rows.Signed.
func allExact(u rows.Units) iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, unit := range u.Both {
			if !yield(i, unit) {
				return
			}
		}
		for i, unit := range u.Exact {
			if !yield(len(u.Both)+i, unit) {
				return
			}
		}
	}
}

// Weight returns W of a text's key: the number of its signatures (TLCS paper,
// section 3.1). With schemes that give long texts no more signatures than short
// ones, it is the length in code points.
func Weight(c configs.Config, compared string, signatures int) float32 {
	if c.WeighsBySignatures() {
		return float32(signatures)
	}
	return float32(utf8.RuneCountInString(compared))
}
