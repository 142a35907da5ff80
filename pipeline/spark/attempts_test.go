package spark_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"

	"neardup/configs"
	"neardup/extract"
	"neardup/extract/container"
	"neardup/pipeline/blocks"
	"neardup/pipeline/filters"
	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/spark"
)

var errDied = errors.New("signal: killed")

// mortal is a note of a process that ends at a record.
type mortal struct {
	filters.Note
	left int // records until then
}

func (m *mortal) Begin(at container.Position) error {
	if err := m.Note.Begin(at); err != nil {
		return err
	}
	if m.left--; m.left < 0 {
		panic(errDied)
	}
	return nil
}

// attempts are those of a task whose process ends at a record.
type attempts struct {
	spark.Attempts
	at int // record; -1: it does not end
}

func (a attempts) Open(ctx context.Context, s inputs.Source) (filters.Note, []inputs.EndedRun, error) {
	n, ended, err := a.Attempts.Open(ctx, s)
	if err == nil && a.at >= 0 {
		n = &mortal{n, a.at}
	}
	return n, ended, err
}

// An attempt that ends at a record leaves a note. The next one tries the record, and
// skips it if that fails, or if attempts end there again and again.
func TestRecordsThatEndAttempts(t *testing.T) {
	const pages, bad = 6, 3
	var records [][]byte
	for i := range pages {
		records = append(records, pipetest.Archived("response", fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i), 1,
			pipetest.OkHTML+fmt.Sprintf("<p>Page %d says that %x is its number.", i, i*i)))
	}
	path := pipetest.WriteRecords(t, records...)
	c := pipetest.MustLoad(t)
	for name, test := range map[string]struct {
		ends  int   // attempts
		tried error // of the record alone
		tries int
		error string // of the record, in the source
	}{
		"it ends its process":         {1, errDied, 1, errDied.Error()},
		"it does no harm":             {1, nil, 1, ""},
		"it does no harm, twice":      {2, nil, 2, ""},
		"it is there again and again": {3, nil, 2, "3 attempts ended while it was read"},
	} {
		tries, warned := 0, 0
		a := attempts{Attempts: spark.Attempts{Dir: t.TempDir(), Config: c,
			Try: func(_ context.Context, s inputs.Source, got configs.Config) (string, error) {
				if s.Path != path || s.Position == (container.Position{}) || len(got.Extract.Statuses) == 0 {
					t.Errorf("%s: tried %+v", name, s)
				}
				tries++
				return "http://a.example/3", test.tried
			}, Warn: func(string) { warned++ }}}
		for attempt := range test.ends + 2 { // the last one finds no note
			if a.at = bad; attempt >= test.ends {
				a.at = -1
			}
			s, ended := attemptExtract(t, c, path, a)
			if ended != (attempt < test.ends) {
				t.Fatalf("%s: attempt %d ended: %v", name, attempt, ended)
			}
			if ended {
				continue
			}
			want := int64(pages)
			if test.error != "" {
				want--
				if len(s.Ended) != 1 || s.Ended[0].Error != test.error || s.Counts.Skipped[string(extract.ReasonEndedRun)] != 1 || warned != 1 {
					t.Errorf("%s: %+v, warned %d times", name, s, warned)
				}
			} else if len(s.Ended) > 0 {
				t.Errorf("%s: %+v", name, s.Ended)
			}
			if s.Counts.Captures != want || tries != test.tries {
				t.Errorf("%s: %d captures, tried %d times", name, s.Counts.Captures, tries)
			}
		}
	}
}

// attemptExtract runs the filter extract. It returns the row of the source, or whether
// the attempt ended.
func attemptExtract(t *testing.T, c configs.Config, path string, a filters.Attempts) (s inputs.Source, ended bool) {
	t.Helper()
	var in, out bytes.Buffer
	w := blocks.NewWriter(&in, 1)
	if err := errors.Join(w.PutTo(blocks.Names, 0, []byte(path), nil), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, _ := filters.Find("extract")
	err := func() error {
		defer func() { ended = recover() == errDied }()
		return f.Run(t.Context(), &in, &out, filters.Options{Config: c, Partitions: 1, Temp: t.TempDir(), Workers: 1, Attempts: a})
	}()
	if err != nil {
		t.Fatal(err)
	}
	if ended {
		return s, true
	}
	for r := blocks.NewReader(&out); ; {
		f, err := r.Next()
		if err == io.EOF {
			return s, false
		}
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range f.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			if f.Layout == blocks.Sources {
				if err := json.Unmarshal(e.Value, &s); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
