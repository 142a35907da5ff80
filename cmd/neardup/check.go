package main

import (
	"errors"

	"github.com/spf13/cobra"

	"neardup/pipeline/checking"
	"neardup/pipeline/workspace"
)

// errDamaged reports that a check found damage.
var errDamaged = errors.New("the workspace is damaged; put a copy of it back, or start a new one")

// errExports reports that it found no other damage than that of exports.
var errExports = errors.New("exports are damaged, and nothing else; neardup run writes them again")

func checkCommand() *cobra.Command {
	var o workOptions
	c := &cobra.Command{
		Use:   "check",
		Short: "Look for damage in a workspace",
		Long: `Check reads all of a workspace and looks for damage: the checksums of all blocks of
the database, what the stages noted of their tables, what the tables say of each
other, texts against their digests, and exports against the database. It ends with
1 if something is wrong. It changes nothing, except that it makes a lost manifest
again, and that the database removes files of runs that were stopped.
docs/reliability.md says what it finds.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.check(c) },
	}
	o.workspaceFlag(c)
	o.tempFlag(c)
	return c
}

func (o *workOptions) check(c *cobra.Command) error {
	r, err := checking.Check(c.Context(), o.workspace, func() (*workspace.Workspace, error) {
		j, err := o.open(c, false, nil)
		if err != nil {
			return nil, err
		}
		return j.Workspace, nil
	})
	if err != nil {
		return err
	}
	for _, p := range r.Problems {
		say(c, "damaged: %s", p)
	}
	if r.More > 0 {
		say(c, "and %d more", r.More)
	}
	for _, n := range r.Notes {
		say(c, "not checked: %s", n)
	}
	say(c, "checked %d files of the database, %d rows, %d exports", r.Files, r.Rows, r.Exports)
	switch {
	case len(r.Problems) == 0:
		return nil
	case r.OnlyExports:
		return errExports
	}
	return errDamaged
}
