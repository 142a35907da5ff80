package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"neardup/configs"
	"neardup/pipeline/costs"
	"neardup/pipeline/disk"
	"neardup/pipeline/exports"
	"neardup/pipeline/inputs"
	"neardup/pipeline/preferences"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/report"
	"neardup/screen"
)

// workOptions are the flags of commands that work in a workspace.
type workOptions struct {
	workspace string
	config    string
	set       []string
	pages     string
	workers   int
	progress  string
	lists     []string
	temp      string
	leaveFree string
	metrics   string
	log       string
	read      bool // the command only reads the workspace, or can work without writing
	finished  bool // and shows what the last finished run left rather than nothing
	clusters  bool // the command does the stage cluster
}

const defaultWorkspace = "neardup-workspace"

func (o *workOptions) workspaceFlag(c *cobra.Command) {
	c.Flags().StringVarP(&o.workspace, "workspace", "w", defaultWorkspace, "directory that keeps everything between commands")
}

func (o *workOptions) configFlags(c *cobra.Command) {
	c.Flags().StringVarP(&o.config, "config", "c", "", "preset (see neardup config list) or YAML file;\ndefault the workspace's own config, in a new one the preset default")
	c.Flags().StringArrayVar(&o.set, "set", nil, "setting to change in the config, SECTION.KEY=VALUE; may be repeated")
	c.Flags().StringVar(&o.pages, "pages", "", "pages to compare: all, or topic (without navigation pages);\nshort for --set text.pages=...")
}

func (o *workOptions) workFlags(c *cobra.Command) {
	o.workspaceFlag(c)
	o.configFlags(c)
	c.Flags().IntVar(&o.workers, "workers", 0, "number of workers; 0: one for each processor")
	c.Flags().StringVar(&o.progress, "progress", "auto", "auto, bar, plain, json or none")
	o.diskFlags(c)
	o.watchFlags(c)
}

// watchFlags are the flags of commands that others watch.
func (o *workOptions) watchFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.log, logFlag, "text", "log lines and the error that ends the command as text or json")
	c.Flags().StringVar(&o.metrics, "metrics", "", "address and port, such as 127.0.0.1:9420, at which Prometheus\nfinds figures of the command under /metrics")
}

// logFlag is the flag that the end of the program reads, too.
const logFlag = "log"

func (o *workOptions) diskFlags(c *cobra.Command) {
	o.tempFlag(c)
	c.Flags().StringVar(&o.leaveFree, "leave-free", "0", "disk space, such as 10GB, that a stage must leave free by its\nestimate, or it is not begun; off: no estimate stops it")
}

func (o *workOptions) tempFlag(c *cobra.Command) {
	c.Flags().StringVar(&o.temp, "temp", "", "directory for temporary files; default the workspace's own, and\nthat of the system (TMPDIR) for what must stay out of it")
}

// spared returns the bytes of --leave-free.
func (o *workOptions) spared() (int64, error) {
	if o.leaveFree == "off" {
		return workspace.NoLimit, nil
	}
	return parseSize("--leave-free", cmp.Or(o.leaveFree, "0"), "10GB")
}

// checkTemp checks --temp.
func (o *workOptions) checkTemp() error {
	if o.temp == "" {
		return nil
	}
	if info, err := os.Stat(o.temp); err != nil || !info.IsDir() {
		return fmt.Errorf("--temp: %s is no directory", o.temp)
	}
	made, err := os.MkdirTemp(o.temp, disk.Temporary)
	if err == nil {
		err = os.Remove(made)
	}
	if err != nil {
		return fmt.Errorf("--temp: nothing can be written there: %w", err)
	}
	return nil
}

// maxWorkers is more than any machine has processors. What workers hold in memory is not
// counted one by one.
const maxWorkers = 4096

// checkWorkers checks --workers.
func checkWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("--workers: %d is not from 0 to %d", n, maxWorkers)
	}
	return nil
}

func (o *workOptions) inputFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.lists, "source-file-list", nil, "file of input names, one on each line; - for standard input; may be repeated")
}

// settings returns the settings to apply over the config.
func (o *workOptions) settings() []string {
	if o.pages == "" {
		return o.set
	}
	return append(slices.Clone(o.set), "text.pages="+o.pages)
}

// checkPages checks --pages.
func (o *workOptions) checkPages() error {
	for _, s := range o.set {
		if o.pages != "" && strings.HasPrefix(s, "text.pages=") {
			return fmt.Errorf("--pages is short for --set text.pages; give one of them")
		}
	}
	return nil
}

// load returns the config of a command with the settings applied: the named preset
// or file, otherwise the workspace's own config, otherwise default.
func (o *workOptions) load(c *cobra.Command) (configs.Config, error) {
	if err := o.checkPages(); err != nil {
		return configs.Config{}, usageError{err}
	}
	name := o.config
	if name == "" {
		if err := o.restore(c); err != nil { // the manifest has the config
			return configs.Config{}, err
		}
		m, err := workspace.ReadManifest(o.workspace)
		if err == nil && m.Config != nil {
			config := *m.Config
			err := config.Change(o.settings())
			return config, asUsage(err)
		}
		name = "default"
	}
	config, err := await(c.Context(), func() (configs.Config, error) { return configs.Load(name, o.settings()) })
	return config, asUsage(err)
}

