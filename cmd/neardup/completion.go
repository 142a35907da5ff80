package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"neardup/configs"
	"neardup/keep"
	"neardup/pipeline/exports"
	"neardup/pipeline/reading"
	"neardup/pipeline/textjoin"
)

// completeFlags registers the completions of flag values for a command and its
// subcommands. "neardup completion" prints the shells' scripts.
func completeFlags(c *cobra.Command) {
	values := map[string][]string{
		"config":     configs.Names(),
		"methods":    configs.Names(),
		"pages":      {"all", "topic"},
		"progress":   {"auto", "bar", "plain", "json", "none"},
		"log":        {"text", "json"},
		"policy":     strings.Split(names(keep.Policies), ", "),
		"every":      strings.Split(names(keep.Periods), ", "),
		"measure":    configs.JoinMeasures,
		"weights":    configs.JoinWeights,
		"tokens":     configs.JoinTokens,
		"algorithm":  configs.JoinAlgorithms,
		"population": {"pages", "verified"},
		"clean":      {"main", "none"},
		"parts":      reading.TextParts,
		"engine":     joinEngines(),
		"scheme":     textjoin.Schemes,
		"verify":     textjoin.Places,
	}
	formats := map[string][]string{"export": exports.Names(""), "join": textjoin.Formats, "labels": {"labels", "truth"}}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		known := values[f.Name]
		if f.Name == "format" {
			known = formats[c.Name()]
		}
		list := func() []string { return known }
		what := cobra.ShellCompDirectiveNoFileComp
		switch f.Name {
		case "config", "methods":
			what = cobra.ShellCompDirectiveDefault // files, too
		case "set", "vary":
			list = settings // takes longer than all other commands need to start
			what |= cobra.ShellCompDirectiveNoSpace
		default:
			if known == nil {
				return
			}
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return complete(list(), typed), what
		}) // fails only for unknown or repeated flags
	})
	for _, sub := range c.Commands() {
		completeFlags(sub)
	}
}

// complete returns the values that begin with what is typed. In a list, the values
// before the last comma stay.
func complete(values []string, typed string) (out []string) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	for _, v := range values {
		if strings.HasPrefix(before+v, typed) {
			out = append(out, before+v)
		}
	}
	return out
}

// settings returns the completions of --set and --vary.
func settings() []string {
	schemes, searches, measures := configs.Parts()
	return settingNames(map[string][]string{"sign.scheme": schemes, "cluster.search": searches, "verify.measure": measures})
}

// settingNames returns all settings as SECTION.KEY=. Those that name a part come
// with their values.
func settingNames(values map[string][]string) (all []string) {
	c, err := configs.Load("default", nil)
	if err != nil {
		return nil
	}
	b, err := json.Marshal(c)
	if err != nil {
		return nil
	}
	var walk func(prefix string, b json.RawMessage)
	walk = func(prefix string, b json.RawMessage) {
		var section map[string]json.RawMessage
		if json.Unmarshal(b, &section) == nil {
			for key, value := range section {
				walk(prefix+"."+key, value)
			}
			return
		}
		key := prefix[1:]
		if values[key] == nil {
			all = append(all, key+"=")
		}
		for _, v := range values[key] {
			all = append(all, key+"="+v)
		}
	}
	walk("", b)
	slices.Sort(all)
	return all
}
