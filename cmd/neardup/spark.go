package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"neardup/configs"
	"neardup/pipeline/disk"
	"neardup/pipeline/filters"
	"neardup/pipeline/inputs"
	"neardup/pipeline/remote"
	"neardup/pipeline/spark"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// stageFilterCommand returns the command that runs a filter.
func stageFilterCommand() *cobra.Command {
	var plan, step, temp, attempts, files string
	var task, workers int
	var list strings.Builder
	for _, f := range filters.All {
		fmt.Fprintf(&list, "  %-17s %s\n", f.Name, f.Help)
	}
	c := &cobra.Command{
		Use:   "stage NAME",
		Short: "Run a part of a stage as a filter, for a cluster",
		Long: `Stage reads frames of rows from standard input and writes frames of rows to
standard output. It needs no workspace. A plan, made by neardup spark, says how
the filters follow each other. docs/format.md describes the frames. These are the
filters:

` + strings.TrimSuffix(list.String(), "\n"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("name one filter; see neardup stage --help")}
			}
			f, ok := filters.Find(args[0])
			if !ok {
				return usageError{fmt.Errorf("there is no filter %q; see neardup stage --help", args[0])}
			}
			if task < 0 || workers < 1 {
				return usageError{errors.New("--task must be at least 0, and --workers at least 1")}
			}
			if err := checkWorkers(workers); err != nil {
				return usageError{err}
			}
			p, err := spark.ReadPlan(plan)
			if err != nil {
				return usageError{fmt.Errorf("--plan: %w", err)}
			}
			if err := p.Current(); err != nil {
				return err
			}
			if step != "" {
				if err := p.HasStep(step); err != nil {
					return err
				}
			}
			dir, remove, err := disk.MkdirTemp(cmp.Or(temp, os.TempDir()))
			if err != nil {
				return usageError{err}
			}
			o := filters.Options{Config: p.Config, Partitions: p.Partitions, Task: task, Temp: dir, Workers: workers,
				Warn: func(message string) { fmt.Fprintf(c.ErrOrStderr(), "neardup: %s\n", message) }}
			if attempts != "" {
				o.Attempts = spark.Attempts{Dir: attempts, Config: p.Config, Try: tryRecord, Warn: o.Warn}
			}
			if files != "" {
				o.Exports, o.File = p.Exports, spark.ExportFile(files)
			}
			err = f.Run(c.Context(), c.InOrStdin(), c.OutOrStdout(), o)
			return errors.Join(err, remove())
		},
	}
	c.Flags().StringVar(&plan, "plan", "", "file of the plan")
	c.Flags().StringVar(&step, "step", "", "ID of the step, which the plan must have")
	c.Flags().IntVar(&task, "task", 0, "number of the task among those of its step, from 0")
	c.Flags().StringVar(&temp, "temp", "", "directory for temporary files; default that of the system")
	c.Flags().StringVar(&attempts, "attempts", "", "directory where attempts of tasks that read archives\nleave notes for the next one")
	c.Flags().StringVar(&files, "exports", "", "directory where tasks that export write their files")
	c.Flags().IntVar(&workers, "workers", 1, "number of workers")
	return c
}

