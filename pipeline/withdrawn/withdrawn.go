// Package withdrawn tells which captures have to stay out of a workspace.
package withdrawn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"neardup/extract/container"
	"neardup/pipeline/inputs"
	"neardup/pipeline/layout"
)

// Withdrawal removes captures: those of one input, or those whose URI matches a
// pattern, in every input, past and future.
type Withdrawal struct {
	Input    string   `json:"input,omitempty"`  // path of the source
	Also     []string `json:"also,omitempty"`   // paths of other sources with the same bytes, sorted
	Size     int64    `json:"size,omitempty"`   // size, sample and checksum of the file: the same content stays out under any name
	Sample   string   `json:"sample,omitempty"` // digest of parts of the file
	SHA256   string   `json:"sha256,omitempty"` // empty if the file was not read to its end
	URI      string   `json:"uri,omitempty"`    // pattern: * stands for any characters; scheme and fragment are ignored
	Why      string   `json:"why,omitempty"`
	Captures int64    `json:"captures"` // number of captures when it was made

	key []byte // of its row, if it was read
}

// Inputs returns the paths of the sources that are withdrawn, none for a pattern.
func (d Withdrawal) Inputs() []string {
	if d.Input == "" {
		return nil
	}
	return append([]string{d.Input}, d.Also...)
}

// With returns the withdrawal with what an earlier one of the same captures has.
func (d Withdrawal) With(before Withdrawal) Withdrawal {
	d.Captures += before.Captures
	d.Why = cmp.Or(d.Why, before.Why)
	all := slices.Concat(d.Also, before.Inputs())
	slices.Sort(all)
	d.Also = slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == d.Input })
	return d
}

// name returns what is withdrawn, for messages.
func (d Withdrawal) name() string {
	if d.URI != "" {
		return "uri " + asPattern(d.URI)
	}
	if d.SHA256 != "" {
		return fmt.Sprintf("input %d %s %s", d.Size, d.Sample, d.SHA256)
	}
	return fmt.Sprintf("input %d %s", d.Size, d.Sample)
}

// IsOf reports whether the withdrawal is of an input. It reads an input that is only alike
// where samples are taken; one that cannot be read is taken for the one that is withdrawn.
func (d Withdrawal) IsOf(ctx context.Context, s inputs.Source, limits container.Limits) bool {
	return d.URI == "" && d.Sample != "" && d.Size == s.Size && d.Sample == s.Sample &&
		(d.SHA256 == "" || s.MayHaveSum(ctx, d.SHA256, limits))
}

// Key is the key of the withdrawal's row.
func (d Withdrawal) Key() []byte {
	if d.key != nil {
		return d.key
	}
	sum := sha256.Sum256([]byte(d.name()))
	return layout.WithdrawnKey(sum[:16])
}

// isScheme reports whether what is before :// is a scheme, or a pattern of schemes.
func isScheme(s string) bool {
	return strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789+-.*") == ""
}

// asPattern returns a pattern without what does not count: scheme and fragment, and the
// case of a host before the first *.
func asPattern(uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || !isScheme(scheme) { // it may be in a query
		return uri
	}
	host := hostEnd(rest)
	if i := strings.Index(rest, "*"); i >= 0 {
		host = min(host, i)
	}
	return strings.ToLower(rest[:host]) + rest[host:]
}

// MistakenForAll reports whether a pattern that names a scheme covers all captures, since the
// scheme does not count.
func MistakenForAll(pattern string) bool {
	scheme, _, ok := strings.Cut(pattern, "://")
	address := asPattern(pattern)
	between := strings.Trim(address, "*")
	return ok && scheme != "*" && strings.HasPrefix(address, "*") && strings.HasSuffix(address, "*") && (between == "" || between == "/")
}

// hostEnd returns where the host of an address ends.
func hostEnd(address string) int {
	if i := strings.IndexAny(address, "/?"); i >= 0 {
		return i
	}
	return len(address)
}

// pattern is a pattern that was parsed: what stands between its *. In inHost, this is in
// lower case up to the end of a host that it begins in: a part that begins in the host ends
// there, or the host ends where the part has its first slash or question mark.
type pattern struct{ parts, inHost []string }

func parsePattern(s string) pattern {
	p := pattern{parts: strings.Split(s, "*")}
	for _, part := range p.parts {
		end := hostEnd(part)
		p.inHost = append(p.inHost, strings.ToLower(part[:end])+part[end:])
	}
	return p
}

// matches reports whether an address, which begins with a host of so many bytes, matches a
// pattern in which * stands for any characters. In the host, case does not count. Its time
// is at most the product of their lengths.
func (p pattern) matches(address string, host int) bool {
	inHost, end := p.inHost, len(p.parts)-1
	if host == 0 {
		inHost = p.parts
	}
	if end == 0 {
		return inHost[0] == address
	}
	if !strings.HasPrefix(address, inHost[0]) {
		return false
	}
	at := len(inHost[0])
	for n := 1; n < end; n++ {
		if at < host {
			if i := strings.Index(address[at:], inHost[n]); i >= 0 && at+i < host {
				at += i + len(inHost[n])
				continue
			}
		}
		after := max(at, host)
		i := strings.Index(address[after:], p.parts[n])
		if i < 0 {
			return false
		}
		at = after + i + len(p.parts[n])
	}
	if from := len(address) - len(p.parts[end]); from >= max(at, host) {
		return strings.HasSuffix(address, p.parts[end])
	}
	from := len(address) - len(inHost[end])
	return from >= at && from < host && strings.HasSuffix(address, inHost[end])
}

// Of returns the withdrawal as the row of a key has it.
func (d Withdrawal) Of(key []byte) Withdrawal {
	d.key = slices.Clone(key)
	return d
}

// List is a list of withdrawals.
type List []Withdrawal
