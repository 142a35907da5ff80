package sqljoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"neardup/cluster/ppjoin"
)

// Scheme is the set of tables and the statement by which candidates are found.
type Scheme string

// The schemes of section 7 of the paper.
const (
	Prefix  Scheme = "prefix"  // a table of the prefixes for the threshold (7.1, 7.2)
	Generic Scheme = "generic" // a table of the prefixes for a smaller threshold, of which the statement uses a part (7.2.1)
	GroupBy Scheme = "groupby" // only the table of all tokens: the overlap of the prefixes by GROUP BY, and the rest added (7.3)
	Longer  Scheme = "longer"  // prefixes that are longer by k tokens, and k+1 common tokens (7.3.1, corollary 4.7)
)

// Schemes lists all schemes.
var Schemes = []Scheme{Prefix, Generic, GroupBy, Longer}

// Where candidates are filtered and verified.
const (
	Database = "database"
	Binary   = "binary"
)

// Places lists all places.
var Places = []string{Database, Binary}

// Options are the options of a join.
type Options struct {
	ppjoin.Options // it uses Measure, Threshold, Weights, Algorithm, MaxDepth, Extra

	Scheme Scheme
	Least  float64 // with Generic: threshold of the table's prefixes
	Verify string  // Database or Binary
}

// Validate returns an error that names the option out of its range.
func (o Options) Validate() error {
	if err := o.Options.Validate(); err != nil {
		return err
	}
	switch {
	case !slices.Contains(Schemes, o.Scheme):
		return fmt.Errorf("sqljoin: scheme is %q, must be one of %v", o.Scheme, Schemes)
	case !slices.Contains(Places, o.Verify):
		return fmt.Errorf("sqljoin: candidates are verified in %q, must be one of %v", o.Verify, Places)
	case o.Scheme == Generic && !(o.Least > 0 && o.Least <= o.Threshold):
		return fmt.Errorf("sqljoin: the least threshold is %v, must be above 0 and at most the threshold %v", o.Least, o.Threshold)
	case o.Scheme == Longer && o.Extra < 1 || o.Scheme != Longer && o.Extra != 0:
		return fmt.Errorf("sqljoin: extra is %d, must be 1 and more with %s, else 0", o.Extra, Longer)
	case o.Algorithm == ppjoin.PPJoinPlus && o.Weights != nil:
		return errors.New("sqljoin: the suffix filter is for tokens without weights")
	case o.Scheme == GroupBy && o.Verify != Database:
		return fmt.Errorf("sqljoin: %s adds to the overlap of the prefixes in the %s", GroupBy, Database)
	}
	return nil
}

// Counts holds what each step left, in distinct records, and the time that it took.
type Counts struct {
	Records    int64 `json:"records"`
	Distinct   int64 `json:"distinct"`   // without equal ones
	Tokens     int64 `json:"tokens"`     // rows of the table of tokens
	Prefixes   int64 `json:"prefixes"`   // rows of the table of prefixes
	Candidates int64 `json:"candidates"` // pairs that the statement found
	Suffix     int64 `json:"suffix"`     // of those, left by the suffix filter
	Similar    int64 `json:"similar"`    // of those, similar
	Pairs      int64 `json:"pairs"`      // emitted pairs, with those of equal records

	Load   time.Duration `json:"load"`   // making the table of tokens
	Index  time.Duration `json:"index"`  // making the table of prefixes
	Find   time.Duration `json:"find"`   // finding candidates
	Decide time.Duration `json:"decide"` // filtering and verifying them
}

// join is a running join.
type join struct {
	s       *Session
	o       Options
	rule    *ppjoin.Rule
	sides   int             // number of collections
	records []ppjoin.Record // by mass: "The rid order in our scheme implies the length order". A record's ID is its index, counted from 1
	vectors [][]uint32
	counts  Counts
	emit    func(ppjoin.Pair) error
}

// Find emits all similar pairs of one collection, or of a record of the first and
// one of the second, each once and in any order: the pairs of ppjoin.Self and
// ppjoin.Between.
func (s *Session) Find(ctx context.Context, o Options, cs []ppjoin.Collection, emit func(ppjoin.Pair) error) (Counts, error) {
	if err := o.Validate(); err != nil {
		return Counts{}, err
	}
	rule, err := ppjoin.NewRule(o.Options, cs...)
	if err != nil {
		return Counts{}, err
	}
	j := join{s: s, o: o, rule: rule, sides: len(cs), emit: emit}
	j.read(cs)
	err = j.equal()
	for _, step := range []struct {
		do   func(context.Context) error
		took *time.Duration
	}{{j.load, &j.counts.Load}, {j.prefixes, &j.counts.Index}, {j.candidates, &j.counts.Find}, {j.decide, &j.counts.Decide}} {
		if err != nil {
			return j.counts, err
		}
		start := time.Now()
		err = step.do(ctx)
		*step.took = time.Since(start)
	}
	if err == nil {
		err = s.drop(ctx)
	}
	return j.counts, err
}