func sparkCommand() *cobra.Command {
	var o workOptions
	var output, master string
	var partitions int
	var exports []string
	c := &cobra.Command{
		Use:   "spark [INPUT...]",
		Short: "Plan a run on a Spark cluster",
		Long: `Spark writes the plan of a run on a cluster into an output directory, with the
driver that runs it. It prints the steps, and the command that starts them. The
filters of neardup stage do the steps; Spark brings the program to the machines.
An INPUT is the name of an archive that every machine can open: an absolute path
on a shared file system, or a URL. If the directory has a plan already, its
archives stay, and only the steps that change are done again. docs/spark.md is the
guide.`,
		RunE: func(c *cobra.Command, args []string) error {
			if retriesNothing.MatchString(master) {
				return usageError{fmt.Errorf("--master %s fails with the first task that fails: give the number of attempts, as in local[2,4]", master)}
			}
			names, err := o.names(c, args)
			if err != nil {
				return err
			}
			for i, name := range names {
				if name == "" || inputs.IsStream(name) {
					return usageError{fmt.Errorf("%q: name archives that every machine can open", name)}
				}
				if remote.IsURL(name) {
					if err := remote.Check(name); err != nil {
						return usageError{fmt.Errorf("an input cannot be read: %w", err)}
					}
					continue
				}
				if info, err := os.Stat(name); err == nil && info.IsDir() || err != nil && strings.ContainsAny(name, "*?[") {
					return usageError{fmt.Errorf("%s: name archives, not directories or patterns", name)}
				}
				if names[i], err = filepath.Abs(name); err != nil {
					return err
				}
				if !utf8.ValidString(name) {
					return usageError{fmt.Errorf("%s: the name must be UTF-8", inputs.ShowName(name))}
				}
			}
			if err := checkDirectory("--output", output); err != nil {
				return err
			}
			before, err := spark.ReadOutput(output)
			if err != nil {
				return err
			}
			var config configs.Config
			if before != nil && o.config == "" {
				config = before.Config
				err = config.Change(o.settings())
			} else {
				config, err = configs.Load(cmp.Or(o.config, "default"), o.settings())
			}
			if err != nil {
				return usageError{err}
			}
			if partitions == 0 && before != nil {
				partitions = before.Partitions
			}
			if before != nil && !c.Flags().Changed("exports") {
				exports = before.Exports
			}
			p, err := spark.NewPlan(config, cmp.Or(partitions, spark.DefaultPartitions), exports, names, before)
			if err != nil {
				return usageError{err}
			}
			plan, driver, err := p.Write(output)
			if err != nil {
				return err
			}
			line, err := submitLine(master, driver, output)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %d steps, %d partitions\n\n", plan, len(p.Steps), p.Partitions)
			for i, s := range p.Steps {
				done, err := s.Done(output)
				if err != nil {
					return err
				}
				state := ""
				if done {
					state = ", done"
				}
				fmt.Fprintf(c.OutOrStdout(), "  %2d  %s (%d tasks%s)\n", i+1, s.Name, s.Tasks, state)
			}
			fmt.Fprintf(c.OutOrStdout(), "\nTo do the steps, and to go on after an interruption:\n\n    %s\n\nThen, on one machine:\n\n    neardup spark adopt --output %s --workspace WORKSPACE\n", line, shellWord(output))
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "neardup-output", "directory on a file system that all machines share")
	c.Flags().IntVar(&partitions, "partitions", 0, "partitions of the rows; default as before, or 200")
	c.Flags().StringSliceVar(&exports, "exports", nil, "export clusters on the cluster, one file for each partition:\njsonl, csv, parquet, contained; default as before")
	c.Flags().StringVar(&master, "master", "local[*,4]", "Spark master for the printed command: spark://HOST:PORT, yarn, …")
	o.configFlags(c)
	c.Flags().Lookup("config").Usage = "preset (see neardup config list) or YAML file;\ndefault that of the directory's plan, in a new one the preset default"
	o.inputFlags(c)
	c.AddCommand(adoptCommand())
	return c
}

// retriesNothing matches the masters of one process that give a task one attempt.
var retriesNothing = regexp.MustCompile(`^local(\[[^,]*(,\s*1\s*)?\])?$`)

// submitLine returns the command that runs the plan in an output directory.
func submitLine(master, driver, output string) (string, error) {
	program, err := os.Executable()
	words := []string{"spark-submit", "--name", "neardup", "--master", master, "--files", program}
	for _, path := range []string{driver, output} {
		path, pathErr := filepath.Abs(path)
		err = errors.Join(err, pathErr)
		words = append(words, path)
	}
	if name := filepath.Base(program); name != "neardup" {
		words = append(words, "--binary", name)
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return strings.Join(words, " "), err
}

// shellWord returns a word as a shell reads it.
func shellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

func adoptCommand() *cobra.Command {
	var o workOptions
	var output string
	c := &cobra.Command{
		Use:   "adopt",
		Short: "Take the result of a cluster into a new workspace",
		Long: `Adopt fills a new workspace with the rows in an output directory. All commands
then read the workspace as if the run had been on this machine.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkWorkspace(o.workspace); err != nil {
				return err
			}
			p, err := spark.ReadOutput(output)
			if err == nil && p == nil {
				err = usageError{fmt.Errorf("%s has no plan", output)}
			}
			if err != nil {
				return err
			}
			if err := p.Finished(output); err != nil {
				return err
			}
			progress, err := newProgress("none", "text", c.ErrOrStderr())
			if err != nil {
				return err
			}
			w, err := workspace.Open(o.workspace, stages.All, p.Config, true, workspace.Options{Progress: progress, Fatal: fatal(c)})
			if err != nil {
				return err
			}
			return errors.Join(spark.Adopt(c.Context(), p, output, w), w.Close())
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "neardup-output", "output directory of neardup spark")
	o.workspaceFlag(c)
	return c
}
