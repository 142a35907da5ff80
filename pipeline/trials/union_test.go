package trials

import (
	"slices"
	"testing"

	"neardup/pipeline/rows"
)

func TestUnion(t *testing.T) {
	id := func(list ...byte) (out []rows.TextID) {
		for _, b := range list {
			out = append(out, rows.TextID{b})
		}
		return out
	}
	for _, x := range []struct{ a, b, want []rows.TextID }{
		{nil, id(1), id(1)}, {id(1), nil, id(1)}, {id(1, 3), id(2, 3, 4), id(1, 2, 3, 4)}, {id(2), id(2), id(2)}, {id(5), id(1, 2), id(1, 2, 5)},
	} {
		if got := union(x.a, x.b); !slices.Equal(got, x.want) {
			t.Errorf("%x and %x: %x", x.a, x.b, got)
		}
	}
}