// temporary lists the tables of a join.
var temporary = []string{"neardup_raw", "neardup_record", "neardup_order", "neardup_token", "neardup_prefix", "neardup_candidate", "neardup_vector"}

func (s *Session) drop(ctx context.Context) error {
	for _, t := range temporary {
		if err := s.exec(ctx, "DROP TABLE IF EXISTS "+t); err != nil {
			return err
		}
	}
	return nil
}

// read groups equal records of a side, and leaves out records without a token of
// positive weight.
func (j *join) read(cs []ppjoin.Collection) {
	j.records = j.rule.Records(cs, false)
	slices.SortStableFunc(j.records, func(a, b ppjoin.Record) int { return cmp.Compare(a.Mass, b.Mass) })
	for i := range cs {
		j.counts.Records += int64(cs[i].Len())
	}
	j.counts.Distinct = int64(len(j.records))
}

// equal emits the pairs of equal records of one side. Equal records of two sides
// are found like others.
func (j *join) equal() error {
	for i := range j.records {
		if j.sides == 2 {
			break
		}
		if err := j.rule.EmitEqual(&j.records[i], j.pair); err != nil {
			return err
		}
	}
	return nil
}

func (j *join) pair(p ppjoin.Pair) error {
	j.counts.Pairs++
	return j.emit(p)
}

// statement fills in the names of the engine and the bounds of the measure. The
// bounds for a record's mass m, or for two masses, may be too low by the slack,
// never too high: CEIL of a float64 would lose pairs on the threshold.
func (j *join) statement(format string, replacements ...string) string {
	number := func(v float64) string {
		return "CAST(" + strconv.FormatFloat(v, 'e', -1, 64) + " AS " + j.s.e.double + ")"
	}
	bounds := func(t float64, prefix string) []string {
		real := func(m string) string { return "CAST(" + m + " AS " + j.s.e.double + ")" }
		slack := number(j.rule.Slack())
		var out []string
		add := func(name, bound string) { out = append(out, "{"+prefix+name+"}", "("+bound+" - "+slack+")") }
		for _, m := range []string{"m", "a.mass", "b.mass"} {
			var least, probing, indexing string
			switch j.o.Measure {
			case ppjoin.Jaccard:
				least, probing, indexing = number(t)+" * "+m, number(t)+" * "+m, number(2*t/(1+t))+" * "+m
			case ppjoin.Cosine:
				least, probing, indexing = number(t*t)+" * "+m, number(t*t)+" * "+m, number(t)+" * "+m
			default:
				needed := number(t * j.rule.Unit())
				least, probing, indexing = needed, needed, needed
			}
			add("least "+m, least)       // of the smallest similar record: equation 3
			add("probing "+m, probing)   // of the overlap with a smaller similar record: equation 4
			add("indexing "+m, indexing) // with a larger one: lemma 4.4
		}
		for of, m := range map[string][2]string{"alpha": {"a.mass", "b.mass"}, "alpha m": {"m1", "m2"}} {
			switch j.o.Measure { // of the overlap of two records: equation 1, section 6.1
			case ppjoin.Jaccard:
				add(of, number(t/(1+t))+" * ("+m[0]+" + "+m[1]+")")
			case ppjoin.Cosine:
				add(of, number(t)+" * sqrt("+real(m[0])+" * "+real(m[1])+")")
			default:
				add(of, number(t*j.rule.Unit()))
			}
		}
		return out
	}
	across := ""
	if j.sides == 2 {
		across = "AND a.side <> b.side"
	}
	positional := ""
	if j.o.Algorithm != ppjoin.AllPairs {
		positional = "AND {min}(a.rest, b.rest) >= {alpha} - {k}"
	}
	// The Hamming distance of two similar records is |x| + |y| - 2α at most.
	all := append([]string{"{positional}", positional, "{limit}", "CAST(floor(m1 + m2 - 2 * {alpha m}) AS INTEGER)"}, replacements...)
	s := strings.NewReplacer(all...).Replace(format)
	all = append(bounds(j.o.Threshold, ""), bounds(max(j.o.Least, 1e-300), "table ")...)
	return strings.NewReplacer(append(all, "{across}", across, "{min}", j.s.e.least, "{keyed}", j.s.e.keyed, "{double}", j.s.e.double,
		"{tokens}", j.s.e.tokens, "{suffix}", j.s.e.suffix, "{k}", strconv.Itoa(j.o.Extra), "{depth}", strconv.Itoa(j.o.MaxDepth))...).Replace(s)
}

func (j *join) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if err := j.s.exec(ctx, j.statement(s)); err != nil {
			return err
		}
	}
	return nil
}

