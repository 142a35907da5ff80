package report

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
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
