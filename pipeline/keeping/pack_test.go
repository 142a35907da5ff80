package keeping

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"neardup/pipeline/layout"
	"neardup/report"
)

// set sets all fields of a struct to random values, also those of structs in it.
func set(rng *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Struct:
			set(rng, f)
		case reflect.String:
			f.SetString([]string{"", "\xff", "a", "\x00é"}[rng.IntN(4)])
		case reflect.Int, reflect.Int64:
			f.SetInt(rng.Int64N(1<<40) - 1<<39)
		case reflect.Float64:
			f.SetFloat(rng.Float64())
		case reflect.Bool:
			f.SetBool(rng.IntN(2) == 0)
		case reflect.Pointer: // Chosen is not packed
		default:
			panic(f.Kind())
		}
	}
}

// All fields of members and choices are packed, and what is cut is refused.
func TestPack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 40))
	for range 200 {
		var m report.Member
		set(rng, reflect.ValueOf(&m).Elem())
		b := packMember(m)
		if got, err := unpackMember(b); err != nil || got != m {
			t.Fatalf("%+v, want %+v (%v)", got, m, err)
		}
		for n := range b {
			if _, err := unpackMember(b[:n]); !errors.Is(err, layout.ErrCorrupt) {
				t.Fatalf("%d of %d bytes: %v", n, len(b), err)
			}
		}
		var c report.Choice
		set(rng, reflect.ValueOf(&c).Elem())
		c.With = 0 // tells nothing after packing
		if got, err := unpackChoice(packChoice(c)); err != nil || got != c {
			t.Fatalf("%+v, want %+v (%v)", got, c, err)
		}
	}
}
