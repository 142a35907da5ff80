package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/paper"
	"neardup/pipeline/inputs"
	"neardup/pipeline/shorttexts"
	"neardup/screen"
)

// paperTextOptions are the flags of the experiments on short texts.
type paperTextOptions struct {
	joinOptions
	out   string
	mayBe func(name string) bool // as of writeFiles
}

// flags adds the flags of both commands.
func (o *paperTextOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&o.out, "out", "o", "", "directory for page.md, paper.json and the figures")
	f.Int64Var(&o.MaxBytes, "max-bytes", 2<<30, "of text to hold in memory")
	f.StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none")
}

// run checks the flags, reads the inputs and makes the experiment. measure returns the
// files to write.
func (o *paperTextOptions) run(c *cobra.Command, args []string, check func() error, measure func(in joinInput, begin func(string, int, int)) (map[string]func(io.Writer) error, error)) error {
	o.Workers = runtime.GOMAXPROCS(0)
	extraction, err := configs.Load("default", nil)
	if err != nil {
		return err
	}
	if o.out == "" {
		err = errors.New("--out: name a directory for the page and its figures")
	}
	p, perr := newProgress(o.progress, "text", c.ErrOrStderr())
	if err = errors.Join(err, perr); err == nil {
		err = check()
	}
	if err != nil {
		return usageError{err}
	}
	var sources []inputs.Source
	for _, name := range args {
		sources = append(sources, inputs.Source{Path: name})
	}
	if err := checkOut(o.out, sources); err != nil {
		return err
	}
	in, err := o.readFiles(c, args, extraction, p)
	if err != nil {
		return err
	}
	if err := makeOut(o.out); err != nil {
		return err
	}
	files, err := measure(in, p.variant)
	if err == nil {
		err = errors.Join(writeFiles(o.out, files, o.mayBe), files["page.md"](c.OutOrStdout()))
	}
	return errors.Join(err, in.unread)
}

// inputsBetween returns an error unless there are from one to so many inputs.
func inputsBetween(most int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError{errors.New("name a collection of texts")}
		case len(args) > most:
			return noArgs(nil, args[most:])
		}
		return nil
	}
}

func paperTODSCommand() *cobra.Command {
	o := paperTextOptions{mayBe: oneOf()} // all of its files are always made
	c := &cobra.Command{
		Use:   "tods INPUT",
		Short: "Repeat the experiments of the TODS paper on a collection of texts",
		Long: `Tods makes the tables of section 8.1 of the TODS paper (Xiao and others, Efficient
similarity joins for near-duplicate detection, 2011) for a collection of texts:

  table I     candidates of All-Pairs, ppjoin and ppjoin+
  table III   LSH: the number of min-hashes in a band
  table IV    candidates and time by MAXDEPTH
  table VII   joins of sketches (sp) and LSH (ql) against exact joins (qa, qp)

  neardup paper tods --out measured titles.tsv --tokens characters

An INPUT is one of "neardup join". --out gets page.md, paper.json and each table
as SVG. Times are of one goroutine.`,
		Args: inputsBetween(1),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c, args, func() error {
				if !c.Flags().Changed("size") && o.Tokens == configs.JoinCharacters {
					o.Size = 3
				}
				o.Measure, o.Threshold, o.Weights, o.Algorithm, o.MaxPairs = configs.JoinJaccard, 0.8, configs.JoinUnweighted, configs.JoinPPJoinPlus, 1
				if err := o.Validate(); err != nil {
					return fmt.Errorf("--%w", err)
				}
				return nil
			}, func(in joinInput, begin func(string, int, int)) (map[string]func(io.Writer) error, error) {
				var texts []string
				for _, t := range in.collections[0] {
					texts = append(texts, t.Text)
				}
				r, err := shorttexts.Joins(c.Context(), filepath.Base(args[0]), o.Join, texts, begin)
				return withPage(r.Figures(), r.WritePage, r.WriteJSON), err
			})
		},
	}
	o.flags(c)
	c.Flags().StringVar(&o.Tokens, "tokens", "words", strings.Join(configs.JoinTokens, ", "))
	c.Flags().IntVarP(&o.Size, "size", "q", 1, "consecutive units in a token; default for characters 3")
	c.Flags().BoolVar(&o.Repeats, "repeats", false, "a token counts as often as it occurs")
	return c
}

// withPage adds the page and the report to the files of an experiment.
func withPage(files map[string]func(io.Writer) error, page, report func(io.Writer) error) map[string]func(io.Writer) error {
	files["page.md"], files["paper.json"] = page, report
	return files
}

