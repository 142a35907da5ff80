package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteText writes a cluster for people, at most max of its members; 0 means
// all.
func WriteText(w io.Writer, c Cluster, max int) error {
	fmt.Fprintf(w, "cluster %.8s, %d pages\n", c.ID, c.Size)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, m := range c.Members {
		if max > 0 && i == max {
			fmt.Fprintf(t, "  ... and %d more\n", c.Size-max)
			break
		}
		scores := ""
		if m.Relation != Representative && m.Relation != Identical {
			scores = "resemblance " + m.Resemblance.Short() + "\tcontainment " + m.Containment.Short()
		} else {
			scores = "\t"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", m.Relation, scores, m.Date, m.URI)
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// NewText returns a writer of clusters for people.
func NewText(w io.Writer) Writer { return textWriter{w} }

type textWriter struct{ w io.Writer }

func (t textWriter) Write(c Cluster) error { return WriteText(t.w, c, 0) }
func (t textWriter) Close() error          { return nil }
