package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/results"
	"neardup/pipeline/sqljoin"
	"neardup/pipeline/textjoin"
	"neardup/pipeline/workspace"
)

// joinOptions are the flags of neardup join.
type joinOptions struct {
	textjoin.Options
	set      []string
	progress string
	format   string
	output   string

	weightsFile string // that --weights names

	engine      string
	dsn         string
	database    textjoin.Database
	tables      bool
	table       sqljoin.Table // only the columns' names are set
	outputTable string
}

// inMemory is the engine that uses no database.
const inMemory = "memory"

func (o *joinOptions) inDatabase() bool { return o.engine != inMemory }

const errJoinInterrupted interruption = "interrupted; nothing is kept of a join"

func joinCommand() *cobra.Command {
	var o joinOptions
	c := &cobra.Command{
		Use:   "join INPUT [INPUT]",
		Short: "Find all similar pairs of texts, exactly, without a workspace",
		Long: `Join finds all pairs of texts whose similarity reaches a threshold. With one
INPUT, both texts are of that collection. With two, one is of each. Join is for
titles, descriptions, catalogue records and other texts where every pair counts.
For near-duplicate pages of a crawl use neardup run.

  neardup join titles.tsv --tokens characters --threshold 0.9
  neardup join old.jsonl new.jsonl --measure cosine --weights idf
  neardup join names.tsv --measure edit --threshold 2
  neardup join notes.tsv --weights weights.tsv --algorithm ppjoinplus
  neardup join notes.tsv --measure cosine --algorithm lsh

Similarity is computed from the tokens of the texts: words in lower case, unless
--tokens says otherwise. jaccard and cosine are from 0 to 1. overlap is the
number of common tokens (with --weights their weight). hamming is the number of
tokens that only one of two texts has, edit the edit distance; the threshold is
their maximum. The result is exact. The algorithm changes only the cost (Xiao
and others, Efficient similarity joins for near-duplicate detection, 2011).
Two ways do not find all pairs: --algorithm lsh compares the pairs that share a
band of min-hashes, and finds most; --sketch joins samples of the tokens in
their place, and misses many pairs of short texts. Pairs go to standard output
or --output, sorted by id. The order of the input and the number of workers do
not matter. Counts of each filter go to standard error.

An INPUT is a text collection (ID<TAB>TEXT lines or JSON lines), a WARC, ARC or
WACZ file, a directory of such, a pattern, or - for standard input. The id of a
page is its WARC-Record-ID. All texts are in memory, at most --max-bytes of them.
The join takes several times as much, for q-grams of long texts about twenty
times.

With --engine the join is done in a database, by the statements of the same
paper's section 7, and finds the same pairs: sqlite, which is embedded, or
postgres at --dsn. INPUTs are read as above, or with --tables are tables of that
database, which hold one text a row. --output-table makes a table of the pairs.
All other tables are temporary and gone when the join ends, however it ends.

  neardup join --engine sqlite titles.tsv --threshold 0.9
  neardup join --engine postgres --dsn postgres://me@db.example/library --tables \
    catalogue --id-column number --text-column title --output-table pairs`,
		Args: joinArgs,
		RunE: func(c *cobra.Command, args []string) error {
			err := o.run(c, args)
			if err != nil && c.Context().Err() != nil {
				err = errors.Join(err, errJoinInterrupted)
			}
			return err
		},
	}
	o.flags(c.Flags())
	o.databaseFlags(c.Flags())
	return c
}

// joinArgs checks the INPUTs of neardup join.
func joinArgs(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return usageError{errors.New("nothing to join: name a collection of texts, or two")}
	case len(args) > 2:
		return noArgs(nil, args[2:])
	case len(args) == 2 && args[0] == "-" && args[1] == "-":
		return usageError{errors.New("standard input can be one of the two collections only")}
	}
	return nil
}

// list returns names as help lists them.
func list(names []string) string { return strings.Join(names, ", ") }

