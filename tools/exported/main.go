// Command exported lists the exported functions, types and variables of a module's
// packages that no other package uses, not even their own external tests. A type
// that an exported declaration refers to counts as used. Constants are not checked,
// because they are sets of values, and neither are fields and methods, because they
// belong to their types.
//
//	cd tools && go run ./exported -root ..
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	root := flag.String("root", "..", "directory of the module")
	flag.Parse()
	unused, err := find(*root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "exported:", err)
		os.Exit(2)
	}
	for _, name := range unused {
		fmt.Println(name)
	}
	if len(unused) > 0 {
		os.Exit(1)
	}
}

// find returns the positions of the unused names of the module in root, sorted.
func find(root string) ([]string, error) {
	fset := token.NewFileSet()
	all, err := packages.Load(&packages.Config{Dir: root, Fset: fset, Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}, "./...")
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(all) > 0 {
		return nil, fmt.Errorf("the module does not compile")
	}
	// A package is loaded several times, with and without its tests, so names are
	// identified by their positions.
	declared, used := map[string]string{}, map[string]bool{}
	at := func(o types.Object) string { return fset.Position(o.Pos()).String() }
	for _, p := range all {
		for id, o := range p.TypesInfo.Defs {
			file := fset.Position(id.Pos()).Filename
			if o == nil || !id.IsExported() || strings.HasSuffix(file, "_test.go") || p.Name == "main" || o.Parent() != p.Types.Scope() {
				continue
			}
			if _, ok := o.(*types.Const); ok {
				continue // most are one of a set of values
			}
			declared[at(o)] = p.PkgPath + "." + id.Name
		}
		for _, o := range p.TypesInfo.Uses {
			if o.Pkg() != nil && o.Pkg().Path() != p.PkgPath {
				used[at(o)] = true
			}
		}
		for _, f := range p.Syntax {
			shown(p, f, func(o types.Object) { used[at(o)] = true })
		}
	}
	var out []string
	for place, name := range declared {
		if !used[place] {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// shown calls use for each type that an exported declaration of a file refers to.
// Users of the declaration hold values of these types without ever naming them.
func shown(p *packages.Package, f *ast.File, use func(types.Object)) {
	names := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if o, ok := p.TypesInfo.Uses[id].(*types.TypeName); ok {
					use(o)
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				names(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						names(s.Type)
					}
				case *ast.ValueSpec:
					if len(s.Names) > 0 && s.Names[0].IsExported() && s.Type != nil {
						names(s.Type)
					}
				}
			}
		}
	}
}
