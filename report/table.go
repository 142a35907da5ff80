package report

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Limits of a row group, which is held in memory.
const (
	parquetRows  = 64 << 10
	parquetBytes = 16 << 20 // bytes of strings
)

// tableWriter writes a Parquet file, compressed with Zstandard. R is a struct. Its
// fields are columns, of the types in columnOf; a pointer is a column with nulls.
// The tag of a field is `parquet:"NAME"`, with ",dict" after the name for a column
// with a dictionary, or ",timestamp(millisecond)".
//
// parquet.GenericWriter writes the same bytes for such structs, as a test shows. But
// it links everything that a tag can name, all codecs among them, into the program.
type tableWriter[R any] struct {
	w       *parquet.Writer //lint:ignore SA1019 the one writer that takes rows of values
	columns []column
	row     parquet.Row
	bytes   int // bytes of strings in the row group, as callers count them
}

// column is a field of a row.
type column struct {
	parquet.Node
	name  string
	index []int
	value func(reflect.Value) parquet.Value
}

func (c *column) Name() string                          { return c.name }
func (c *column) Value(row reflect.Value) reflect.Value { return row.FieldByIndex(c.index) }

// root is the root of a schema, with columns in the order of the fields.
// parquet.Group sorts them by name.
type root struct {
	parquet.Group
	columns []column
}

func (r root) Fields() []parquet.Field {
	fields := make([]parquet.Field, len(r.columns))
	for i := range r.columns {
		fields[i] = &r.columns[i]
	}
	return fields
}

func newTableWriter[R any](w io.Writer) *tableWriter[R] {
	of := reflect.TypeFor[R]()
	columns := columnsOf(of)
	return &tableWriter[R]{columns: columns, w: parquet.NewWriter(w, parquet.NewSchema(of.Name(), root{columns: columns}),
		parquet.Compression(&parquet.Zstd), parquet.CreatedBy("neardup", "", ""), parquet.MaxRowsPerRowGroup(parquetRows))}
}

// columnsOf returns the columns of a struct, with those of embedded structs.
func columnsOf(of reflect.Type) []column {
	var columns []column
	for _, f := range reflect.VisibleFields(of) {
		if !f.Anonymous {
			columns = append(columns, columnOf(f))
		}
	}
	return columns
}

func columnOf(f reflect.StructField) column {
	name, option, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	c := column{name: name, index: f.Index}
	of := f.Type
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch kind := of.Kind(); kind {
	case reflect.String:
		c.Node = parquet.String()
		c.value = func(v reflect.Value) parquet.Value { return parquet.ByteArrayValue([]byte(v.String())) }
	case reflect.Int64:
		c.Node = parquet.Int(64)
		c.value = func(v reflect.Value) parquet.Value { return parquet.Int64Value(v.Int()) }
	case reflect.Int16:
		c.Node = parquet.Int(16)
		c.value = func(v reflect.Value) parquet.Value { return parquet.Int32Value(int32(v.Int())) }
	case reflect.Float64:
		c.Node = parquet.Leaf(parquet.DoubleType)
		c.value = func(v reflect.Value) parquet.Value { return parquet.DoubleValue(v.Float()) }
	case reflect.Bool:
		c.Node = parquet.Leaf(parquet.BooleanType)
		c.value = func(v reflect.Value) parquet.Value { return parquet.BooleanValue(v.Bool()) }
	default:
		panic(fmt.Sprintf("report: no column for the kind %s of %s", kind, f.Name))
	}
	if option == "timestamp(millisecond)" {
		c.Node = parquet.Timestamp(parquet.Millisecond)
	}
	if of != f.Type {
		c.Node = parquet.Optional(c.Node)
	}
	if option == "dict" {
		c.Node = parquet.Encoded(c.Node, &parquet.RLEDictionary)
	}
	return c
}

// write writes a row. size is the bytes of its strings, roughly; a row group ends
// when their sum reaches parquetBytes.
func (w *tableWriter[R]) write(row *R, size int) error {
	w.row = w.row[:0]
	v := reflect.ValueOf(row).Elem()
	for i := range w.columns {
		c := &w.columns[i]
		level, of := 0, v.FieldByIndex(c.index)
		if of.Kind() == reflect.Pointer {
			if of.IsNil() {
				w.row = append(w.row, parquet.NullValue().Level(0, 0, i))
				continue
			}
			level, of = 1, of.Elem()
		}
		w.row = append(w.row, c.value(of).Level(0, level, i))
	}
	if _, err := w.w.WriteRows([]parquet.Row{w.row}); err != nil {
		return err
	}
	if w.bytes += size; w.bytes < parquetBytes {
		return nil
	}
	w.bytes = 0
	return w.w.Flush()
}

func (w *tableWriter[R]) Close() error { return w.w.Close() }
