package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"testing"
)

// fill sets all fields that are written to JSON to random values, some of them to none.
func fill(rng *rand.Rand, v reflect.Value) {
	strings := []string{"", "urn:uuid:1", "http://a.example/?q=<b>&c", "a \"title\" \\ of it", "Straße\u2028", "\x00\x1f\x7f\t\n", "\xff\xfe broken", "漢字 🙂"}
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings[rng.IntN(len(strings))])
	case reflect.Int, reflect.Int64:
		v.SetInt(rng.Int64N(3) * rng.Int64N(1<<40))
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, 0.99999, 0.5, rng.Float64()}[rng.IntN(5)])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Slice:
		if n := rng.IntN(4); n > 0 { // otherwise it is nil
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range v.Len() {
				fill(rng, v.Index(i))
			}
		}
	case reflect.Pointer:
		if rng.IntN(4) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(rng, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(rng, v.Field(i))
		}
	default:
		panic("no value of kind " + v.Kind().String())
	}
}

// A line is what encoding/json writes.
func TestJSONLIsJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	var got, want bytes.Buffer
	w, plain := NewJSONL(&got), json.NewEncoder(&want)
	plain.SetEscapeHTML(false)
	for range 3000 {
		var c Cluster
		fill(rng, reflect.ValueOf(&c).Elem())
		c.From, c.More = 0, false
		got.Reset()
		want.Reset()
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
		if err := plain.Encode(c); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Fatalf("wrote %s, encoding/json %s", got.Bytes(), want.Bytes())
		}
	}
}

// inParts returns a cluster in parts of up to n members.
func inParts(c Cluster, n int) (parts []Cluster) {
	for {
		part := c
		part.Members, part.More = c.Members[:min(n, len(c.Members))], len(c.Members) > n
		if part.More {
			part.Contained = nil
		}
		if parts = append(parts, part); !part.More {
			return parts
		}
		c.Members, c.From = c.Members[n:], c.From+n
	}
}

// A cluster in parts is written and counted as one that is whole.
func TestParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for name, format := range map[string]func(io.Writer) Writer{"jsonl": NewJSONL, "csv": NewCSV, "text": NewText, "parquet": NewParquet} {
		for range 300 {
			var whole, parts bytes.Buffer
			var sum, partSum Summary
			to, toParts := format(&whole), format(&parts)
			for range 1 + rng.IntN(3) {
				var c Cluster
				fill(rng, reflect.ValueOf(&c).Elem())
				c.From, c.More, c.Members = 0, false, make([]Member, 1+rng.IntN(9))
				for i := range c.Members {
					fill(rng, reflect.ValueOf(&c.Members[i]).Elem())
				}
				c.Size = len(c.Members)
				sum.Add(c)
				err := to.Write(c)
				for _, part := range inParts(c, 1+rng.IntN(4)) {
					partSum.Add(part)
					err = errors.Join(err, toParts.Write(part))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			written := func(b *bytes.Buffer) string {
				if name == "text" { // columns are as wide as a part needs
					return regexp.MustCompile(`[ \t]+`).ReplaceAllString(b.String(), " ")
				}
				return b.String()
			}
			if err := errors.Join(to.Close(), toParts.Close()); err != nil || written(&whole) != written(&parts) {
				t.Fatalf("%s: %v, wrote %q, in parts %q", name, err, whole.Bytes(), parts.Bytes())
			}
			if !reflect.DeepEqual(sum, partSum) {
				t.Fatalf("counted %+v, in parts %+v", sum, partSum)
			}
		}
	}
}

// A keep list of a cluster in parts is that of the cluster. Lines of JSON need the parts
// by action.
func TestKeepListsInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(18, 19))
	for name, format := range map[string]func(io.Writer) KeepWriter{"csv": NewKeepCSV, "jsonl": NewKeepJSONL} {
		for range 300 {
			var whole, parts bytes.Buffer
			to, toParts := format(&whole), format(&parts)
			for range 1 + rng.IntN(3) {
				c := Cluster{ID: "c", Members: make([]Member, 1+rng.IntN(9))}
				choices := make([]Choice, len(c.Members))
				for i := range c.Members {
					fill(rng, reflect.ValueOf(&c.Members[i]).Elem())
					fill(rng, reflect.ValueOf(&choices[i]).Elem())
					choices[i].Action = Actions[rng.IntN(1+rng.IntN(len(Actions)))]
				}
				c.Size = len(c.Members)
				err := to.Write(c, choices)
				if name == "jsonl" {
					order := make([]int, c.Size)
					for i := range order {
						order[i] = i
					}
					slices.SortStableFunc(order, func(a, b int) int {
						return slices.Index(Actions, choices[a].Action) - slices.Index(Actions, choices[b].Action)
					})
					sorted, sortedChoices := c, make([]Choice, c.Size)
					sorted.Members = make([]Member, c.Size)
					for i, from := range order {
						sorted.Members[i], sortedChoices[i] = c.Members[from], choices[from]
					}
					c, choices = sorted, sortedChoices
				}
				for _, part := range inParts(c, 1+rng.IntN(4)) {
					err = errors.Join(err, toParts.Write(part, choices[part.From:part.From+len(part.Members)]))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(to.Close(), toParts.Close()); err != nil || !bytes.Equal(whole.Bytes(), parts.Bytes()) {
				t.Fatalf("%s: %v, wrote %q, in parts %q", name, err, whole.Bytes(), parts.Bytes())
			}
		}
	}
}