func paperSimFinderCommand() *cobra.Command {
	o := paperTextOptions{mayBe: oneOf("figure1.svg", "figure2.svg", "figure8.svg", "figure10.svg")}
	var preset, judged string
	var set []string
	var days int
	var config configs.Config
	var j shorttexts.Judgements
	var lines []shorttexts.Judged
	c := &cobra.Command{
		Use:   "simfinder INPUT [INPUT]",
		Short: "Repeat the experiments of the SimFinder paper on collections of texts",
		Long: `Simfinder makes the figures of section 4 of the SimFinder paper (Gong and others,
Detecting near-duplicates in large-scale short text databases, 2008). The paper
has two collections; the second INPUT gives the figures in brackets.

  figure 1 (2)    precision of pairs by their duplicate degree
  figures 3 to 6  recall and comparisons by gram size and by feature number
  figure 7 (8)    time by the size of the collection
  figure 9 (10)   memory, likewise

  neardup paper simfinder --out measured titles.tsv
  neardup paper simfinder --out measured titles.tsv --judged measured/pairs.tsv

--out gets page.md, paper.json, the figures as SVG, and pairs.tsv with the pairs
to be judged for figures 1 and 2: up to 200 of each interval, by equations 3 and
4. Write true or false before the first tab of a line, and give the file back
with --judged. If ids begin with days (2024-12-31), --days takes pairs at most so
many days apart for right in place of judgements.

An INPUT is one of "neardup join". Identical texts count once.`,
		Args: inputsBetween(2),
		RunE: func(c *cobra.Command, args []string) error {
			return o.run(c, args, func() (err error) {
				if config, err = configs.Load(preset, set); err != nil {
					return err
				}
				switch {
				case config.Sign.Scheme != "terms" || config.Verify.Measure != "terms":
					return errors.New("--config: the experiments are about the scheme and the measure terms")
				case c.Flags().Changed("days") && (days < 0 || judged != ""):
					return errors.New("--days: at least 0, and not beside --judged")
				}
				j = shorttexts.Judgements{Days: days}
				if lines, err = readJudged(judged); err == nil && judged == "" {
					err = checkUnjudged(filepath.Join(o.out, "pairs.tsv"))
				}
				return err
			}, func(in joinInput, begin func(string, int, int)) (map[string]func(io.Writer) error, error) {
				var collections []shorttexts.Collection
				for i, of := range in.collections {
					collection := shorttexts.Collection{Name: filepath.Base(args[i])}
					at := map[string]int{}
					for _, t := range of {
						k, ok := at[t.Text]
						if !ok {
							k = len(collection.Texts)
							at[t.Text] = k
							collection.Texts = append(collection.Texts, shorttexts.Text{Text: t.Text})
						}
						collection.Texts[k].IDs = append(collection.Texts[k].IDs, t.ID)
					}
					collections = append(collections, collection)
				}
				if judged != "" {
					var strange int
					var err error
					if j.Pairs, strange, err = shorttexts.Resolve(lines, collections); err != nil {
						return nil, usageError{fmt.Errorf("--judged %s: %w", judged, err)}
					}
					if strange > 0 {
						fmt.Fprintf(c.ErrOrStderr(), "neardup: warning: --judged %s: %d of %d judged pairs are not of two texts of a collection, and do not count\n", screen.Printable(judged), strange, len(lines))
					}
				}
				r, asked, err := shorttexts.SimFinder(c.Context(), config, collections, j, begin)
				files := withPage(r.Figures(), r.WritePage, r.WriteJSON)
				if judged == "" {
					files["pairs.tsv"] = func(w io.Writer) error { return paper.WriteAsked(w, askedCells(asked)) }
				}
				return files, err
			})
		},
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&preset, "config", "simfinder", "preset or YAML file of the scheme and the measure terms")
	f.StringArrayVar(&set, "set", nil, "setting, KEY=VALUE; may be repeated")
	f.StringVar(&judged, "judged", "", "file of judged pairs, VERDICT<TAB>ID<TAB>ID lines")
	f.IntVar(&days, "days", -1, "take pairs with days in their ids at most so far apart for right")
	return c
}

// askedCells returns the cells of the pairs to be judged.
func askedCells(asked []shorttexts.Asked) (out [][4]string) {
	for _, a := range asked {
		out = append(out, [4]string{a.A.IDs[0], a.B.IDs[0], a.A.Text, a.B.Text})
	}
	return out
}

// checkUnjudged returns an error if the file of pairs to be judged has verdicts, or is
// another file.
func checkUnjudged(name string) error {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for line := range bytes.Lines(b) {
		if !bytes.HasPrefix(line, []byte{'\t'}) {
			return fmt.Errorf("--out: %s has verdicts, and would be replaced; give it back with --judged, or name another directory", name)
		}
	}
	return err
}

// readJudged reads judged pairs. Without a name it returns nil.
func readJudged(name string) (out []shorttexts.Judged, err error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--judged: %w", err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for n := 1; in.Scan(); n++ {
		cells := strings.Split(in.Text(), "\t")
		if in.Text() == "" {
			continue
		}
		if len(cells) < 3 {
			return nil, fmt.Errorf("--judged %s: line %d is not VERDICT<TAB>ID<TAB>ID", name, n)
		}
		switch cells[0] {
		case "true", "false":
			p := shorttexts.Judged{Line: n, IDs: [2]string{cells[1], cells[2]}, Right: cells[0] == "true"}
			if len(cells) >= 5 {
				p.Texts = &[2]string{cells[3], cells[4]}
			}
			out = append(out, p)
		case "", "unknown":
		default:
			return nil, fmt.Errorf("--judged %s: line %d: %q is neither true, false nor unknown", name, n, cells[0])
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("--judged %s: %w", name, err)
	}
	return out, nil
}
