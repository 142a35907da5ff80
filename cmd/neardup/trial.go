package main

import "github.com/spf13/cobra"

// trialOptions are the flags of commands that run all stages several times.
type trialOptions struct {
	workOptions
	truth string
	out   string
}

// flags adds these flags to a command that writes the named files into the
// directory --out.
func (o *trialOptions) flags(c *cobra.Command, files string) {
	o.workFlags(c)
	o.inputFlags(c)
	f := c.Flags()
	workspace := f.Lookup("workspace")
	workspace.Usage = "workspace to work in, and to go on in after an interruption;\ndefault a temporary one"
	workspace.DefValue, o.workspace = "", ""
	f.StringVar(&o.truth, "truth", "", "prefix of the two files of labels")
	f.StringVarP(&o.out, "out", "o", "", "directory for "+files)
}
