package stages

import (
	"encoding/hex"
	"errors"
	"slices"
	"sync"
	"time"

	"neardup/cluster"
	"neardup/configs"
	"neardup/pipeline/costs"
	"neardup/pipeline/dataflow"
	"neardup/pipeline/earlier"
	"neardup/pipeline/extsort"
	"neardup/pipeline/layout"
	"neardup/pipeline/learning"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
	"neardup/verify/pair"
)

// commitLinks is the number of rows that are committed together.
const commitLinks = 4096

// verifyCursor is the place where the verification continues: with candidate pairs
// behind the row After. With sets it goes through all sets again, and uses the results
// that are there; so do the components of linked texts, after all sets. The closing
// starts over.
type verifyCursor struct {
	After   []byte            `json:"after,omitempty"`
	Begun   bool              `json:"begun,omitempty"`   // verdicts of an earlier run are dropped
	Learned bool              `json:"learned,omitempty"` // TableCommon is filled
	Parting bool              `json:"parting,omitempty"` // all sets are done
	Closing bool              `json:"closing,omitempty"`
	Counts  rows.VerifyCounts `json:"counts"`
}

// compared records that all candidates are done.
func (c *verifyCursor) compared(closing string) {
	c.Parting, c.Closing = closing == configs.ClosingPartition, closing != configs.ClosingPartition
}

func runVerify(w *workspace.Workspace, sr *workspace.StageRun) error {
	var at verifyCursor
	if _, err := sr.Cursor(&at); err != nil {
		return err
	}
	var changed map[rows.TextID]bool
	before := sync.OnceValues(func() (*earlier.Results, error) { return earlier.Open(w, sr, changed) }) // after learning.Common
	if !at.Closing && !at.Parting {
		if err := dropVerdicts(w, sr, &at); err != nil {
			return err
		}
		var err error
		if changed, err = learning.Common(w, sr, &at, &at.Learned); err != nil {
			return err
		}
		compare := compareSets
		if w.Config.Pairs() {
			compare = comparePairs
		}
		if err := compare(w, sr, &at, before); err != nil {
			return err
		}
	}
	if at.Parting && !at.Closing {
		if err := partition(w, sr, &at, before); err != nil {
			return err
		}
	}
	if err := closeClusters(w, sr, &at.Counts); err != nil {
		return err
	}
	return sr.SetCounts(at.Counts)
}

// dropVerdicts clears the verdicts of an earlier run on candidate pairs. Those of sets are
// replaced when all sets are done.
func dropVerdicts(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) error {
	if at.Begun || !w.Config.Pairs() {
		return nil
	}
	at.Begun = true
	b := w.DB.Batch()
	return errors.Join(b.Clear(layout.TableVerdict), sr.SetCursor(b, at), b.Commit())
}

// NewTexts returns the workspace's texts, ready for comparison.
func NewTexts(w *workspace.Workspace) (*dataflow.Texts, error) {
	reader, err := results.LoadReader(w)
	if err != nil {
		return nil, err
	}
	config, err := w.Method()
	if err != nil {
		return nil, err
	}
	j := dataflow.Judge(config)
	return dataflow.NewTexts(j, func(id rows.TextID) (*pair.Text, error) { return reader.Prepare(j, id) }), nil
}

// progress commits the verification's results together with its cursor.
type progress struct {
	w     *workspace.Workspace
	sr    *workspace.StageRun
	at    *verifyCursor
	b     store.Batch
	saved time.Time
}

func newProgress(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor) *progress {
	return &progress{w, sr, at, w.DB.Batch(), time.Now()}
}

// put adds links as rows of a table.
func (p *progress) put(table byte, links []rows.Link) error {
	return eachLink(table, links, p.b.Set)
}

// eachLink calls set with links as rows of a table.
func eachLink(table byte, links []rows.Link, set func(key, value []byte) error) error {
	for _, l := range links {
		if err := set(layout.PairKey(table, l.Leader, l.Member), layout.AppendScore(nil, l.Score)); err != nil {
			return err
		}
	}
	return nil
}

// replacement collects the links that replace those of a table. Goroutines can share it.
type replacement struct {
	w      *workspace.Workspace
	sr     *workspace.StageRun
	table  byte
	mu     sync.Mutex
	sorter *extsort.Sorter
}

func newReplacement(w *workspace.Workspace, sr *workspace.StageRun, table byte) *replacement {
	return &replacement{w: w, sr: sr, table: table, sorter: extsort.New(w.DB.Tmp)}
}

func (r *replacement) add(links []rows.Link) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return eachLink(r.table, links, r.sorter.Add)
}

func (r *replacement) replace() error {
	return errors.Join(r.sr.Replace(r.w.DB, r.table, r.sorter.Sorted()), r.sorter.Close())
}

func (r *replacement) close() { _ = r.sorter.Close() }

// step ends a step of so much work. It commits if enough was done since the last
// commit.
func (p *progress) step(done int64) error {
	p.w.Options.Progress.Add(done)
	if int(p.b.Count()) >= min(commitLinks, p.w.Options.RunRows) || time.Since(p.saved) > commitEvery {
		return p.commit()
	}
	return nil
}

func (p *progress) commit() error {
	err := errors.Join(p.sr.SetCursor(p.b, p.at), p.b.Commit())
	p.b, p.saved = p.w.DB.Batch(), time.Now()
	return err
}

