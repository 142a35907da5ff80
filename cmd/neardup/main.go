// Neardup finds the near-duplicate pages of a web archive.
//
// Results go to standard output or to --output; progress, warnings and errors
// go to standard error, as a bar on a terminal and as lines elsewhere.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"neardup/pipeline/disk"
	"neardup/pipeline/inputs"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
	"neardup/screen"
)

// The exit codes, as documented in README.md and neardup --help.
const (
	exitOK          = 0
	exitFailure     = 1   // any error without an exit code of its own
	exitUsage       = 2   // a wrong option, config or argument; nothing was done
	exitInput       = 3   // everything was done, but some input could not be read
	exitInUse       = 4   // another process holds the workspace
	exitWorkspace   = 5   // no workspace, or one of another version
	exitDiskFull    = 6   // no space left; everything committed is safe
	exitInterrupted = 130 // SIGINT, SIGTERM or SIGHUP; running again resumes
)

func main() {
	crashLoudly()
	log.SetOutput(io.Discard) // net/http writes there what servers do wrong, in no format of --log
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main without os.Exit: it returns the exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as by nohup
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	defer stop()
	defer context.AfterFunc(ctx, func() {
		signal.Ignore(syscall.SIGHUP) // a terminal that closes may send two
		stop()                        // another signal ends the process at once
	})()
	c := rootCommand()
	c.SetArgs(args)
	c.SetIn(stdin)
	c.SetOut(stdout)
	c.SetErr(stderr)
	did, err := c.ExecuteContextC(ctx)
	err = disk.Explain(err)
	code := exitCode(ctx, err)
	if err == nil {
		return code
	}
	writeError(did, code, err)
	return code
}

// writeError writes the error that ends a command in the format of --log.
func writeError(c *cobra.Command, code int, err error) {
	message := errorText(code, err)
	if f := c.Flags().Lookup(logFlag); f != nil && f.Value.String() == "json" {
		slog.New(slog.NewJSONHandler(c.ErrOrStderr(), nil)).Error(message, "exit_code", code)
		return
	}
	fmt.Fprintf(c.ErrOrStderr(), "neardup: %s\n", message)
}

// fatal returns a function that ends the program because the database cannot go on.
func fatal(c *cobra.Command) func(error) {
	return func(err error) {
		err = disk.Explain(err)
		code := exitCode(context.Background(), err)
		writeError(c, code, err)
		os.Exit(code)
	}
}

// errorText returns what the program says of the error that ends it.
func errorText(code int, err error) string {
	var left interruption
	switch {
	case code == exitInterrupted && errors.As(err, &left):
		return left.Error()
	case code == exitInterrupted && errors.Is(err, inputs.ErrStream):
		return "interrupted; nothing of standard input is kept, so it must be piped again"
	case code == exitInterrupted:
		return "interrupted; everything committed is kept. Run the same command again to go on."
	}
	return strings.TrimPrefix(screen.Lines(err.Error()), workspace.ErrUsage.Error()+": ")
}

// interruption says what an interruption leaves, if that is not all that was committed.
type interruption string

func (i interruption) Error() string { return string(i) }

// usageError reports a wrong call of the program.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func exitCode(ctx context.Context, err error) int {
	var usage usageError
	var argument *inputs.ArgumentError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, disk.ErrFull):
		return exitDiskFull
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &argument), errors.Is(err, workspace.ErrUsage):
		return exitUsage
	case errors.Is(err, workspace.ErrInputFailure):
		return exitInput
	case errors.Is(err, workspace.ErrInUse):
		return exitInUse
	case errors.Is(err, workspace.ErrNoWorkspace), errors.Is(err, workspace.ErrOtherFormat):
		return exitWorkspace
	}
	return exitFailure
}

// noCommand and showHelp are for commands that only have subcommands.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unknown command %q for %q; see %s --help", args[0], c.CommandPath(), c.CommandPath())}
	}
	return nil
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil {
				err = noCommand(c, rest)
			}
			if err != nil {
				return err
			}
			return c.Help()
		},
	}
}

func rootCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "neardup",
		Short: "Find the near-duplicate pages of a web archive",
		Long: `Neardup finds the near-duplicate pages of a web archive. It reads crawls
(WARC), extracts the visible text of the pages, and groups those whose main
content is the same. Every member of a cluster carries a verified score.

  neardup run CRAWL.warc.gz            all stages, and the clusters to read
  neardup export --format csv          the clusters again, in another format
  neardup status                       what is done, what is stale and why

Exit codes: 0 done; 1 failure; 2 wrong use, or what is needed is not up to date:
nothing was done; 3 done, but some input could not be read; 4 workspace in use; 5 no
workspace, or one of another version; 6 disk full; 130 interrupted, run again to go on.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       programBuild().Version,
		Args:          noCommand,
		RunE:          showHelp,
	}
	c.SetHelpCommand(helpCommand(c))
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.AddCommand(runCommand())
	for _, name := range stages.Names() {
		c.AddCommand(stageCommand(name))
	}
	c.AddCommand(exportCommand(), reportCommand(), serveCommand(), auditCommand(), statusCommand(), explainCommand(), lookupCommand(), preferCommand(), removeCommand(), compactCommand(), checkCommand(), configCommand(),
		sweepCommand(), compareCommand(), paperCommand(), joinCommand(), textCommand(), stageFilterCommand(), sparkCommand(), versionCommand(), manCommand(), tryCommand())
	memoryFlag(c)
	completeFlags(c)
	return c
}
