package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"golang.org/x/sync/errgroup"

	"neardup/extract/text"
)

// With text.templates: N, a sentence is a template of a site when N different
// pages of the site have it. A text is signed and scored without the templates
// of the sites that have it; what its subject is, the whole text says. A page is
// an address; a text with several counts as the one with the smallest hash. So
// neither many captures of a page make a template, each a little different, nor
// many addresses of one text, which are duplicates to be found. Texts without a
// site, lines of a collection without URLs, have no templates.
//
// Learning is a sort on disk. Every sentence of a text is a sighting under the
// digest of site and sentence (tableSighting); those of a template stand
// together and are told by their addresses. A second row, under the text, says
// that its sentence of this number is left out (tableTemplate). So what is
// asked for later, the templates in a text, is one short scan wherever the text
// stands and whatever sites have it: nothing of a site is ever in memory.

// sightBytes is about how much text a worker cuts at a time, counted once for
// each of its sites.
const sightBytes = 1 << 20

// templateCursor is where learning goes on: at the text behind After; with all
// sightings there, at those of Digest; or it is done.
type templateCursor struct {
	After     []byte `json:"after,omitempty"`
	Counting  bool   `json:"counting,omitempty"`
	Digest    []byte `json:"digest,omitempty"`
	Learned   bool   `json:"learned,omitempty"`
	Sightings int64  `json:"sightings"`
	Templates int64  `json:"templates"` // sentences that are a template of a site
}

// learnTemplates fills tableTemplate and gives the number of templates.
func (w *Workspace) learnTemplates(sr *stageRun, texts int64) (int64, error) {
	var at templateCursor
	if _, err := sr.cursor(&at); err != nil {
		return 0, err
	}
	if !at.Counting && !at.Learned {
		w.o.Progress.Total(texts, "texts")
		if err := w.sight(sr, &at); err != nil {
			return 0, err
		}
	}
	if !at.Learned {
		w.o.Progress.Total(at.Sightings, "sentences")
		if err := w.countSightings(sr, &at); err != nil {
			return 0, err
		}
	}
	return at.Templates, nil
}

// sightJob is some texts on their way through the workers.
type sightJob struct {
	texts []sightText
	bytes int
	after textID // the last text that is done with this job
	read  int64  // texts

	rows []byte // keys of sightingSize
	done chan struct{}
}

// sightText is a text with the sites that have it, and its address there.
type sightText struct {
	id    textID
	text  string
	pages []sitePage
}

type sitePage struct{ site, address uint64 }

func (j *sightJob) finished() <-chan struct{} { return j.done }

// work cuts the texts into their sightings.
func (j *sightJob) work() {
	defer close(j.done)
	var named []byte
	for _, t := range j.texts {
		sentences := text.Sentences(t.text)
		j.rows = slices.Grow(j.rows, sightingSize*len(sentences)*len(t.pages))
		for _, p := range t.pages {
			for i, s := range sentences {
				named = append(binary.BigEndian.AppendUint64(named[:0], p.site), s.Text...)
				digest := sha256.Sum256(named)
				j.rows = append(append(j.rows, tableSighting), digest[:16]...)
				j.rows = binary.BigEndian.AppendUint64(j.rows, p.address)
				j.rows = binary.BigEndian.AppendUint32(append(j.rows, t.id[:]...), uint32(i))
			}
		}
	}
	j.texts = nil
}

