package stages

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
	"neardup/pipeline/dataflow"
	"neardup/pipeline/extsort"
	"neardup/pipeline/queue"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/rarity"
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
// digest of site and sentence (TableSighting); those of a template stand
// together and are told by their addresses. A second row, under the text, says
// that its sentence of this number is left out (TableTemplate). So what is
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

// LearnTemplates fills TableTemplate and gives the number of templates.
func LearnTemplates(w *workspace.Workspace, sr *workspace.StageRun, texts int64) (int64, error) {
	var at templateCursor
	if _, err := sr.Cursor(&at); err != nil {
		return 0, err
	}
	if !at.Counting && !at.Learned {
		w.Options.Progress.Total(texts, "texts")
		if err := sight(w, sr, &at); err != nil {
			return 0, err
		}
	}
	if !at.Learned {
		w.Options.Progress.Total(at.Sightings, "sentences")
		if err := countSightings(w, sr, &at); err != nil {
			return 0, err
		}
	}
	return at.Templates, nil
}

// sightJob is some texts on their way through the workers.
type sightJob struct {
	texts []dataflow.SiteText
	bytes int
	after rows.TextID // the last text that is done with this job
	read  int64       // texts

	rows []byte            // keys of SightingSize
	seen []rarity.Sighting // of the counting of common sentences
	done chan struct{}
}

func (j *sightJob) Finished() <-chan struct{} { return j.done }

// work cuts the texts into their sightings.
func (j *sightJob) work() {
	defer close(j.done)
	var named []byte
	for _, t := range j.texts {
		sentences := text.Sentences(t.Text)
		j.rows = slices.Grow(j.rows, store.SightingSize*len(sentences)*len(t.Pages))
		for _, p := range t.Pages {
			for i, s := range sentences {
				named = append(binary.BigEndian.AppendUint64(named[:0], p.Site), s.Text...)
				digest := sha256.Sum256(named)
				j.rows = append(append(j.rows, store.TableSighting), digest[:16]...)
				j.rows = binary.BigEndian.AppendUint64(j.rows, p.Address)
				j.rows = binary.BigEndian.AppendUint32(append(j.rows, t.ID[:]...), uint32(i))
			}
		}
	}
	j.texts = nil
}

// sight writes the sightings of all texts. Texts are cut in parallel and
// committed in order, with the place to go on from.
func sight(w *workspace.Workspace, sr *workspace.StageRun, at *templateCursor) error {
	g, ctx := errgroup.WithContext(sr.Ctx)
	jobs, work := make(chan *sightJob, w.Options.Workers), make(chan *sightJob)
	g.Go(func() error {
		defer close(work)
		for j, err := range sightJobs(w, at.After) {
			if err != nil {
				return err
			}
			if err := queue.Send(ctx, j, jobs, work); err != nil {
				return err
			}
		}
		close(jobs)
		return nil
	})
	for range w.Options.Workers {
		g.Go(func() error {
			for j := range work {
				j.work()
			}
			return nil
		})
	}
	g.Go(func() error { return commitSightings(ctx, w, sr, at, jobs) })
	return g.Wait()
}