// compareSets verifies the pairs of each perhaps-similar set.
func compareSets(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor, known func() (*earlier.Results, error)) error {
	var clustered rows.ClusterCounts
	if err := w.Counts(workspace.StageCluster, &clustered); err != nil {
		return err
	}
	w.Options.Progress.Total(clustered.Members, "texts")
	before, err := known()
	if err != nil {
		return err
	}
	defer before.Close()
	texts := before.Texts()
	p := newProgress(w, sr, at)
	at.Counts = rows.VerifyCounts{}
	verdicts := newReplacement(w, sr, layout.TableVerdict)
	defer verdicts.close()
	var after []byte
	err = dataflow.VerifySets(sr.Ctx, results.Sets(w), texts, w.Config.Verify, w.Options.Workers, before.Set, watchSets(w), verdicts.add, func(v dataflow.VerifiedSets) error {
		now := map[cluster.Key]*layout.Result{}
		for _, r := range v.Sets {
			if err := verdicts.add(r.Links); err != nil {
				return err
			}
			at.Counts.Add(r.Counts)
			switch {
			case r.Stored:
				now[r.Name] = nil
			case r.States != nil:
				now[r.Name] = &layout.Result{States: r.States, Counts: r.Counts, Decided: r.Decided, Screening: r.Screening}
			}
		}
		if err := before.Keep(p.b, after, &v.Last, now); err != nil {
			return err
		}
		after = v.Last[:]
		return p.step(v.Members)
	})
	if err != nil {
		return err
	}
	if err := errors.Join(before.Keep(p.b, after, nil, nil), verdicts.replace()); err != nil {
		return err
	}
	at.compared(w.Config.Verify.Closing)
	return p.commit()
}

// watchSets notes what sets cost.
func watchSets(w *workspace.Workspace) dataflow.Watch {
	if w.Options.Costs == nil {
		return nil
	}
	return func(set []cluster.Key) func(rows.VerifyCounts) {
		began := time.Now()
		return func(c rows.VerifyCounts) {
			id := set[0].ID()
			w.Options.Costs.Set(costs.Set{Set: hex.EncodeToString(id[:]), Texts: len(set), Pairs: c.Pairs,
				OverBudget: c.OverBudget, Seconds: time.Since(began).Seconds()})
		}
	}
}

// comparePairs verifies candidate pairs.
func comparePairs(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor, _ func() (*earlier.Results, error)) error {
	var clustered rows.ClusterCounts
	if err := w.Counts(workspace.StageCluster, &clustered); err != nil {
		return err
	}
	w.Options.Progress.Total(clustered.Members-clustered.Sets, "pairs")
	texts, err := NewTexts(w)
	if err != nil {
		return err
	}
	p := newProgress(w, sr, at)
	err = dataflow.VerifyPairs(sr.Ctx, candidates(w, at.After), results.NearPairs(w), texts, w.Config.Verify, w.Options.Workers, func(v dataflow.VerifiedPairs) error {
		if err := p.put(layout.TableVerdict, v.Links); err != nil {
			return err
		}
		at.After = slices.Concat(v.Last.A[:], v.Last.B[:])
		at.Counts.Add(v.Counts)
		return p.step(v.Pairs)
	})
	if err != nil {
		return err
	}
	at.Counts.Sets = clustered.Sets
	at.compared(w.Config.Verify.Closing)
	return p.commit()
}

// partition partitions the components of near pairs.
func partition(w *workspace.Workspace, sr *workspace.StageRun, at *verifyCursor, known func() (*earlier.Results, error)) error {
	first, err := known()
	if err != nil {
		return err
	}
	before := first.Parts()
	defer before.Close()
	texts := before.Texts()
	p := newProgress(w, sr, at)
	counts := at.Counts
	checked, parts := newReplacement(w, sr, layout.TableChecked), newReplacement(w, sr, layout.TablePart)
	defer checked.close()
	defer parts.close()
	var after []byte
	large := dataflow.NewLarge(w.DB.Tmp)
	defer func() { _ = large.Close() }()
	err = dataflow.Part(sr.Ctx, dataflow.Components(w.DB.Tmp, results.NearPairs(w), w.Config.Verify, large), texts, w.Config.Verify, w.Options.Workers, before.Part, func(v dataflow.Parted) error {
		now := map[cluster.Key]*layout.Result{}
		for _, r := range v.Components {
			links, err := unverified(w, r.Checked())
			if err := errors.Join(err, checked.add(links), parts.add(r.Parts)); err != nil {
				return err
			}
			counts.Add(r.Counts)
			counts.Partition.Add(r.Counts.Partition)
			switch {
			case r.Stored:
				now[r.Name] = nil
			case r.States != nil:
				now[r.Name] = &layout.Result{States: r.States, Of: r.Of, Counts: r.Counts, Decided: r.Decided, Links: r.Parts}
			}
		}
		if err := before.Keep(p.b, after, &v.Last, now); err != nil {
			return err
		}
		after = v.Last[:]
		return p.step(0)
	})
	if err != nil {
		return err
	}
	if err := large.Stars(sr.Ctx, extsort.Messages(w.DB.Tmp), &counts.Partition, parts.add); err != nil {
		return err
	}
	if err := errors.Join(before.Keep(p.b, after, nil, nil), checked.replace(), parts.replace()); err != nil {
		return err
	}
	at.Counts, at.Closing = counts, true
	return p.commit()
}

// unverified returns the links that have no verdict yet. Sets may have given a
// verdict to pairs that link nothing.
func unverified(w *workspace.Workspace, links []rows.Link) (out []rows.Link, err error) {
	for _, l := range links {
		if l.Score.Relation != "" {
			_, ok, err := w.DB.ScoreOf(layout.TableVerdict, l.Leader, l.Member)
			if err != nil {
				return nil, err
			}
			if ok {
				continue
			}
		}
		out = append(out, l)
	}
	return out, nil
}