// flags adds the flags of all joins.
func (o *joinOptions) flags(f *pflag.FlagSet) {
	f.StringVarP(&o.Measure, "measure", "m", configs.JoinJaccard, list(configs.JoinMeasures))
	f.Float64VarP(&o.Threshold, "threshold", "t", 0, "least similarity, 0.8 for jaccard and cosine unless given;\nfor hamming and edit the greatest distance")
	f.StringVar(&o.Weights, "weights", configs.JoinUnweighted, "weights of tokens: "+list(configs.JoinWeights)+" (rare ones weigh more), or a file of\nTOKEN<TAB>WEIGHT lines; tokens that are not in it weigh 1")
	f.StringVar(&o.Tokens, "tokens", "", list(configs.JoinTokens)+": cut at white space; runs of letters and\ndigits, ideographs one by one; characters (default words, for edit characters)")
	f.IntVarP(&o.Size, "size", "q", 1, "consecutive units in a token; default for characters 3, for edit 2")
	f.BoolVar(&o.Repeats, "repeats", false, "a token counts as often as it occurs")
	f.StringVar(&o.Algorithm, "algorithm", configs.JoinAlgorithms[0], list(configs.JoinAlgorithms))
	f.IntVar(&o.MaxDepth, "max-depth", 2, "MAXDEPTH of the suffix filter of ppjoinplus")
	f.IntVar(&o.Extra, "extra", 0, "further tokens of each prefix, and further common ones demanded")
	f.BoolVar(&o.Bitmaps, "bitmaps", true, "filter by bitmaps, too (not with weights)")
	f.IntVar(&o.Sketch, "sketch", 0, "join min-wise sketches of this many tokens in place of all,\n32 in the paper; 0: all tokens. Similarities are those of\nthe sketches")
	f.IntVar(&o.Rows, "rows", 5, "min-hashes of a band of lsh")
	f.Float64Var(&o.Recall, "recall", 0.95, "share of the pairs at the threshold that lsh finds")
	f.IntVar(&o.Workers, "workers", 0, "number of workers; 0: one for each processor")
	f.Int64Var(&o.MaxBytes, "max-bytes", 2<<30, "of text to hold in memory")
	f.Int64Var(&o.MaxPairs, "max-pairs", 50_000_000, "pairs to hold in memory, 16 bytes each")
	f.StringArrayVar(&o.set, "set", nil, "setting of the extraction, extract.KEY=VALUE; may be repeated")
	f.StringVarP(&o.format, "format", "f", textjoin.Formats[0], list(textjoin.Formats)+" (to read)")
	f.StringVarP(&o.output, "output", "o", "", "file to write, whole or not at all; default standard output")
	f.StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none (no summary either)")
}

// databaseFlags adds the flags of joins in a database.
func (o *joinOptions) databaseFlags(f *pflag.FlagSet) {
	f.StringVar(&o.engine, "engine", inMemory, list(joinEngines())+"; with a flag of databases\n"+sqljoin.Engines()[0]+" unless given")
	f.StringVar(&o.dsn, "dsn", "", "the database: of sqlite a file, default none;\nof postgres postgres://USER@HOST:PORT/DATABASE")
	f.BoolVar(&o.tables, "tables", false, "each INPUT is a table of the database, TABLE or SCHEMA.TABLE")
	f.StringVar(&o.table.ID, "id-column", "id", "column of the ids, different ones")
	f.StringVar(&o.table.Text, "text-column", "text", "column of the texts")
	f.StringVar(&o.outputTable, "output-table", "", "new table for the pairs: a, b, similarity")
	f.StringVar(&o.database.Scheme, "scheme", textjoin.Schemes[0], "how a database finds candidates: "+list(textjoin.Schemes))
	f.Float64Var(&o.database.Least, "least-threshold", 0, "threshold of the prefix table of scheme "+textjoin.SchemeGeneric)
	f.StringVar(&o.database.Verify, "verify", textjoin.Places[0], "where candidates are filtered and verified: "+list(textjoin.Places)+"\n(the binary: outside)")
}

// joinEngines returns the names of the engines.
func joinEngines() []string { return append([]string{inMemory}, sqljoin.Engines()...) }