// checkQuality returns an error if the config names a file of scores that cannot be read
// or has a wrong line. The stage cluster would notice it only after the stages before it.
func checkQuality(c configs.Config) error {
	return preferences.CheckFile(c.Cluster.Quality)
}

// checkWorkspace returns a usage error if something else than a directory is at dir.
func checkWorkspace(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, syscall.ENOTDIR) {
		return usageError{fmt.Errorf("--workspace: %s is below a file", dir)}
	} else if err != nil {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usageError{fmt.Errorf("--workspace: %s is a link to nothing", dir)}
	case err == nil && !info.IsDir():
		return usageError{fmt.Errorf("--workspace: %s is no directory", dir)}
	}
	return nil
}

// emptyPlace returns an error if a flag that names a file or a directory has an empty
// value, such as a variable that is not set: it would be as if it were not given.
func emptyPlace(c *cobra.Command) error {
	for _, name := range []string{"attempts", "audit", "config", "dir", "judged", "out", "output", "plan", "source-file-list", "svg", "temp", "truth"} {
		f := c.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if slices.Contains(values, "") {
			return fmt.Errorf("--%s is empty", name)
		}
	}
	return nil
}

// restore makes the workspace's manifest again if it was lost, and says so.
func (o *workOptions) restore(c *cobra.Command) error {
	if err := checkWorkspace(o.workspace); err != nil {
		return err
	}
	restored, err := workspace.Restore(o.workspace, stages.All)
	if restored {
		o.warn(c, o.workspace+": "+workspace.Restored)
	}
	return err
}

func asUsage(err error) error {
	if err != nil {
		return usageError{err}
	}
	return nil
}

// job is an open workspace with its inputs and progress.
type job struct {
	*workspace.Workspace
	inputs   []inputs.Source
	progress *progress
}

var errNoDirectory = errors.New("--workspace: name a directory")

// open opens the workspace with the command's config. If the command has inputs, it
// creates the workspace. It finds the inputs first, so that a wrong call leaves no
// workspace behind.
func (o *workOptions) open(c *cobra.Command, takesInputs bool, args []string) (_ *job, err error) {
	config, err := o.load(c)
	if err != nil {
		return nil, err
	}
	if o.clusters {
		if err := checkQuality(config); err != nil {
			return nil, usageError{err}
		}
	}
	if err := checkWorkers(o.workers); err != nil {
		return nil, usageError{err}
	}
	if o.workspace == "" {
		return nil, usageError{errNoDirectory}
	}
	if err := checkWorkspace(o.workspace); err != nil { // a named config restores nothing
		return nil, err
	}
	leaveFree, err := o.spared()
	if err := errors.Join(err, o.checkTemp()); err != nil {
		return nil, usageError{err}
	}
	p, err := newProgress(cmp.Or(o.progress, "none"), cmp.Or(o.log, "text"), c.ErrOrStderr())
	if err != nil {
		return nil, usageError{err}
	}
	if p.meters, err = serveMeters(c.Context(), o.metrics, o.workspace); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.meters.close())
		}
	}()
	if p.meters != nil {
		o.warnOfOthers(c, p.meters.at, "sees the figures of the command, but no URI and no text")
		p.info("metrics", "url", p.meters.url())
	}
	names, err := o.names(c, args)
	if err != nil {
		return nil, err
	}
	j := &job{progress: p}
	spool := slices.ContainsFunc(names, inputs.IsStream) // standard input is copied into the workspace
	if !spool {
		if j.inputs, err = o.inputs(c, names, config, p); err != nil {
			return nil, err
		}
	}
	j.Workspace, err = workspace.Open(o.workspace, stages.All, config, len(names) > 0, workspace.Options{
		Workers:   o.workers,
		Progress:  p,
		Read:      o.read,
		Finished:  o.finished,
		Temp:      o.temp,
		LeaveFree: leaveFree,
		Costs:     costs.New(),
		Try:       tryRecord,
		Fatal:     fatal(c),
	})
	if takesInputs && len(names) == 0 && errors.Is(err, workspace.ErrNoWorkspace) {
		err = usageError{fmt.Errorf("nothing to read: name a file, a directory or a pattern (%w)", err)}
	}
	if err != nil {
		return nil, err
	}
	last, finished := j.ReadConfig()
	if last != nil && o.config == "" { // config may be that of a run after it
		config = *last
		if err := config.Change(o.settings()); err != nil {
			return nil, errors.Join(asUsage(err), j.Close())
		}
		j.Workspace = j.With(config)
	}
	if finished {
		o.warn(c, fmt.Sprintf("the last run in %s has not ended; what is read is what the run before it left", o.workspace))
	}
	if spool {
		if j.inputs, err = o.inputs(c, names, config, p); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	return j, nil
}

