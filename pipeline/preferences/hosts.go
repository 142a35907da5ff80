package preferences

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"neardup/pipeline/layout"
	"neardup/pipeline/workspace"
	"neardup/screen"
	"neardup/uris"
)

const (
	maxHost  = 253     // bytes of a host
	maxHosts = 1 << 20 // of a list
)

// Hosts returns the preferred hosts of the workspace's lists, the first list first.
func Hosts(w *workspace.Workspace) (hosts []string, err error) {
	all, err := w.Preferences()
	if err != nil {
		return nil, err
	}
	for _, p := range workspace.OfKind(all, workspace.KindHosts) {
		for r, err := range w.DB.Rows(layout.PrefixBounds(layout.PreferredOf(p.Number))) {
			if err != nil {
				return nil, err
			}
			host, err := r.PreferredHost()
			if err != nil {
				return nil, err
			}
			hosts = append(hosts, host)
		}
	}
	return hosts, nil
}

// parseHosts parses a host a line, in any spelling. Lines that begin with # are
// comments. A host that comes again has its first place.
func parseHosts(r io.Reader) (hosts []string, lines int64, err error) {
	seen := map[string]bool{}
	lines, err = eachLine(r, func(line string) error {
		if strings.HasPrefix(line, "#") {
			return nil
		}
		host := strings.Trim(uris.CanonicalHost(line), "[]") // as uris.Host has addresses
		if !utf8.ValidString(line) || !uris.IsHost(host) {
			return fmt.Errorf("\"%s\" is no host", screen.Characters(line, maxHost))
		}
		if len(hosts) == maxHosts {
			return fmt.Errorf("a list has at most %d hosts", maxHosts)
		}
		if !seen[host] {
			seen[host] = true
			hosts = append(hosts, host)
		}
		return nil
	})
	return hosts, lines, err
}