func commitSightings(ctx context.Context, w *workspace.Workspace, sr *workspace.StageRun, at *templateCursor, jobs <-chan *sightJob) error {
	rows := store.FixedRun{Size: store.SightingSize}
	flush := func() error {
		e, err := sr.CursorEntry(at)
		if err != nil {
			return err
		}
		err = w.DB.Ingest(ctx, append(rows.Sorted(w.Options.Workers), slices.Values([]extsort.Entry{e}))...)
		rows.Clear()
		return err
	}
	for {
		j, more, err := queue.Next(ctx, jobs)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		for row := range slices.Chunk(j.rows, store.SightingSize) {
			rows.Add(row)
			at.Sightings++
		}
		w.Options.Progress.Add(j.read)
		if j.read > 0 { // else it has a part of a text with many sites
			at.After = slices.Clone(j.after[:])
		}
		if rows.Len() >= w.Options.RunRows {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	at.Counting = true
	return flush()
}

// sightJobs returns the texts behind after, in batches.
func sightJobs(w *workspace.Workspace, after []byte) iter.Seq2[*sightJob, error] {
	return func(yield func(*sightJob, error) bool) {
		lower, upper := store.TableBounds(store.TableText)
		if after != nil {
			_, lower = store.PrefixBounds(store.Key(store.TableText, after))
		}
		occurrences, err := w.DB.Seeker(store.TableOccurrence)
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
		for r, err := range w.DB.Rows(lower, upper) {
			if err != nil {
				yield(nil, err)
				return
			}
			id := rows.TextID(r.Key()[1:])
			value, err := r.Value()
			if err := errors.Join(err, addressesOf(occurrences, id, addresses)); err != nil {
				yield(nil, err)
				return
			}
			t := dataflow.SiteText{ID: id, Text: string(value)}
			for site, address := range addresses {
				t.Pages = append(t.Pages, dataflow.SitePage{Site: site, Address: address})
				if j.bytes += len(t.Text); j.bytes >= sightBytes {
					j.texts = append(j.texts, t)
					t.Pages = nil
					if !send() {
						return
					}
				}
			}
			if len(t.Pages) > 0 {
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
func addressesOf(occurrences *store.Seeker, t rows.TextID, addresses map[uint64]uint64) error {
	clear(addresses)
	for r, err := range occurrences.Rows(store.Key(store.TableOccurrence, t[:])) {
		if err != nil {
			return err
		}
		o, err := r.Occurrence()
		if err != nil {
			return err
		}
		if old, ok := addresses[o.Site]; o.Site != rows.NoSite && (!ok || o.Address < old) {
			addresses[o.Site] = o.Address
		}
	}
	return nil
}

// countSightings counts the pages of each sentence, and writes where those of
// enough pages stand. Then the sightings have served.
func countSightings(w *workspace.Workspace, sr *workspace.StageRun, at *templateCursor) error {
	templates := store.FixedRun{Size: store.TemplateSize}
	flush := func() error {
		e, err := sr.CursorEntry(at)
		if err != nil {
			return err
		}
		err = w.DB.Ingest(sr.Ctx, append(templates.Sorted(w.Options.Workers), slices.Values([]extsort.Entry{e}))...)
		templates.Clear()
		return err
	}
	again, err := w.DB.Seeker(store.TableSighting)
	if err != nil {
		return err
	}
	defer func() { _ = again.Close() }()
	pages, last := 0, uint64(0) // of at.Digest; the address before
	// end is called with all sightings of at.Digest read. These are read again:
	// there may be more than there is memory for.
	end := func() error {
		if pages < w.Config.Text.Templates {
			return nil
		}
		for r, err := range again.Rows(store.Key(store.TableSighting, at.Digest)) {
			if err != nil {
				return err
			}
			s, err := store.ParseSightingKey(r.Key())
			if err != nil {
				return err
			}
			templates.Add([]byte{store.TableTemplate}, s.Place)
			if templates.Len() >= w.Options.RunRows { // an interruption writes some of them again
				if err := flush(); err != nil {
					return err
				}
			}
		}
		at.Templates++
		return nil
	}
	lower, upper := store.TableBounds(store.TableSighting)
	n := 0
	for r, err := range w.DB.Rows(append(lower, at.Digest...), upper) {
		if err != nil {
			return err
		}
		s, err := store.ParseSightingKey(r.Key())
		if err != nil {
			return err
		}
		if !slices.Equal(s.Digest, at.Digest) || n == 0 {
			if err := end(); err != nil {
				return err
			}
			at.Digest, pages = slices.Clone(s.Digest), 0
		}
		if pages == 0 || s.Address != last {
			pages++
		}
		last = s.Address
		if n++; n&0xffff == 0 {
			w.Options.Progress.Add(0x10000)
			if err := sr.Ctx.Err(); err != nil {
				return err
			}
		}
	}
	if err := end(); err != nil {
		return err
	}
	// Behind the last sightings: an interruption from here on does not count them again.
	at.Digest = append(at.Digest, bytes.Repeat([]byte{0xff}, store.SightingSize)...)
	if err := flush(); err != nil {
		return err
	}
	*at = templateCursor{Learned: true, Sightings: at.Sightings, Templates: at.Templates}
	b := w.DB.Batch()
	return errors.Join(b.Clear(store.TableSighting), sr.SetCursor(b, at), b.Commit())
}