// say writes a line of text for people to standard output.
func say(c *cobra.Command, format string, args ...any) {
	fmt.Fprintln(c.OutOrStdout(), screen.Lines(fmt.Sprintf(format, args...)))
}

// warn writes a warning in the format of --log, whatever --progress is.
func (o *workOptions) warn(c *cobra.Command, message string) {
	if o.log == "json" {
		slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil)).Warn(message)
		return
	}
	fmt.Fprintf(c.ErrOrStderr(), "neardup: warning: %s\n", screen.Printable(message))
}

const inputHelp = `An INPUT is one of these:

  a WARC or ARC file      plain or compressed with gzip, zstd or lz4
  a text collection       ID<TAB>TEXT lines or JSON lines, compressed likewise
  a WACZ file
  a directory             its archives at all levels, but no text collections
  a pattern               such as 'crawl-*.warc.gz'
  https://... http://...  one of these files on a web server
  s3://BUCKET/KEY         one in an object store, or all archives whose keys begin
                          with KEY; credentials, region and endpoint as the AWS
                          tools have them
  -                       standard input

The workspace keeps its inputs, and the command adds new ones. Without INPUT, the
command continues with the inputs of the workspace.`

func runCommand() *cobra.Command {
	o := workOptions{clusters: true}
	var show int
	c := &cobra.Command{
		Use:   "run [INPUT...]",
		Short: "Run all stages and show the clusters",
		Long: `Run does all stages that are not up to date. It writes the exports into the
workspace, and prints the largest clusters and the summary.

` + inputHelp,
		RunE: func(c *cobra.Command, args []string) error {
			if show < 0 {
				return usageError{fmt.Errorf("--show: %d is negative", show)}
			}
			j, err := o.open(c, true, args)
			if err != nil {
				return err
			}
			return errors.Join(o.run(c, j, show), j.Close())
		},
	}
	o.workFlags(c)
	o.inputFlags(c)
	c.Flags().IntVar(&show, "show", 10, "clusters to print, the largest first")
	return c
}

func (o *workOptions) run(c *cobra.Command, j *job, show int) error {
	names := stages.Names()
	failure := j.Run(c.Context(), names[0], names[len(names)-1], j.inputs)
	if failure != nil && !errors.Is(failure, workspace.ErrInputFailure) {
		return failure
	}
	summary, largest, err := exports.WriteAll(c.Context(), j.Workspace, show)
	if err != nil {
		return err
	}
	for _, cl := range largest {
		if err := report.WriteText(c.OutOrStdout(), cl, 8); err != nil {
			return err
		}
	}
	if err := summary.WriteText(c.OutOrStdout()); err != nil {
		return err
	}
	say(c, "\nAll clusters: %s", filepath.Join(o.workspace, "exports", "clusters.jsonl"))
	return failure
}

var stageHelp = map[string][2]string{
	workspace.StageExtract: {"Read archives and keep the visible text of their pages", inputHelp},
	workspace.StageSign:    {"Compute the signatures of the texts", "Sign computes up to n*m signatures for every text that has none yet."},
	workspace.StageCluster: {"Group texts that share signatures into perhaps-similar sets", "Cluster lists the texts that share a signature, and merges the lists by their\nrepresentatives."},
	workspace.StageVerify:  {"Compare the texts of each set and close near pairs into clusters", "Verify filters and scores the pairs of each perhaps-similar set."},
}

func stageCommand(name string) *cobra.Command {
	o := workOptions{clusters: name == workspace.StageCluster}
	c := &cobra.Command{
		Use:   name,
		Short: stageHelp[name][0],
		Long:  stageHelp[name][0] + ".\n\n" + stageHelp[name][1],
		Args:  cobra.NoArgs,
	}
	first := name == stages.Names()[0]
	if first {
		c.Use, c.Args = name+" [INPUT...]", nil
		o.inputFlags(c)
	} else {
		c.Args = noArgs
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		j, err := o.open(c, first, args)
		if err != nil {
			return err
		}
		return errors.Join(j.Run(c.Context(), name, name, j.inputs), j.Close())
	}
	o.workFlags(c)
	return c
}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%q is one argument too many", args[0])}
	}
	return nil
}

func configCommand() *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Show presets", Args: noCommand, RunE: showHelp}
	c.AddCommand(&cobra.Command{
		Use:   "show [NAME]",
		Short: "Print a preset, " + strings.Join(configs.Names(), ", "),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return noArgs(c, args[1:])
			}
			b, err := configs.Preset(append(args, "default")[0])
			if err != nil {
				return usageError{err}
			}
			_, err = c.OutOrStdout().Write(b)
			return err
		},
	}, &cobra.Command{
		Use:   "list",
		Short: "List the presets",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(c.OutOrStdout(), strings.Join(configs.Names(), "\n"))
			return err
		},
	}, curvesCommand())
	return c
}
