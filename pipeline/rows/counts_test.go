package rows

import (
	"reflect"
	"testing"
)

// fill sets each number below v to a value of its own, and returns the next one.
func fill(v reflect.Value, n int64) int64 {
	switch v.Kind() {
	case reflect.Int64:
		v.SetInt(n)
		return n + 1
	case reflect.Struct:
		for i := range v.NumField() {
			n = fill(v.Field(i), n)
		}
	}
	return n
}

// Sums have every number of both, so that none is left out when one is added.
func TestCountsAreAdded(t *testing.T) {
	var a, b, sum VerifyCounts
	fill(reflect.ValueOf(&a).Elem(), 1)
	fill(reflect.ValueOf(&b).Elem(), 1000)
	// Clusters, contained pages and the partition are counted by the closing rule, once.
	for _, c := range []*VerifyCounts{&a, &b} {
		c.Clusters, c.Contained, c.Partition = 0, VerifyCounts{}.Contained, PartitionCounts{}
	}
	sum = a
	sum.Add(b)
	added(t, reflect.ValueOf(a), reflect.ValueOf(b), reflect.ValueOf(sum), "VerifyCounts")

	p, q := PartitionCounts{1, 2, 3, 4, 5}, PartitionCounts{100, 200, 300, 400, 500}
	p.Add(q)
	if want := (PartitionCounts{101, 202, 300, 404, 505}); p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	var f FrameCounts
	f.Add(Signed{Characters: 10, LeftOut: 4})
	f.Add(Signed{Characters: 5})
	if want := (FrameCounts{Texts: 1, Characters: 15, LeftOut: 4}); f != want {
		t.Errorf("got %+v, want %+v", f, want)
	}
}

func added(t *testing.T, a, b, sum reflect.Value, name string) {
	t.Helper()
	switch sum.Kind() {
	case reflect.Int64:
		if sum.Int() != a.Int()+b.Int() {
			t.Errorf("%s is %d, of %d and %d", name, sum.Int(), a.Int(), b.Int())
		}
	case reflect.Struct:
		for i := range sum.NumField() {
			added(t, a.Field(i), b.Field(i), sum.Field(i), name+"."+sum.Type().Field(i).Name)
		}
	}
}
