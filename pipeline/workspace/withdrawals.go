package workspace

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"neardup/extract"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
)

// TableWithdrawn lists what was withdrawn from the workspace and has to stay out.
// It belongs to no stage, so no run clears it.

// Withdrawal removes captures: those of one input, or those whose URI matches a
// pattern, in every input, past and future.
type Withdrawal struct {
	Input    string `json:"input,omitempty"`  // path of the source
	Size     int64  `json:"size,omitempty"`   // size and sample of the file: the same content stays out under any name
	Sample   string `json:"sample,omitempty"` // digest of parts of the file
	URI      string `json:"uri,omitempty"`    // pattern: * stands for any characters; scheme and fragment are ignored
	Why      string `json:"why,omitempty"`
	Captures int64  `json:"captures"` // number of captures when it was made
}

// name returns what is withdrawn, for messages.
func (d Withdrawal) name() string {
	if d.URI != "" {
		return "uri " + address(d.URI)
	}
	return fmt.Sprintf("input %d %s", d.Size, d.Sample)
}

// Key is the key of the withdrawal's row.
func (d Withdrawal) Key() []byte {
	sum := sha256.Sum256([]byte(d.name()))
	return layout.WithdrawnKey(sum[:16])
}

// Has reports whether the withdrawal covers a URI.
func (d Withdrawal) Has(uri string) bool { return d.URI != "" && matches(address(d.URI), address(uri)) }

// address strips from a URI or pattern the parts that are ignored.
func address(uri string) string {
	if !strings.Contains(uri, "://") {
		uri = "any://" + uri
	}
	return extract.Document{TargetURI: uri}.Address()
}

// matches reports whether s matches a pattern in which * stands for any characters.
// Its time is at most the product of their lengths.
func matches(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// Withdrawn is a list of withdrawals.
type Withdrawn []Withdrawal

// Withdrawn returns all withdrawals, in a fixed order.
func (w *Workspace) Withdrawn() (out Withdrawn, err error) {
	for r, err := range w.DB.Table(layout.TableWithdrawn) {
		if err != nil {
			return nil, err
		}
		var d Withdrawal
		if err := r.JSON(&d); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// Has reports whether a capture of the URI has to stay out.
func (d Withdrawn) Has(uri string) bool {
	return slices.ContainsFunc(d, func(one Withdrawal) bool { return one.Has(uri) })
}

// Generation identifies the URI patterns. It is part of the generation of sources
// whose captures they remove.
func (d Withdrawn) Generation() string {
	var names []any
	for _, one := range d {
		if one.URI != "" {
			names = append(names, one.name())
		}
	}
	return Digest(names...)
}

// withoutWithdrawn returns the sources that are not withdrawn. It warns of each one
// that is.
func (w *Workspace) withoutWithdrawn(sources []inputs.Source) ([]inputs.Source, error) {
	withdrawn, err := w.Withdrawn()
	if err != nil || len(withdrawn) == 0 {
		return sources, err
	}
	return slices.DeleteFunc(slices.Clone(sources), func(s inputs.Source) bool {
		i := slices.IndexFunc(withdrawn, func(d Withdrawal) bool {
			return d.URI == "" && s.State != inputs.Unreadable && d.Size == s.Size && d.Sample == s.Sample
		})
		if i >= 0 {
			w.Options.Progress.Warn("input is withdrawn and stays out; neardup remove --undo lets it in", "file", s.Shown(), "why", withdrawn[i].Why)
		}
		return i >= 0
	}), nil
}
