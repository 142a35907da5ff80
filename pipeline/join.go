package pipeline

import (
	"fmt"
	"unicode/utf8"

	"neardup/cluster"
	similarity "neardup/cluster/join"
	"neardup/configs"
	"neardup/signature/tokens"
)

// clusterJoin finds the pairs of texts of at least some similarity, exactly
// (PPJoin, TODS 2011). The texts are in memory, then their tokens.
func (w *Workspace) clusterJoin(sr *stageRun) error {
	if err := w.clearSets(); err != nil {
		return err
	}
	keys, texts, err := w.joinTexts(sr)
	if err != nil {
		return err
	}
	w.o.Progress.Total(int64(len(keys)), "texts")
	sets := w.newSetRun(sr.ctx, true)
	var c ClusterCounts
	emitted := 0
	c.Join, err = joinTexts(w.config.Cluster.Join, w.o.Workers, texts, func(a, b int, similarity float64) error {
		if emitted++; emitted&0xfff == 0 && sr.ctx.Err() != nil {
			return sr.ctx.Err()
		}
		return sets.add(keys[a], keys[b], similarity)
	})
	if err != nil {
		return err
	}
	w.o.Progress.Add(int64(len(keys)))
	if err := sets.flush(); err != nil {
		return err
	}
	return w.countSets(sr, &c)
}

// joinTexts reads the texts that are compared, with their keys.
func (w *Workspace) joinTexts(sr *stageRun) (keys []cluster.Key, texts []string, err error) {
	keyOf, err := w.keyOf()
	if err != nil {
		return nil, nil, err
	}
	most, held := w.config.Cluster.Join.MaxBytes, int64(0)
	for r, err := range w.store.table(tableSigned) {
		if err != nil {
			return nil, nil, err
		}
		id := textID(r.key()[1:])
		stored, ok, err := w.store.get(textKey(id))
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, fmt.Errorf("no text: %w", corrupt(textKey(id)))
		}
		text, _, err := w.comparedText(id, string(stored))
		if err != nil {
			return nil, nil, err
		}
		if held += int64(len(text)); held > most {
			return nil, nil, fmt.Errorf("a join holds all texts in memory, and these have more than %d bytes; "+
				"raise cluster.join.max_bytes, or choose a method that reads them from disk, such as minhash-lsh", most)
		}
		keys = append(keys, keyOf(cluster.NewKey(float32(utf8.RuneCountInString(text)), id)))
		texts = append(texts, text)
		if len(keys)&0xfff == 0 && sr.ctx.Err() != nil {
			return nil, nil, sr.ctx.Err()
		}
	}
	return keys, texts, nil
}

// joinTexts emits the similar pairs of texts by their places, in any order.
func joinTexts(j configs.Join, workers int, texts []string, emit func(a, b int, similarity float64) error) (*similarity.Counts, error) {
	if j.Measure == configs.JoinEdit {
		c, err := similarity.SelfEdit(texts, j.EditOptions(workers), func(p similarity.EditPair) error {
			longer := max(utf8.RuneCountInString(texts[p.A]), utf8.RuneCountInString(texts[p.B]), 1)
			return emit(p.A, p.B, 1-float64(p.Distance)/float64(longer))
		})
		return &c, err
	}
	records, err := tokens.Make(j.TokenOptions(workers), texts)
	if err != nil {
		return nil, err
	}
	collection := similarity.Collection(records[0])
	if j.Repeats {
		collection = similarity.Multiset(collection)[0]
	}
	o := j.Options(workers)
	if j.Weights == configs.JoinIDF {
		o.Weights = similarity.IDF(collection)
	}
	size := func(i int) float64 {
		n := len(collection.Record(i))
		if collection.Alone != nil {
			n += int(collection.Alone[i])
		}
		return float64(n)
	}
	c, err := similarity.Self(collection, o, func(p similarity.Pair) error {
		s := p.Similarity
		if o.Measure == similarity.Overlap { // scores are from 0 to 1: the share of the union
			s /= size(p.A) + size(p.B) - s
		}
		return emit(p.A, p.B, s)
	})
	return &c, err
}
