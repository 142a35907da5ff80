package report

import (
	"fmt"
	"io"
	"text/tabwriter"

	"neardup/screen"
)

// containedShown limits the contained pages that are shown together with only some
// of the members.
const containedShown = 3

// WriteText writes a cluster as text, with at most max of its members, and then a
// few of the pages that these contain. A max of 0 means all. Crawled text is escaped.
func WriteText(w io.Writer, c Cluster, max int) error { return writeText(w, c, max, false) }

// writeText is WriteText for a cluster or a part of one. more tells that other parts follow.
func writeText(w io.Writer, c Cluster, max int, more bool) error {
	if c.From == 0 {
		fmt.Fprintf(w, "cluster %.8s, %d pages\n", c.ID, c.Size)
		if c.EstimatedBy != "" {
			fmt.Fprintf(w, "  scores are estimates, by %s\n", c.EstimatedBy)
		}
	}
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
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", m.Relation, scores, screen.Printable(m.Date), screen.Printable(m.URI))
	}
	if more {
		return t.Flush()
	}
	for i, p := range c.Contained {
		if max > 0 && i == containedShown {
			fmt.Fprintf(t, "  ... and %d more contained\n", len(c.Contained)-i)
			break
		}
		fmt.Fprintf(t, "  beside it: contained\tresemblance %s\tcontainment %s\t%s\t%s\n", p.Resemblance.Short(), p.Containment.Short(), screen.Printable(p.Date), screen.Printable(p.URI))
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// NewText returns a writer of clusters as text.
func NewText(w io.Writer) Writer { return &textWriter{w} }

type textWriter struct{ w io.Writer }

// Write writes a cluster or a part of one. Columns are as wide as the members of the part need.
func (t *textWriter) Write(c Cluster) error { return writeText(t.w, c, 0, c.More) }

func (t *textWriter) Close() error { return nil }

// Whole makes clusters of their parts.
type Whole struct{ members []Member }

// Of returns the cluster whose last part is c. ok is false if c is not the last.
func (w *Whole) Of(c Cluster) (whole Cluster, ok bool) {
	if c.From == 0 && !c.More {
		return c, true
	}
	if c.From == 0 {
		w.members = make([]Member, 0, c.Size)
	}
	w.members = append(w.members, c.Members...)
	if c.More {
		return Cluster{}, false
	}
	c.Members, c.From, w.members = w.members, 0, nil
	return c, true
}
