// Command mutate breaks one line of a package at a time, and reports which breaks
// the package's tests do not detect.
//
// It draws lines by a seed. For each line it makes one of the breaks that fit it:
// an operator becomes a similar one, a condition is negated, a number is increased
// by one, a bool is flipped, or a statement is left out. A break that does not
// compile is replaced by another. The sources are not changed: go test reads the
// broken file through -overlay. A test that fails, panics or exceeds the time limit
// has detected the break.
//
//	cd tools && go run ./mutate -root .. -seed 1 -sites 10 ./cluster ./verify/lcs
//
// It writes one line per break to standard output: seen or unseen, file and line,
// the change, and the line. The exit code is 0 whatever the result.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// breakage replaces length bytes of a file at an offset.
type breakage struct {
	file           string // relative to root
	line           int
	offset, length int
	to             string
}

var options struct {
	root    string
	seed    uint64
	sites   int
	timeout time.Duration
	only    string
	tests   string
	run     string
}

func main() {
	flag.StringVar(&options.root, "root", "..", "directory of the module")
	flag.Uint64Var(&options.seed, "seed", 1, "draws other lines")
	flag.IntVar(&options.sites, "sites", 10, "breaks of each package")
	flag.DurationVar(&options.timeout, "timeout", 2*time.Minute, "of the tests, for each break")
	flag.StringVar(&options.only, "only", "", "try the breaks of this report again, by their lines' text, in place of drawn ones")
	flag.StringVar(&options.tests, "tests", "", "packages whose tests run, separated by spaces; empty: those of the broken package")
	flag.StringVar(&options.run, "run", "", "only the tests that match, as with go test")
	flag.Parse()
	var err error
	if options.only != "" {
		err = again()
	}
	for _, p := range flag.Args() {
		if err == nil {
			err = mutate(p)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutate tries breaks of a package.
func mutate(pkg string) error {
	all, err := breakages(pkg)
	if err != nil {
		return err
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(filepath.ToSlash(filepath.Clean(pkg))))
	r := rand.New(rand.NewPCG(options.seed, h.Sum64()))
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	tried := map[string]bool{}
	n := 0
	for _, b := range all {
		at := fmt.Sprintf("%s:%d", b.file, b.line)
		if tried[at] {
			continue
		}
		tested, err := b.try(pkg)
		if err != nil {
			return err
		}
		tried[at] = tested
		if tested {
			if n++; n == options.sites {
				break
			}
		}
	}
	return nil
}

// again repeats the breaks of a report, in the lines that still have the same text.
func again() error {
	report, err := os.ReadFile(options.only)
	if err != nil {
		return err
	}
	for row := range strings.Lines(string(report)) {
		f := strings.Split(strings.TrimRight(row, "\n"), "\t")
		if len(f) != 4 || f[0] != "unseen" {
			continue
		}
		file, number, _ := strings.Cut(f[1], ":")
		pkg := "./" + filepath.Dir(file)
		all, err := breakages(pkg)
		if err != nil {
			fmt.Printf("gone\t%s\t%s\t%s\n", f[1], f[2], f[3])
			continue
		}
		var same []breakage
		for _, b := range all {
			if what, line := b.describe(); what == f[2] && line == f[3] && filepath.Base(b.file) == filepath.Base(file) {
				same = append(same, b)
			}
		}
		if len(same) == 0 {
			fmt.Printf("gone\t%s\t%s\t%s\n", f[1], f[2], f[3])
			continue
		}
		// Of lines with one text, the nearest is the one of the report.
		at, err := strconv.Atoi(number)
		if err != nil {
			return err
		}
		distance := func(b breakage) int { return max(b.line-at, at-b.line) }
		if _, err := slices.MinFunc(same, func(a, b breakage) int { return distance(a) - distance(b) }).try(pkg); err != nil {
			return err
		}
	}
	return nil
}

// describe returns the change and the line.
func (b breakage) describe() (what, line string) {
	text, err := os.ReadFile(filepath.Join(options.root, b.file))
	if err != nil {
		return "", ""
	}
	from := string(text[b.offset : b.offset+b.length])
	if i := strings.IndexByte(from, '\n'); i >= 0 {
		from = from[:i] + "…"
	}
	to := b.to
	if to == "" {
		to = "nothing"
	}
	return fmt.Sprintf("%s → %s", from, to), strings.TrimSpace(strings.Split(string(text), "\n")[b.line-1])
}

// try runs the tests with the break. tested is false if it does not compile.
func (b breakage) try(pkg string) (tested bool, err error) {
	text, err := os.ReadFile(filepath.Join(options.root, b.file))
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "mutate-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	broken := filepath.Join(dir, "broken.go")
	if err := os.WriteFile(broken, slices.Concat(text[:b.offset], []byte(b.to), text[b.offset+b.length:]), 0o666); err != nil {
		return false, err
	}
	whole, err := filepath.Abs(filepath.Join(options.root, b.file))
	if err != nil {
		return false, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {whole: broken}})
	if err != nil {
		return false, err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o666); err != nil {
		return false, err
	}
	if _, err := run("build", "-overlay", list, pkg); err != nil {
		return false, nil
	}
	tests := []string{pkg}
	if options.tests != "" {
		tests = strings.Fields(options.tests)
	}
	out, err := run(append([]string{"test", "-overlay", list, "-short", "-count=1", "-failfast", "-vet=off", "-timeout", options.timeout.String(), "-run", options.run}, tests...)...)
	state := "unseen"
	switch {
	case err == nil:
	case bytes.Contains(out, []byte("[build failed]")):
		return false, nil
	default:
		state = "seen"
	}
	what, line := b.describe()
	fmt.Printf("%s\t%s:%d\t%s\t%s\n", state, filepath.ToSlash(b.file), b.line, what, line)
	return true, nil
}

func run(args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir = options.root
	return c.CombinedOutput()
}

// breakages returns the breaks that fit a package.
func breakages(pkg string) (all []breakage, err error) {
	dir := filepath.Join(options.root, pkg)
	p, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		add := func(from, to token.Pos, instead string) {
			at := files.Position(from)
			all = append(all, breakage{filepath.Join(pkg, name), at.Line, at.Offset, int(to - from), instead})
		}
		source := func(n ast.Node) string {
			return string(text[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset])
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec, *ast.Field: // struct tags, and types
				return false
			case *ast.BinaryExpr:
				if to := neighbours[n.Op]; to != 0 {
					add(n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String())
				}
			case *ast.IfStmt:
				add(n.Cond.Pos(), n.Cond.End(), "!("+source(n.Cond)+")")
			case *ast.BasicLit:
				if i, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
					add(n.Pos(), n.End(), strconv.FormatInt(i+1, 10))
				}
			case *ast.Ident:
				switch n.Name {
				case "true":
					add(n.Pos(), n.End(), "false")
				case "false":
					add(n.Pos(), n.End(), "true")
				}
			case *ast.IncDecStmt:
				add(n.TokPos, n.TokPos+2, map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok])
			case *ast.BranchStmt:
				if n.Tok == token.CONTINUE && n.Label == nil {
					add(n.Pos(), n.End(), "break")
				}
			case *ast.ExprStmt:
				add(n.Pos(), n.End(), "")
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					add(n.Pos(), n.End(), "")
				}
			}
			return true
		})
	}
	return all, nil
}

var neighbours = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL,
	token.REM: token.MUL, token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND,
}
