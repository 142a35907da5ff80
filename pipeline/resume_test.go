package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"neardup/pipeline/inputs"
	"neardup/pipeline/internal/pipetest"
	"neardup/pipeline/results"
	"neardup/pipeline/stages"
	"neardup/pipeline/workspace"
)

// meter stops a run once half of a file is through, and notes what was left of
// it at the start.
type meter struct {
	workspace.Silent
	total, through int64
	half           func()
}

func (m *meter) Total(n int64, unit string) {
	if unit == "bytes" {
		m.total = n
	}
}

func (m *meter) Add(n int64) {
	if m.through += n; m.half != nil && m.through > m.total/2 {
		m.half()
	}
}

// A run that was stopped inside a file goes on there, not at its beginning,
// and what the manifest said meanwhile was true.
func TestResumingGoesOnInsideTheFile(t *testing.T) {
	var records [][]byte
	for i := range 3000 {
		text := fmt.Sprintf("<p>Page %d says that %x is its number.", i, i*i)
		records = append(records, pipetest.Archived("response", fmt.Sprint(i), fmt.Sprintf("http://a.example/%d", i), 1, pipetest.OkHTML+text))
	}
	path := pipetest.WriteRecords(t, records...)
	dir := filepath.Join(t.TempDir(), "ws")
	extract := func(o workspace.Options, ctx context.Context) error {
		t.Helper()
		o.Workers, o.CommitBytes, o.PublishEvery = 2, 4<<10, time.Millisecond
		w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), true, o)
		if err != nil {
			t.Fatal(err)
		}
		sources, _, err := inputs.Find(t.Context(), dir, []string{path}, nil, pipetest.Limits)
		if err != nil {
			t.Fatal(err)
		}
		return errors.Join(w.Run(ctx, "extract", "extract", sources), w.Close())
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := &meter{half: cancel}
	if err := extract(workspace.Options{Progress: first}, ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	m, err := workspace.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	in := m.Inputs[0]
	if in.State != inputs.Pending || in.Counts.Records == 0 || in.Counts.Records == int64(len(records)) || in.Position.Offset == 0 {
		t.Fatalf("when half was read, the manifest says %+v", in)
	}
	second := &meter{}
	if err := extract(workspace.Options{Progress: second}, context.Background()); err != nil {
		t.Fatal(err)
	}
	if second.total > first.total*3/4 || second.total < first.total/4 || second.through != second.total {
		t.Errorf("of %d bytes %d were left, and %d were read", first.total, second.total, second.through)
	}

	w, err := workspace.Open(dir, stages.All, pipetest.MustLoad(t), false, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	var c results.ExtractCounts
	if err := w.Counts(workspace.StageExtract, &c); err != nil || c.Records != int64(len(records)) || c.Documents != c.Records || c.Texts != c.Documents { // each read once
		t.Errorf("%+v %v", c, err)
	}
}
