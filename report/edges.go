package report

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// Node is a page at the end of an edge.
type Node struct {
	Document string // docID, which is unique, unlike record IDs
	RecordID string
	URI      string
	Date     string
	Cluster  string // empty for a page in no cluster
	Path     string // of the file, as Member has it
	Entry    string
	Offset   int64
}

// Edge is a pair of pages whose texts were verified against each other or, with the
// relation Identical, two pages of one text. The first page of a text stands for
// the text.
type Edge struct {
	Source, Target           Node
	Relation                 Relation // relation of the target to the source
	Resemblance, Containment Score
	EstimatedBy              string // as of Cluster
}

// EdgeWriter writes edges one after another. Close ends the output, but does
// not close the underlying writer.
type EdgeWriter interface {
	Edge(Edge) error
	Close() error
}

// edgeLine is an edge as JSON.
type edgeLine struct {
	Source        string   `json:"source"`
	Target        string   `json:"target"`
	Relation      Relation `json:"relation"`
	Resemblance   Score    `json:"resemblance"`
	Containment   Score    `json:"containment"`
	EstimatedBy   string   `json:"estimated_by,omitempty"`
	SourceURI     string   `json:"source_uri"`
	SourceDate    string   `json:"source_date"`
	SourceCluster string   `json:"source_cluster,omitempty"`
	SourcePath    string   `json:"source_path"`
	SourceEntry   string   `json:"source_entry,omitempty"`
	SourceOffset  int64    `json:"source_offset"`
	TargetURI     string   `json:"target_uri"`
	TargetDate    string   `json:"target_date"`
	TargetCluster string   `json:"target_cluster,omitempty"`
	TargetPath    string   `json:"target_path"`
	TargetEntry   string   `json:"target_entry,omitempty"`
	TargetOffset  int64    `json:"target_offset"`
}

// NewEdgesJSONL returns a writer of one line of JSON for each edge.
func NewEdgesJSONL(w io.Writer) EdgeWriter {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return edgesJSONL{e}
}

type edgesJSONL struct{ e *json.Encoder }

func (j edgesJSONL) Edge(e Edge) error {
	return j.e.Encode(edgeLine{e.Source.RecordID, e.Target.RecordID, e.Relation, e.Resemblance, e.Containment, e.EstimatedBy,
		e.Source.URI, e.Source.Date, e.Source.Cluster, e.Source.Path, e.Source.Entry, e.Source.Offset,
		e.Target.URI, e.Target.Date, e.Target.Cluster, e.Target.Path, e.Target.Entry, e.Target.Offset})
}

func (j edgesJSONL) Close() error { return nil }

// NewEdgesCSV returns a writer of one line of CSV for each edge.
func NewEdgesCSV(w io.Writer) EdgeWriter {
	out := csv.NewWriter(w)
	return &edgesCSV{out, out.Write([]string{"source", "target", "relation", "resemblance", "containment",
		"source_uri", "source_date", "source_cluster", "target_uri", "target_date", "target_cluster",
		"source_path", "source_entry", "source_offset", "target_path", "target_entry", "target_offset", "estimated_by"})}
}

type edgesCSV struct {
	w   *csv.Writer
	err error // of the header
}

func (c *edgesCSV) Edge(e Edge) error {
	line := []string{e.Source.RecordID, e.Target.RecordID, string(e.Relation), e.Resemblance.String(), e.Containment.String(),
		e.Source.URI, e.Source.Date, e.Source.Cluster, e.Target.URI, e.Target.Date, e.Target.Cluster,
		e.Source.Path, e.Source.Entry, decimal(e.Source.Offset), e.Target.Path, e.Target.Entry, decimal(e.Target.Offset), e.EstimatedBy}
	for i := range line {
		line[i] = inert(line[i])
	}
	return c.w.Write(line)
}

func (c *edgesCSV) Close() error {
	c.w.Flush()
	return errors.Join(c.err, c.w.Error())
}

// GraphML writes a graph in the XML format of that name: all nodes, then all edges.
// A node's ID is n and its docID.
type GraphML struct{ w io.Writer }

// graphKeys are the attributes of nodes and edges.
var graphKeys = []struct{ of, name, kind string }{
	{"node", "record_id", "string"}, {"node", "uri", "string"}, {"node", "date", "string"}, {"node", "cluster", "string"},
	{"node", "path", "string"}, {"node", "entry", "string"}, {"node", "offset", "long"},
	{"edge", "relation", "string"}, {"edge", "resemblance", "double"}, {"edge", "containment", "double"}, {"edge", "estimated_by", "string"},
}

// NewGraphML writes the beginning of a graph.
func NewGraphML(w io.Writer) (*GraphML, error) {
	g := &GraphML{w}
	_, err := io.WriteString(w, xml.Header+`<graphml xmlns="http://graphml.graphdrawing.org/xmlns">`+"\n")
	for _, k := range graphKeys {
		_, keyErr := fmt.Fprintf(w, `<key id="%s" for="%s" attr.name="%s" attr.type="%s"/>`+"\n", k.name, k.of, k.name, k.kind)
		err = errors.Join(err, keyErr)
	}
	_, begin := io.WriteString(w, `<graph id="neardup" edgedefault="directed">`+"\n")
	return g, errors.Join(err, begin)
}

// Node writes a node.
func (g *GraphML) Node(n Node) error {
	data := [][2]string{{"record_id", n.RecordID}, {"uri", n.URI}, {"date", n.Date}, {"path", n.Path}, {"offset", decimal(n.Offset)}}
	if n.Cluster != "" {
		data = append(data, [2]string{"cluster", n.Cluster})
	}
	if n.Entry != "" {
		data = append(data, [2]string{"entry", n.Entry})
	}
	return g.element(fmt.Sprintf(`node id="n%s"`, n.Document), "node", data)
}

// Edge writes an edge between nodes that were written before.
func (g *GraphML) Edge(e Edge) error {
	data := [][2]string{{"relation", string(e.Relation)}, {"resemblance", e.Resemblance.String()}, {"containment", e.Containment.String()}}
	if e.EstimatedBy != "" {
		data = append(data, [2]string{"estimated_by", e.EstimatedBy})
	}
	return g.element(fmt.Sprintf(`edge source="n%s" target="n%s"`, e.Source.Document, e.Target.Document), "edge", data)
}

func (g *GraphML) element(start, name string, data [][2]string) error {
	_, err := io.WriteString(g.w, "<"+start+">")
	for _, d := range data {
		if err == nil {
			_, err = fmt.Fprintf(g.w, `<data key="%s">`, d[0])
		}
		if err == nil {
			err = xml.EscapeText(g.w, []byte(d[1]))
		}
		if err == nil {
			_, err = io.WriteString(g.w, "</data>")
		}
	}
	if err == nil {
		_, err = io.WriteString(g.w, "</"+name+">\n")
	}
	return err
}

// Close writes the end of the graph.
func (g *GraphML) Close() error {
	_, err := io.WriteString(g.w, "</graph>\n</graphml>\n")
	return err
}
