package dataflow

import (
	"container/list"
	"sync"

	"neardup/configs"
	"neardup/pipeline/rows"
	"neardup/verify/pair"
	"neardup/verify/rarity"
)

// Judge returns the judge of pairs for a config's method.
func Judge(c configs.Config) pair.Judge {
	return pair.Judge{Measure: c.NewMeasure(), Rarity: c.Verify.Judging(), Frames: c.Text.Frames > 0}
}

// Texts returns texts ready for comparison, and caches those used last. Goroutines
// can share it.
type Texts struct {
	Judge pair.Judge
	read  Reader
	mu    sync.Mutex
	order list.List // list of preparedText, the most recently used in front
	byID  map[rows.TextID]*list.Element
	bytes int
}

// Reader returns a text ready for comparison.
type Reader func(rows.TextID) (*pair.Text, error)

// Prepare makes a text ready for comparison. frames and common return how common
// its sentences are on the sites that have it, for its readings and its weights.
func Prepare(c configs.Config, j pair.Judge, t Text, frames, common Pages) (*pair.Text, error) {
	r, err := Read(c, t, frames)
	if err != nil {
		return nil, err
	}
	made := func(reading string) (*pair.Text, error) {
		var rare rarity.Text
		if c.Verify.RarePages > 0 {
			var err error
			if rare, err = weigh(c.Verify, reading, t.Sites, common); err != nil {
				return nil, err
			}
		}
		return j.Text(reading, rare), nil
	}
	whole, err := made(r.Whole)
	if err != nil || !r.HasFrame() {
		return whole.Framed(t.Sites, nil).Named(t.Names), err
	}
	own, err := made(r.Own)
	return whole.Framed(t.Sites, own).Named(t.Names), err
}

// preparedBytes is about how many bytes of texts are cached.
const preparedBytes = 52 << 20

type preparedText struct {
	id   rows.TextID
	text *pair.Text
	size int
}

// NewTexts returns a cache of the texts that read returns, for a judge.
func NewTexts(j pair.Judge, read Reader) *Texts {
	return &Texts{Judge: j, read: read, byID: map[rows.TextID]*list.Element{}}
}

// Get returns a text.
func (t *Texts) Get(id rows.TextID) (*pair.Text, error) {
	t.mu.Lock()
	if e, ok := t.byID[id]; ok {
		t.order.MoveToFront(e)
		t.mu.Unlock()
		return e.Value.(preparedText).text, nil
	}
	t.mu.Unlock()
	text, err := t.read(id)
	if err != nil {
		return nil, err
	}
	size := text.Bytes()
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.byID[id]; ok { // another worker was faster
		return text, nil
	}
	t.byID[id] = t.order.PushFront(preparedText{id, text, size})
	t.bytes += size
	for t.bytes > preparedBytes && t.order.Len() > 1 {
		e := t.order.Back()
		old := t.order.Remove(e).(preparedText)
		delete(t.byID, old.id)
		t.bytes -= old.size
	}
	return text, nil
}
