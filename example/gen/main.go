// Command gen writes the example crawl and its labels, or a crawl of many pages
// in one template.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"neardup/example"
)

func main() {
	out := flag.String("out", "example", "directory to write to")
	pages := flag.Int("template", 0, "write a crawl of so many pages in one template to standard output instead")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "gen: takes no arguments, only -out DIR or -template PAGES")
		os.Exit(2)
	}
	err := error(nil)
	if *pages > 0 {
		b := bufio.NewWriter(os.Stdout)
		err = errors.Join(example.WriteTemplate(b, *pages), b.Flush())
	} else {
		err = generate(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate makes each file in memory and then writes it.
func generate(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"crawl.warc.gz", example.Write},
		{"crawl.pages.tsv", example.WritePages},
		{"crawl.truth.tsv", example.WriteTruth},
	} {
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return fmt.Errorf("making %s: %w", f.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
