package stages

import (
	"fmt"
	"unicode/utf8"

	"neardup/cluster"
	"neardup/pipeline/results"
	"neardup/pipeline/rows"
	"neardup/pipeline/scores"
	"neardup/pipeline/store"
	"neardup/pipeline/workspace"
)

// clusterJoin finds the pairs of texts of at least some similarity, exactly
// (PPJoin, TODS 2011). The texts are in memory, then their tokens.
func clusterJoin(w *workspace.Workspace, sr *workspace.StageRun) error {
	if err := clearSets(w); err != nil {
		return err
	}
	keys, texts, err := joinTexts(w, sr)
	if err != nil {
		return err
	}
	w.Options.Progress.Total(int64(len(keys)), "texts")
	sets := newSetRun(sr.Ctx, w, true)
	counts, err := scores.FindSimilar(sr.Ctx, w.Config.Cluster.Join, w.Options.Workers, [][]string{texts}, func(a, b int, _, share float64) error {
		return sets.add(keys[a], keys[b], share)
	})
	if err != nil {
		return err
	}
	w.Options.Progress.Add(int64(len(keys)))
	if err := sets.flush(); err != nil {
		return err
	}
	return countSets(w, sr, &rows.ClusterCounts{Join: &counts})
}

// joinTexts reads the texts that are compared, with their keys.
func joinTexts(w *workspace.Workspace, sr *workspace.StageRun) (keys []cluster.Key, texts []string, err error) {
	keyOf, err := keyOf(w)
	if err != nil {
		return nil, nil, err
	}
	reader, err := results.LoadReader(w)
	if err != nil {
		return nil, nil, err
	}
	most, held := w.Config.Cluster.Join.MaxBytes, int64(0)
	for r, err := range w.DB.Table(store.TableSigned) {
		if err != nil {
			return nil, nil, err
		}
		id := rows.TextID(r.Key()[1:])
		stored, ok, err := w.DB.Get(store.TextKey(id))
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			return nil, nil, fmt.Errorf("no text: %w", store.Corrupt(store.TextKey(id)))
		}
		r, err := reader.Readings(id, string(stored))
		if err != nil {
			return nil, nil, err
		}
		text := r.Own
		if held += int64(len(text)); held > most {
			return nil, nil, fmt.Errorf("a join holds all texts in memory, and these have more than %d bytes; "+
				"raise cluster.join.max_bytes, or choose a method that reads them from disk, such as minhash-lsh", most)
		}
		keys = append(keys, keyOf(cluster.NewKey(float32(utf8.RuneCountInString(text)), id)))
		texts = append(texts, text)
		if len(keys)&0xfff == 0 && sr.Ctx.Err() != nil {
			return nil, nil, sr.Ctx.Err()
		}
	}
	return keys, texts, nil
}