// load makes the table of tokens: R of section 7.3. tid is a token's rank in the
// global ordering: by document frequency; for two collections by the product of
// both (7.4.2); with weights from the heaviest down (6.2). rest is the mass of the
// record's tokens from this one on.
func (j *join) load(ctx context.Context) error {
	if err := j.s.drop(ctx); err != nil {
		return err
	}
	if err := j.exec(ctx, "CREATE TEMP TABLE neardup_raw (rid INTEGER NOT NULL, side INTEGER NOT NULL, mass BIGINT NOT NULL, id BIGINT NOT NULL, w BIGINT NOT NULL)"); err != nil {
		return err
	}
	if err := j.s.e.load(ctx, j.s.c, "neardup_raw", []string{"rid", "side", "mass", "id", "w"}, func(yield func([]any) bool) {
		for i := range j.records {
			r := &j.records[i]
			for _, t := range r.Tokens {
				if !yield([]any{int64(i + 1), int64(r.Side), r.Mass, int64(t), j.rule.Mass(t)}) {
					return
				}
			}
		}
	}); err != nil {
		return j.s.failed(ctx, err)
	}
	order := "COUNT(*)"
	if j.sides == 2 {
		order = "SUM(1 - side) * SUM(side)"
	}
	if j.o.Weights != nil {
		order = "MAX(w) DESC, " + order
	}
	if err := j.exec(ctx,
		"CREATE TEMP TABLE neardup_order (id BIGINT PRIMARY KEY, tid INTEGER NOT NULL)",
		"INSERT INTO neardup_order SELECT id, ROW_NUMBER() OVER (ORDER BY "+order+", id) FROM neardup_raw GROUP BY id",
		`CREATE TEMP TABLE neardup_token (rid INTEGER NOT NULL, side INTEGER NOT NULL, mass BIGINT NOT NULL,
			tid INTEGER NOT NULL, pos INTEGER NOT NULL, rest BIGINT NOT NULL, w BIGINT NOT NULL, PRIMARY KEY (rid, tid)){keyed}`,
		`INSERT INTO neardup_token SELECT rid, side, mass, tid, ROW_NUMBER() OVER (PARTITION BY rid ORDER BY tid),
			SUM(w) OVER (PARTITION BY rid ORDER BY tid DESC), w FROM neardup_raw r JOIN neardup_order o ON r.id = o.id ORDER BY rid, tid`,
		"DROP TABLE neardup_raw", "ANALYZE neardup_token"); err != nil {
		return err
	}
	var err error
	j.counts.Tokens, err = j.s.count(ctx, "neardup_token")
	return err
}

// prefixes makes the table of prefixes, if the scheme has one.
func (j *join) prefixes(ctx context.Context) error {
	table := `CREATE TEMP TABLE neardup_prefix (rid INTEGER NOT NULL, side INTEGER NOT NULL, mass BIGINT NOT NULL,
		tid INTEGER NOT NULL, pos INTEGER NOT NULL, rest BIGINT NOT NULL, PRIMARY KEY (tid, rid)){keyed}`
	fill := "INSERT INTO neardup_prefix SELECT rid, side, mass, tid, pos, rest FROM neardup_token a WHERE rest >= %s - {k} ORDER BY tid, rid"
	bound := "{probing a.mass}"
	switch j.o.Scheme {
	case GroupBy:
		return j.exec(ctx, "CREATE INDEX neardup_token_tid ON neardup_token (tid, rid)")
	case Generic:
		bound = "{table probing a.mass}"
	}
	if err := j.exec(ctx, table, fmt.Sprintf(fill, bound), "ANALYZE neardup_prefix"); err != nil {
		return err
	}
	var err error
	j.counts.Prefixes, err = j.s.count(ctx, "neardup_prefix")
	return err
}

// candidates runs the scheme's first statement: CANDSET. a is the smaller record
// with its indexing prefix, b the larger one with its probing prefix.
func (j *join) candidates(ctx context.Context) error {
	const (
		from = ` FROM {from} a, {from} b WHERE a.tid = b.tid AND a.rid < b.rid {across}
			AND a.mass >= {least b.mass} AND a.rest >= {indexing a.mass} - {k} {positional}`
		probing = " AND b.rest >= {probing b.mass} - {k}"
		pair    = "CREATE TEMP TABLE neardup_candidate AS SELECT a.rid AS r1, b.rid AS r2, a.mass AS m1, b.mass AS m2"
	)
	table, statement := "neardup_prefix", ""
	switch j.o.Scheme {
	case Prefix:
		statement = strings.Replace(pair, "SELECT", "SELECT DISTINCT", 1) + from
	case Generic:
		statement = strings.Replace(pair, "SELECT", "SELECT DISTINCT", 1) + from + probing
	case GroupBy:
		table = "neardup_token"
		statement = pair + ", MAX(a.pos) AS x, MAX(b.pos) AS y, SUM(a.w) AS overlap" + from + probing + " GROUP BY a.rid, b.rid, a.mass, b.mass"
	case Longer:
		// Small records may need fewer than k+1 common tokens. Then the pair needs
		// as many as its bound demands.
		statement = pair + from + probing + " GROUP BY a.rid, b.rid, a.mass, b.mass HAVING COUNT(*) >= {min}({k} + 1, {alpha})"
	}
	if err := j.s.exec(ctx, j.statement(statement, "{from}", table)); err != nil {
		return err
	}
	var err error
	if j.counts.Candidates, err = j.s.count(ctx, "neardup_candidate"); err != nil {
		return err
	}
	return j.exec(ctx, "ANALYZE neardup_candidate")
}
