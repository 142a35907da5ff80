package page

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// A hostile page can have a tree of thousands of times its own size: formatting
// elements that are not closed are opened again in each paragraph. So a tree is
// bounded while it is built. The parser returns the tree only at the end, but it
// reads the page in small portions. Before each portion, the bound looks at the
// list of formatting elements that the next tokens may open again.

const (
	// maxTree is the estimated size of a tree, in bytes, from which on a page is
	// read without one. docs/reliability.md has the cost of that.
	maxTree = 256 << 20
	// largeTree is the estimated size from which on only one tree at a time is
	// built, so that the trees of all workers together stay near maxTree.
	largeTree = 16 << 20

	treeStep   = 512 // bytes of the page that the parser gets at a time
	tokenSteps = 32  // within a long token, it gets this fraction of what it has
	// tagNodes limits the nodes that a start tag makes besides formatting elements:
	// itself, a table's body and row, and the text after it.
	tagNodes = 4
)

var errTree = errors.New("the tree becomes too large")

var (
	nodeBytes      = int64(reflect.TypeFor[html.Node]().Size())
	attributeBytes = int64(reflect.TypeFor[html.Attribute]().Size())
)

// oneLarge is locked while a large tree is built or read.
var oneLarge sync.Mutex

// withTree calls read with the tree of a page. It returns an error if there is
// none: the page is nested deeper than the parser allows, or its tree is too large.
func withTree(page string, read func(root *html.Node)) error {
	b := &boundedPage{page: page}
	defer b.release()
	// The argument's type is not exported.
	option := reflect.MakeFunc(reflect.TypeFor[html.ParseOption](), func(args []reflect.Value) []reflect.Value {
		b.parser = args[0].Elem()
		return nil
	}).Interface().(html.ParseOption)
	root, err := html.ParseWithOptions(b, option)
	if err != nil {
		return err
	}
	read(root)
	return nil
}

// boundedPage is the reader through which the parser reads a page.
type boundedPage struct {
	page   string
	parser reflect.Value // html.parser
	spent  int64         // lower bound of the bytes that the tree has taken
	given  int           // size of the parser's last portion
	tags   int64         // upper bound of the tags in it
	large  bool          // oneLarge is locked
}

// Read gives the parser the next portion of the page, unless its tree is too large.
// The portion before may have become as many nodes as the parser's list of
// formatting elements allows.
func (b *boundedPage) Read(p []byte) (int, error) {
	if b.token() < b.given { // otherwise all of it belongs to one comment or script so far
		b.spent += b.tags * (tagNodes*nodeBytes + b.formatting())
	}
	b.tags, b.given = 0, 0
	if b.spent > maxTree {
		return 0, errTree
	}
	if b.spent > largeTree && !b.large {
		oneLarge.Lock()
		b.large = true
	}
	if b.page == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), max(treeStep, b.token()/tokenSteps))], b.page)
	b.tags, b.given = int64(strings.Count(b.page[:n], "<")), n
	b.page = b.page[n:]
	return n, nil
}

// token returns the size of the token that is being read. A long token gets larger
// portions, because the tokenizer copies all of it each time.
func (b *boundedPage) token() int {
	return int(b.parser.FieldByName("tokenizer").Elem().FieldByName("raw").FieldByName("end").Int())
}

// formatting returns the size of all active formatting elements, in bytes, if they
// are opened again.
func (b *boundedPage) formatting() (bytes int64) {
	active := b.parser.FieldByName("afe")
	for i := range active.Len() {
		bytes += nodeBytes + attributeBytes*int64(active.Index(i).Elem().FieldByName("Attr").Len())
	}
	return bytes
}

func (b *boundedPage) release() {
	if b.large {
		oneLarge.Unlock()
	}
}
