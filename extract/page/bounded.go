package page

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// A page can be made so that its tree is thousands of times its size: formatting
// elements that are not closed are opened again in each paragraph. So a tree is
// bounded while it is built. The parser shows nothing of it before it is done,
// but it reads the page bit by bit, and each time the bound looks at the list of
// formatting elements that the next tokens may open again.

const (
	// maxTree is the estimate in bytes from which on a page is read without a
	// tree. docs/reliability.md has what that costs.
	maxTree = 256 << 20
	// largeTree is the estimate from which on only one tree at a time is built,
	// so that the trees of all workers together stay near maxTree.
	largeTree = 16 << 20

	treeStep   = 512 // bytes of the page that the parser gets at a time
	tokenSteps = 32  // of a long token it gets this share of what it has
	// tagNodes is how many nodes a start tag makes at most, besides formatting
	// elements: itself, a table's body and row, and the text behind it.
	tagNodes = 4
)

var errTree = errors.New("the tree becomes too large")

var (
	nodeBytes      = int64(reflect.TypeFor[html.Node]().Size())
	attributeBytes = int64(reflect.TypeFor[html.Attribute]().Size())
)

// oneLarge is held by the page whose large tree is built or read.
var oneLarge sync.Mutex

// withTree calls read with the tree of a page. It returns an error where there is
// none: the page is nested deeper than the parser goes, or its tree is too large.
func withTree(page string, read func(root *html.Node)) error {
	b := &boundedPage{page: page}
	defer b.release()
	// The type of the argument is not exported.
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

// boundedPage is a page as the parser reads it.
type boundedPage struct {
	page   string
	parser reflect.Value // html.parser
	spent  int64         // bytes that the tree has taken, or less
	given  int           // bytes that the parser got last
	tags   int64         // in them, at most
	large  bool          // oneLarge is held
}

// Read gives the parser a little more of the page, unless its tree is too large:
// what it gave before may have become as many nodes as the parser's list of
// formatting elements allows.
func (b *boundedPage) Read(p []byte) (int, error) {
	if b.token() < b.given { // else it is all of one comment or script, so far
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

// token is the size of the token that is being read: a long one gets more at a
// time, because the tokenizer copies what it has of it each time.
func (b *boundedPage) token() int {
	return int(b.parser.FieldByName("tokenizer").Elem().FieldByName("raw").FieldByName("end").Int())
}

// formatting is what it takes to open all active formatting elements again.
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