// void returns an error for the first given flag that others make void.
func (o *joinOptions) void(c *cobra.Command) error {
	edit, weighted, lsh := o.Measure == configs.JoinEdit, o.Weights != configs.JoinUnweighted, o.Algorithm == configs.JoinLSH
	for _, f := range []struct {
		name string
		void bool
		why  string
	}{
		{"repeats", edit, "edit distance compares the texts themselves"},
		{"max-depth", o.Algorithm != configs.JoinPPJoinPlus, "is of the suffix filter, --algorithm " + configs.JoinPPJoinPlus},
		{"sketch", edit, "edit distance compares the texts themselves"},
		{"extra", lsh, "is not of --algorithm " + configs.JoinLSH},
		{"bitmaps", lsh, "is not of --algorithm " + configs.JoinLSH},
		{"rows", !lsh, "is of --algorithm " + configs.JoinLSH},
		{"recall", !lsh, "is of --algorithm " + configs.JoinLSH},
		{"bitmaps", weighted, "is for tokens without weights"},
		{"bitmaps", o.inDatabase(), "is for --engine " + inMemory},
		{"extra", o.inDatabase() && o.database.Scheme != textjoin.SchemeLonger, "is in a database for --scheme " + textjoin.SchemeLonger},
		{"dsn", !o.inDatabase(), "is for a database, and --engine is " + o.engine},
		{"tables", !o.inDatabase(), "is for a database, and --engine is " + o.engine},
		{"output-table", !o.inDatabase(), "is for a database, and --engine is " + o.engine},
		{"scheme", !o.inDatabase(), "is for a database, and --engine is " + o.engine},
		{"verify", !o.inDatabase(), "is for a database, and --engine is " + o.engine},
		{"least-threshold", o.database.Scheme != textjoin.SchemeGeneric, "is for --scheme " + textjoin.SchemeGeneric},
		{"id-column", !o.tables, "is for --tables"},
		{"text-column", !o.tables, "is for --tables"},
		{"set", o.tables, "is for files, of which texts are extracted"},
		{"output", o.outputTable != "", "is not made beside --output-table"},
		{"format", o.outputTable != "", "is of what is not made beside --output-table"},
	} {
		if f.void && c.Flags().Changed(f.name) {
			return fmt.Errorf("--%s: %s", f.name, f.why)
		}
	}
	return nil
}

// checkDatabase checks the flags of a join in a database.
func (o *joinOptions) checkDatabase() error {
	within := func(flag, value string, of []string) error {
		if !slices.Contains(of, value) {
			return fmt.Errorf("--%s: there is no %q; there are %s", flag, value, strings.Join(of, ", "))
		}
		return nil
	}
	if err := cmp.Or(within("engine", o.engine, joinEngines()), within("scheme", o.database.Scheme, textjoin.Schemes),
		within("verify", o.database.Verify, textjoin.Places)); err != nil || !o.inDatabase() {
		return err
	}
	weighted := o.Weights != configs.JoinUnweighted
	switch d := o.database; {
	case o.Measure != configs.JoinJaccard && o.Measure != configs.JoinCosine && o.Measure != configs.JoinOverlap:
		return fmt.Errorf("--measure: a database joins by %s, %s and %s", configs.JoinJaccard, configs.JoinCosine, configs.JoinOverlap)
	case o.Algorithm == configs.JoinLSH:
		return fmt.Errorf("--algorithm: %s is for --engine %s", o.Algorithm, inMemory)
	case o.Sketch > 0:
		return fmt.Errorf("--sketch: is for --engine %s", inMemory)
	case weighted && o.Algorithm == configs.JoinPPJoinPlus:
		return fmt.Errorf("--algorithm: %s of a database is for tokens without weights", o.Algorithm)
	case d.Scheme == textjoin.SchemeLonger && o.Extra < 1:
		return fmt.Errorf("--extra: --scheme %s needs one, such as 1", d.Scheme)
	case d.Scheme == textjoin.SchemeLonger && weighted:
		return fmt.Errorf("--scheme: %s is for tokens without weights", d.Scheme)
	case d.Scheme == textjoin.SchemeGroupBy && d.Verify != textjoin.Places[0]:
		return fmt.Errorf("--verify: --scheme %s verifies in the %s", d.Scheme, textjoin.Places[0])
	case d.Scheme == textjoin.SchemeGeneric && !(d.Least > 0 && d.Least <= o.Threshold):
		return fmt.Errorf("--least-threshold: %v is not above 0 and at most the threshold %v", d.Least, o.Threshold)
	case o.dsn == "" && sqljoin.NeedsDSN(o.engine) != "":
		return fmt.Errorf("--dsn: %s needs one, %s", o.engine, sqljoin.NeedsDSN(o.engine))
	case o.dsn == "" && (o.tables || o.outputTable != ""):
		return errors.New("--dsn: --tables and --output-table need a database; name it")
	}
	return nil
}

