package extsort

import (
	"fmt"
	"os"
	"testing"
)

func TestTable(t *testing.T) {
	dir := t.TempDir()
	const n = 5000
	table, err := NewTable(dir, func(yield func(Entry, error) bool) {
		for i := range n {
			if !yield(Entry{fmt.Appendf(nil, "key %06d", 2*i), fmt.Appendf(nil, "value %d", i)}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.keys) < 5 || len(table.keys) > n/50 {
		t.Errorf("%d keys in memory", len(table.keys))
	}
	for i := -1; i < 2*n; i++ {
		value, ok, err := table.Get(fmt.Appendf(nil, "key %06d", i))
		if want := i >= 0 && i%2 == 0; err != nil || ok != want || ok && string(value) != fmt.Sprintf("value %d", i/2) {
			t.Fatalf("key %d: %q %v %v", i, value, ok, err)
		}
	}
	if err := table.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left over: %v %v", left, err)
	}
}
