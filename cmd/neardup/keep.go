package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"neardup/keep"
	"neardup/pipeline/inputs"
	"neardup/uris"
)

// keepFlags are the flags that choose which pages are redundant.
type keepFlags struct {
	rules                     keep.Rules
	policy, every, exemptList string
	hosts, exempt             []string
	listed                    []string // by exemptList, which may be a pipe, so it is read once
	listedSHA256              string
	storedHosts               bool
}

func (k *keepFlags) add(c *cobra.Command) {
	f := c.Flags()
	k.rules = keep.Default()
	f.StringVar(&k.policy, "policy", string(k.rules.Policy), "which page to prefer: "+names(keep.Policies)+" (by the scores of neardup prefer)")
	f.StringSliceVar(&k.hosts, "prefer-host", nil, "hosts whose pages, and those of their subdomains, are kept whatever the policy; earlier hosts first;\ncomma-separated, may be repeated")
	f.BoolVar(&k.storedHosts, "stored-hosts", true, "also prefer the hosts of neardup prefer, behind those of --prefer-host")
	f.Float64Var(&k.rules.Resemblance, "min-resemblance", k.rules.Resemblance, "a page is redundant only if it reaches this resemblance to a page that is kept")
	f.IntVar(&k.rules.MaxLost, "max-lost", k.rules.MaxLost, "... and loses at most this many characters; -1: any number")
	f.IntVar(&k.rules.MinText, "min-text", k.rules.MinText, "... or has the payload of a page that is kept, if it has fewer bytes of text than this")
	f.BoolVar(&k.rules.Contained, "contained", false, "... or if a kept page of its cluster has this share of its text, and any other text")
	f.BoolVar(&k.rules.SameURI, "same-uri", false, "a page is redundant only because of another capture of its URI")
	f.BoolVar(&k.rules.SameHost, "same-host", false, "a page is redundant only because of a page of its host")
	f.StringVar(&k.every, "every", "", "a page is redundant only because of a page of the same "+names(keep.Periods))
	f.StringArrayVar(&k.exempt, "exempt", nil, "keep pages whose URI is as this pattern, in which * stands for any characters, or whose host it is; may be repeated")
	f.StringVar(&k.exemptList, "exempt-list", "", "file of such patterns, one on each line")
	f.BoolVar(&k.rules.AllowLostURIs, "allow-lost-uris", false, "a URI may lose all its captures in a cluster")
}

// parse returns the rules that the flags give.
func (k *keepFlags) parse(ctx context.Context) (keep.Rules, error) {
	r := k.rules
	if !slices.Contains(keep.Policies, keep.Policy(k.policy)) {
		return r, fmt.Errorf("--policy: there is no %q; there are %s", k.policy, names(keep.Policies))
	}
	if k.every != "" && !slices.Contains(keep.Periods, keep.Period(k.every)) {
		return r, fmt.Errorf("--every: there is no %q; there are %s", k.every, names(keep.Periods))
	}
	if !(r.Resemblance > 0 && r.Resemblance <= 1) {
		return r, fmt.Errorf("--min-resemblance: %v, must be above 0 and at most 1", r.Resemblance)
	}
	if r.MaxLost < -1 {
		return r, fmt.Errorf("--max-lost: %d, must be at least -1", r.MaxLost)
	}
	if r.MinText < 0 {
		return r, fmt.Errorf("--min-text: %d, must be at least 0", r.MinText)
	}
	for _, h := range k.hosts {
		if !uris.IsHost(strings.Trim(uris.CanonicalHost(h), "[]")) {
			return r, fmt.Errorf("--prefer-host: %q is no host", h)
		}
	}
	for i, p := range k.exempt {
		k.exempt[i] = strings.TrimSpace(p)
	}
	if slices.Contains(k.exempt, "") { // a variable without a value would exempt nothing
		return r, errors.New("--exempt is empty")
	}
	r.Hosts = r.Hosts.Then(k.hosts...)
	r.Policy, r.Every = keep.Policy(k.policy), keep.Period(k.every)
	if k.exemptList != "" && k.listed == nil {
		f, err := openFile(ctx, k.exemptList)
		if err != nil {
			return r, fmt.Errorf("--exempt-list: %w", err)
		}
		defer func() { _ = f.Close() }()
		h := sha256.New()
		k.listed, err = inputs.ReadList(io.TeeReader(f, h))
		if err != nil {
			return r, fmt.Errorf("--exempt-list: %s: %w", k.exemptList, err)
		}
		if len(k.listed) == 0 {
			return r, fmt.Errorf("--exempt-list: %s has no pattern", k.exemptList)
		}
		k.listedSHA256 = fmt.Sprintf("%x", h.Sum(nil))
	}
	r.Exempt = keep.NewPatterns(slices.Concat(k.exempt, k.listed)...)
	r.Named = keep.Named{Hosts: k.hosts, Exempt: k.exempt, ExemptSHA256: k.listedSHA256, ExemptListed: len(k.listed)}
	return r, nil
}

// names lists names.
func names[S ~string](of []S) string {
	var all []string
	for _, n := range of {
		all = append(all, string(n))
	}
	return strings.Join(all, ", ")
}