// check fills in defaults and checks the flags before any work is done.
func (o *joinOptions) check(c *cobra.Command) (configs.Config, error) {
	edit, hamming := o.Measure == configs.JoinEdit, o.Measure == configs.JoinHamming
	if !c.Flags().Changed("threshold") {
		if o.Measure == configs.JoinOverlap || edit || hamming {
			return configs.Config{}, fmt.Errorf("--threshold: %s has no default, give one", o.Measure)
		}
		o.Threshold = 0.8
	}
	if edit || hamming {
		of := "edits"
		if hamming {
			of = "tokens"
		}
		if o.Distance = int(o.Threshold); float64(o.Distance) != o.Threshold {
			return configs.Config{}, fmt.Errorf("--threshold: %v is not a number of %s", o.Threshold, of)
		}
	}
	if o.Tokens == "" {
		o.Tokens = configs.JoinTokens[0]
		if edit {
			o.Tokens = configs.JoinCharacters
		}
	}
	if !c.Flags().Changed("size") {
		switch {
		case edit:
			o.Size = 2
		case o.Tokens == configs.JoinCharacters:
			o.Size = 3
		}
	}
	for _, f := range []string{"dsn", "tables", "output-table", "scheme", "verify", "least-threshold", "id-column", "text-column"} {
		if c.Flags().Changed(f) && !c.Flags().Changed("engine") {
			o.engine = sqljoin.Engines()[0]
		}
	}
	if err := o.readWeights(c.Context()); err != nil {
		return configs.Config{}, fmt.Errorf("--weights: %w", err)
	}
	if err := o.Validate(); err != nil {
		key, problem, _ := strings.Cut(err.Error(), ":")
		if key = strings.ReplaceAll(key, "_", "-"); key == "distance" {
			key = "threshold"
		}
		return configs.Config{}, fmt.Errorf("--%s:%s", key, problem)
	}
	if err := cmp.Or(o.checkDatabase(), o.void(c)); err != nil {
		return configs.Config{}, err
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if err := checkWorkers(o.Workers); err != nil {
		return configs.Config{}, err
	}
	if !slices.Contains(textjoin.Formats, o.format) {
		return configs.Config{}, fmt.Errorf("--format: there is no %q; there are %s", o.format, strings.Join(textjoin.Formats, ", "))
	}
	for _, s := range o.set {
		if !strings.HasPrefix(s, "extract.") {
			return configs.Config{}, fmt.Errorf("--set %s: a join has only settings of extract", s)
		}
	}
	return configs.Load("default", o.set)
}

// readWeights reads the file that --weights names, if it names one.
func (o *joinOptions) readWeights(ctx context.Context) error {
	if slices.Contains(configs.JoinWeights, o.Weights) || !slices.Contains(configs.JoinTokens, o.Tokens) {
		return nil
	}
	f, err := openFile(ctx, o.Weights)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %q and no such file; there are %s", o.Weights, strings.Join(configs.JoinWeights, ", "))
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	o.weightsFile = o.Weights
	if err := o.ReadWeights(f); err != nil {
		return fmt.Errorf("%s: %w", o.weightsFile, err)
	}
	return nil
}

func (o *joinOptions) run(c *cobra.Command, args []string) (err error) {
	config, err := o.check(c)
	if err != nil {
		return usageError{err}
	}
	p, err := newProgress(o.progress, "text", c.ErrOrStderr())
	if err != nil {
		return usageError{err}
	}
	read := files(o.weightsFile)
	if !strings.Contains(o.dsn, "://") {
		read = append(read, files(o.dsn)...)
	}
	if err := checkOutput("--output", o.output, "", read); err != nil {
		return err
	}
	var session *sqljoin.Session
	if o.inDatabase() {
		access := sqljoin.ReadTables
		if o.outputTable != "" {
			access = sqljoin.WriteTables
		}
		if session, err = sqljoin.Open(c.Context(), o.engine, o.dsn, access); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, session.Close()) }()
		if o.outputTable != "" {
			if err := session.CheckNew(c.Context(), o.outputTable); err != nil {
				return asNameError(err)
			}
		}
	}
	var in joinInput
	if o.tables {
		in, err = o.readTables(c, args, session)
	} else {
		in, err = o.readFiles(c, args, config, p)
	}
	if err != nil {
		return err
	}
	return errors.Join(o.join(c, session, in), in.unread)
}

