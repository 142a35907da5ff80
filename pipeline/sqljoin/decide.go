package sqljoin

import (
	"context"
	"slices"

	"neardup/cluster/ppjoin"
)

// decide runs the second statement: the suffix filter and VERIFY.
func (j *join) decide(ctx context.Context) error {
	suffix := j.o.Algorithm == ppjoin.PPJoinPlus
	if suffix {
		if err := j.vectorize(ctx); err != nil {
			return err
		}
	}
	if j.o.Verify == Binary {
		return j.decideHere(ctx, suffix)
	}
	if suffix {
		if err := j.exec(ctx, "CREATE TEMP TABLE neardup_vector (rid INTEGER PRIMARY KEY, toks {tokens})"); err != nil {
			return err
		}
		if err := j.s.e.load(ctx, j.s.c, "neardup_vector", []string{"rid", "toks"}, func(yield func([]any) bool) {
			for i, v := range j.vectors {
				if !yield([]any{int64(i + 1), j.s.e.vector(v)}) {
					return
				}
			}
		}); err != nil {
			return j.s.failed(ctx, err)
		}
		if err := j.exec(ctx, "ANALYZE neardup_vector", `DELETE FROM neardup_candidate WHERE (SELECT {suffix}(x.toks, y.toks, {limit}, {depth}) > {limit}
			FROM neardup_vector x, neardup_vector y WHERE x.rid = r1 AND y.rid = r2)`); err != nil {
			return err
		}
	}
	var err error
	if j.counts.Suffix, err = j.s.count(ctx, "neardup_candidate"); err != nil {
		return err
	}
	overlap := "(SELECT CAST(SUM(s.w) AS BIGINT) FROM neardup_token s, neardup_token t WHERE s.rid = r1 AND t.rid = r2 AND s.tid = t.tid)"
	if j.o.Scheme == GroupBy {
		overlap = "CAST(overlap AS BIGINT) + COALESCE((SELECT CAST(SUM(s.w) AS BIGINT) FROM neardup_token s, neardup_token t WHERE s.rid = r1 AND t.rid = r2 AND s.tid = t.tid AND s.pos > x AND t.pos > y), 0)"
	}
	rows, err := j.s.c.QueryContext(ctx, j.statement("SELECT r1, r2, common FROM (SELECT r1, r2, m1, m2, "+overlap+` AS common FROM neardup_candidate) c
		WHERE common >= {alpha m}`))
	if err != nil {
		return j.s.failed(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var r1, r2, common int64
		if err := rows.Scan(&r1, &r2, &common); err != nil {
			return j.s.failed(ctx, err)
		}
		if err := j.verdict(int(r1-1), int(r2-1), common); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return j.s.failed(ctx, err)
	}
	return nil
}

// vectorize makes the lists of the records' tokens, in the global ordering that the
// database has made.
func (j *join) vectorize(ctx context.Context) error {
	rows, err := j.s.c.QueryContext(ctx, "SELECT id, tid FROM neardup_order")
	if err != nil {
		return j.s.failed(ctx, err)
	}
	defer rows.Close()
	rank := map[uint32]uint32{}
	for rows.Next() {
		var id, tid int64
		if err := rows.Scan(&id, &tid); err != nil {
			return j.s.failed(ctx, err)
		}
		rank[uint32(id)] = uint32(tid)
	}
	if err := rows.Err(); err != nil {
		return j.s.failed(ctx, err)
	}
	j.vectors = make([][]uint32, len(j.records))
	for i := range j.records {
		for _, id := range j.records[i].Tokens {
			j.vectors[i] = append(j.vectors[i], rank[id])
		}
		slices.Sort(j.vectors[i])
	}
	return nil
}

// decideHere filters and verifies the candidates in this process.
func (j *join) decideHere(ctx context.Context, filter bool) error {
	rows, err := j.s.c.QueryContext(ctx, j.statement("SELECT r1, r2, {alpha m} FROM neardup_candidate"))
	if err != nil {
		return j.s.failed(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var r1, r2 int
		var need float64
		if err := rows.Scan(&r1, &r2, &need); err != nil {
			return j.s.failed(ctx, err)
		}
		x, y := &j.records[r1-1], &j.records[r2-1]
		if filter {
			limit := int(float64(x.Mass+y.Mass) - 2*need)
			if ppjoin.SuffixDistance(j.vectors[r1-1], j.vectors[r2-1], limit, j.o.MaxDepth) > limit {
				continue
			}
		}
		j.counts.Suffix++
		if err := j.verdict(r1-1, r2-1, j.rule.Common(x, y)); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return j.s.failed(ctx, err)
	}
	return nil
}

// verdict emits the pairs that two records stand for, if the records are similar.
func (j *join) verdict(m, n int, common int64) error {
	similar, err := j.rule.EmitSimilar(&j.records[m], &j.records[n], common, j.pair)
	if similar {
		j.counts.Similar++
	}
	return err
}
