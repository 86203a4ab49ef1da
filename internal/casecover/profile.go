package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/step"
)

// place is a line and a column.
type place struct{ line, col int }

func (p place) before(q place) bool {
	return p.line < q.line || p.line == q.line && p.col < q.col
}

// block is a line of a profile: FILE:LINE.COL,LINE.COL STATEMENTS COUNT.
type block struct {
	from, to          place
	statements, count int
}

// complete adds to a profile what go counts nothing for. The names of its files start
// with the path of the module that the current directory holds.
func complete(profile string) error {
	return step.Catch(func() {
		blocks := parse(profile, string(step.Must(os.ReadFile(profile))))
		f := step.Must(os.OpenFile(profile, os.O_WRONLY|os.O_APPEND, 0))
		defer f.Close()
		dirs := map[string]string{} // by import path: to find one takes a run of go list
		for _, name := range slices.Sorted(maps.Keys(blocks)) {
			pkg := path.Dir(name)
			if dirs[pkg] == "" {
				dirs[pkg] = step.Must(build.Import(pkg, ".", build.FindOnly)).Dir
			}
			src := step.Must(os.ReadFile(filepath.Join(dirs[pkg], path.Base(name))))
			more, err := uncounted(src, blocks[name])
			if err != nil {
				step.NoError(fmt.Errorf("%s: %w", name, err))
			}
			for _, b := range more {
				step.Must(fmt.Fprintf(f, "%s:%d.%d,%d.%d %d %d\n", name, b.from.line, b.from.col, b.to.line, b.to.col,
					b.statements, b.count))
			}
		}
		step.NoError(f.Close())
	})
}

// parse returns the blocks of each file in the text of a profile.
func parse(profile, text string) map[string][]block {
	blocks := map[string][]block{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "mode:") {
			continue
		}
		i := max(strings.LastIndexByte(line, ':'), 0)
		var b block
		if _, err := fmt.Sscanf(line[i:], ":%d.%d,%d.%d %d %d",
			&b.from.line, &b.from.col, &b.to.line, &b.to.col, &b.statements, &b.count); err != nil {
			step.NoError(fmt.Errorf("%s: %q: %w", profile, line, err))
		}
		blocks[line[:i]] = append(blocks[line[:i]], b)
	}
	return blocks
}

// uncounted returns the blocks of a file that its profile lacks.
func uncounted(src []byte, counted []block) ([]block, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) place { q := files.Position(p); return place{q.Line, q.Column} }
	var more []block
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			more = append(more, block{at(d.Pos()), at(d.End()), 1, 1})
			continue
		}
		runs := 0
		for _, b := range counted {
			if !b.from.before(at(f.Pos())) && b.from.before(at(f.End())) {
				runs = max(runs, b.count)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CaseClause); ok && len(c.List) > 0 {
				more = append(more, block{at(c.List[0].Pos()), at(c.Colon), 1, runs})
			}
			return true
		})
	}
	return more, nil
}