// asNameError turns an error about impossible table names into a usage error.
func asNameError(err error) error {
	if errors.Is(err, sqljoin.ErrName) || errors.Is(err, sqljoin.ErrIDs) {
		return usageError{err}
	}
	return err
}

// joinInput is the input that a join has read.
type joinInput struct {
	collections [][]textjoin.Text
	counts      []results.ExtractCounts
	unread      error // error of files that could not be read; the others were
}

// add adds a collection. It returns how many bytes of text may follow.
func (in *joinInput) add(texts []textjoin.Text, counts results.ExtractCounts, left int64) int64 {
	for _, t := range texts {
		left -= int64(len(t.ID) + len(t.Text))
	}
	in.collections, in.counts = append(in.collections, texts), append(in.counts, counts)
	return left
}

func (o *joinOptions) tooMuch(name string) error {
	return fmt.Errorf("%s: %w: over --max-bytes %d", name, textjoin.ErrTooMuchText, o.MaxBytes)
}

func (o *joinOptions) readTables(c *cobra.Command, args []string, s *sqljoin.Session) (in joinInput, err error) {
	left := o.MaxBytes
	for _, arg := range args {
		t := o.table
		t.Name = arg
		texts, counts, err := textjoin.ReadTable(c.Context(), s, t, left)
		if errors.Is(err, textjoin.ErrTooMuchText) {
			return in, o.tooMuch(arg)
		}
		if err != nil {
			return in, asNameError(err)
		}
		left = in.add(texts, counts, left)
	}
	return in, nil
}

func (o *joinOptions) readFiles(c *cobra.Command, args []string, config configs.Config, p *progress) (in joinInput, err error) {
	find := workOptions{}
	if slices.ContainsFunc(args, inputs.IsStream) { // it is copied to a file
		dir, remove, err := disk.MkdirTemp(os.TempDir())
		if err != nil {
			return in, err
		}
		defer func() { _ = remove() }()
		find.workspace = dir
	}
	var sources [][]inputs.Source
	for _, arg := range args {
		found, err := find.inputs(c, []string{arg}, config, p)
		if err != nil {
			return in, err
		}
		sources = append(sources, found)
	}
	if err := checkOutput("--output", o.output, "", slices.Concat(sources...)); err != nil {
		return in, err
	}
	left := o.MaxBytes
	for i, s := range sources {
		texts, counts, err := textjoin.Read(c.Context(), s, config.Extract, left, o.Workers, p)
		switch {
		case errors.Is(err, textjoin.ErrTooMuchText):
			return in, o.tooMuch(args[i])
		case errors.Is(err, workspace.ErrInputFailure) && counts.Records > 0:
			in.unread = errors.Join(in.unread, err)
		case err != nil:
			return in, err
		}
		left = in.add(texts, counts, left)
	}
	return in, nil
}

func (o *joinOptions) join(c *cobra.Command, session *sqljoin.Session, in joinInput) error {
	var result textjoin.Result
	var err error
	if session != nil {
		result, err = textjoin.JoinIn(c.Context(), session, o.database, o.Options, in.collections...)
	} else {
		result, err = textjoin.Join(c.Context(), o.Options, in.collections...)
	}
	if errors.Is(err, textjoin.ErrTooManyPairs) {
		return fmt.Errorf("%w (--max-pairs)", err)
	}
	if err != nil {
		return err
	}
	write := func(out io.Writer) error { return result.Write(out, o.format) }
	switch {
	case o.outputTable != "":
		err = session.Write(c.Context(), o.outputTable, result.Rows())
	case o.output == "" || o.output == "-":
		err = write(c.OutOrStdout())
	default:
		err = exports.ExportFile(o.output, write)
	}
	if err == nil && o.progress != "none" {
		err = result.WriteSummary(c.ErrOrStderr(), in.counts...)
	}
	return err
}