// sight writes the sightings of all texts. Texts are cut in parallel and
// committed in order, with the place to go on from.
func (w *Workspace) sight(sr *stageRun, at *templateCursor) error {
	g, ctx := errgroup.WithContext(sr.ctx)
	queue, work := make(chan *sightJob, w.o.Workers), make(chan *sightJob)
	g.Go(func() error {
		defer close(work)
		for j, err := range w.sightJobs(at.After) {
			if err != nil {
				return err
			}
			for _, to := range []chan<- *sightJob{queue, work} {
				select {
				case to <- j:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		}
		close(queue)
		return nil
	})
	for range w.o.Workers {
		g.Go(func() error {
			for j := range work {
				j.work()
			}
			return nil
		})
	}
	g.Go(func() error { return w.commitSightings(ctx, sr, at, queue) })
	return g.Wait()
}

func (w *Workspace) commitSightings(ctx context.Context, sr *stageRun, at *templateCursor, queue <-chan *sightJob) error {
	rows := fixedRun{size: sightingSize}
	flush := func() error {
		e, err := sr.cursorEntry(at)
		if err != nil {
			return err
		}
		err = w.store.ingest(ctx, append(rows.sorted(w.o.Workers), slices.Values([]entry{e}))...)
		rows.clear()
		return err
	}
	for {
		j, more, err := next(ctx, queue)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		for row := range slices.Chunk(j.rows, sightingSize) {
			rows.add(row)
			at.Sightings++
		}
		w.o.Progress.Add(j.read)
		if j.read > 0 { // else it has a part of a text with many sites
			at.After = slices.Clone(j.after[:])
		}
		if rows.len() >= w.o.runRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	at.Counting = true
	return flush()
}

// sightJobs gives the texts behind after, in batches.
func (w *Workspace) sightJobs(after []byte) iter.Seq2[*sightJob, error] {
	return func(yield func(*sightJob, error) bool) {
		lower, upper := tableBounds(tableText)
		if after != nil {
			_, lower = prefixBounds(join(tableText, after))
		}
		occurrences, err := w.store.seeker(tableOccurrence)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = occurrences.Close() }()
		j := &sightJob{done: make(chan struct{})}
		send := func() bool {
			full := j
			j = &sightJob{done: make(chan struct{})}
			return yield(full, nil)
		}
		addresses := map[uint64]uint64{} // by site
		for r, err := range w.store.rows(lower, upper) {
			if err != nil {
				yield(nil, err)
				return
			}
			id := textID(r.key()[1:])
			value, err := r.value()
			if err := errors.Join(err, addressesOf(occurrences, id, addresses)); err != nil {
				yield(nil, err)
				return
			}
			t := sightText{id: id, text: string(value)}
			for site, address := range addresses {
				t.pages = append(t.pages, sitePage{site, address})
				if j.bytes += len(t.text); j.bytes >= sightBytes {
					j.texts = append(j.texts, t)
					t.pages = nil
					if !send() {
						return
					}
				}
			}
			if len(t.pages) > 0 {
				j.texts = append(j.texts, t)
			}
			j.after = id
			if j.read++; j.read == signBatch && !send() {
				return
			}
		}
		if j.read > 0 {
			send()
		}
	}
}

// addressesOf sets addresses to the smallest of the text's on each of its sites.
func addressesOf(occurrences *seeker, t textID, addresses map[uint64]uint64) error {
	clear(addresses)
	for r, err := range occurrences.rows(join(tableOccurrence, t[:])) {
		if err != nil {
			return err
		}
		o, err := r.occurrence()
		if err != nil {
			return err
		}
		if old, ok := addresses[o.site]; o.site != noSite && (!ok || o.address < old) {
			addresses[o.site] = o.address
		}
	}
	return nil
}

// countSightings counts the pages of each sentence, and writes where those of
// enough pages stand. Then the sightings have served.
func (w *Workspace) countSightings(sr *stageRun, at *templateCursor) error {
	templates := fixedRun{size: templateSize}
	flush := func() error {
		e, err := sr.cursorEntry(at)
		if err != nil {
			return err
		}
		err = w.store.ingest(sr.ctx, append(templates.sorted(w.o.Workers), slices.Values([]entry{e}))...)
		templates.clear()
		return err
	}
	again, err := w.store.seeker(tableSighting)
	if err != nil {
		return err
	}
	defer func() { _ = again.Close() }()
	pages, last := 0, uint64(0) // of at.Digest; the address before
	// end is called with all sightings of at.Digest read. These are read again:
	// there may be more than there is memory for.
	end := func() error {
		if pages < w.config.Text.Templates {
			return nil
		}
		for r, err := range again.rows(join(tableSighting, at.Digest)) {
			if err != nil {
				return err
			}
			s, err := parseSightingKey(r.key())
			if err != nil {
				return err
			}
			templates.add([]byte{tableTemplate}, s.place)
			if templates.len() >= w.o.runRows { // an interruption writes some of them again
				if err := flush(); err != nil {
					return err
				}
			}
		}
		at.Templates++
		return nil
	}
	lower, upper := tableBounds(tableSighting)
	n := 0
	for r, err := range w.store.rows(append(lower, at.Digest...), upper) {
		if err != nil {
			return err
		}
		s, err := parseSightingKey(r.key())
		if err != nil {
			return err
		}
		if !slices.Equal(s.digest, at.Digest) || n == 0 {
			if err := end(); err != nil {
				return err
			}
			at.Digest, pages = slices.Clone(s.digest), 0
		}
		if pages == 0 || s.address != last {
			pages++
		}
		last = s.address
		if n++; n&0xffff == 0 {
			w.o.Progress.Add(0x10000)
			if err := sr.ctx.Err(); err != nil {
				return err
			}
		}
	}
	if err := end(); err != nil {
		return err
	}
	// Behind the last sightings: an interruption from here on does not count them again.
	at.Digest = append(at.Digest, bytes.Repeat([]byte{0xff}, sightingSize)...)
	if err := flush(); err != nil {
		return err
	}
	*at = templateCursor{Learned: true, Sightings: at.Sightings, Templates: at.Templates}
	b := w.store.batch()
	return errors.Join(b.clear(tableSighting), sr.setCursor(b, at), b.commit())
}

// templatesIn gives the numbers of those of the text's sentences that are left
// out, sorted.
func (w *Workspace) templatesIn(t textID) ([]uint32, error) {
	if w.config.Text.Templates == 0 {
		return nil, nil
	}
	s, err := w.store.seeker(tableTemplate)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	return s.templatesIn(t)
}

// templatesIn is that of the workspace, by a seeker of tableTemplate.
func (s *seeker) templatesIn(t textID) (numbers []uint32, err error) {
	prefix := join(tableTemplate, t[:])
	for r, err := range s.rows(prefix) {
		if err != nil {
			return nil, err
		}
		if len(r.key()) != templateSize {
			return nil, corrupt(r.key())
		}
		numbers = append(numbers, binary.BigEndian.Uint32(r.key()[len(prefix):]))
	}
	return numbers, nil
}

// withoutSentences is s without the sentences of these numbers, which are
// sorted.
func withoutSentences(s string, numbers []uint32) string {
	if len(numbers) == 0 {
		return s
	}
	return text.Without(s, func(i int) bool {
		if len(numbers) == 0 || numbers[0] != uint32(i) {
			return false
		}
		numbers = numbers[1:]
		return true
	})
}

// comparedText is what of a stored text is compared, and what of it is read for
// its subject: that is told by titles and headings, which may be templates, and
// by how often the text goes on to name them.
func (w *Workspace) comparedText(t textID, stored string) (compared, whole string, err error) {
	numbers, err := w.templatesIn(t)
	whole = text.Cut(stored, w.config.Text.MaxColumns)
	if len(numbers) == 0 {
		return whole, whole, err
	}
	return text.Cut(withoutSentences(stored, numbers), w.config.Text.MaxColumns), whole, err
}
