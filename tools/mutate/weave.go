//go:build unix

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// One program holds all changes: each changed function begins with copies of its body, one per change, of which
// the environment variable PARE_MUTANT selects one at run time. So a program is built once for the whole
// sample. If the variable is "reached", the numbers of the changes that the program reaches are written to the
// file PARE_REACHED.

// selector is the text of the file that each changed package gets.
const selector = `package %s

import (
	"os"
	"strconv"
	"sync"
)

var (
	mutantNumber = func() int { n, _ := strconv.Atoi(os.Getenv("PARE_MUTANT")); return n }()
	mutantWatch  = os.Getenv("PARE_MUTANT") == "reached"
	mutantSeen   sync.Map
)

func mutantReached(n int) {
	if _, old := mutantSeen.LoadOrStore(n, true); old {
		return
	}
	f, err := os.OpenFile(os.Getenv("PARE_REACHED"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		f.WriteString(strconv.Itoa(n) + "\n")
		f.Close()
	}
}
`

// builds returns the changes that the compiler accepts.
func builds(ctx context.Context, dir string, changes []change, o options) ([]change, error) {
	for {
		overlay, err := weave(dir, changes)
		if err != nil {
			return nil, err
		}
		args := append([]string{"go", "build", "-gcflags=-e", "-overlay", overlay}, o.packages...)
		out, err := execute(ctx, ".", 10*o.limit, args...)
		if err == nil || ctx.Err() != nil {
			return changes, ctx.Err()
		}
		refused := map[int]bool{}
		for _, m := range inCopy.FindAllStringSubmatch(out, -1) {
			n, _ := strconv.Atoi(m[1])
			refused[n-1] = true
		}
		if len(refused) == 0 {
			return nil, fmt.Errorf("the copies do not build: %w\n%s", err, out)
		}
		kept := changes[:0]
		for i, c := range changes {
			if !refused[i] {
				kept = append(kept, c)
			}
		}
		changes = kept
	}
}

// inCopy finds the number of a change in the compiler's messages, where line directives put it.
var inCopy = regexp.MustCompile(`mutant(\d+)\.go:`)

// weave writes the files with all changes, numbered from 1, into dir, and returns the overlay's name.
func weave(dir string, changes []change) (overlay string, err error) {
	byFile, packages := map[string][]int{}, map[string]string{}
	for i, c := range changes {
		byFile[c.file] = append(byFile[c.file], i)
		packages[c.folder] = c.file
	}
	replace := map[string]string{}
	put := func(path, text string) error {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		replace[absolute] = filepath.Join(dir, fmt.Sprintf("woven%d.go", len(replace)))
		return os.WriteFile(replace[absolute], []byte(text), 0o600)
	}
	for file, numbers := range byFile {
		text, err := os.ReadFile(file)
		if err == nil {
			err = put(file, woven(string(text), file, changes, numbers))
		}
		if err != nil {
			return "", err
		}
	}
	for folder, file := range packages {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
		if err == nil {
			err = put(filepath.Join(folder, "mutant_selector.go"), fmt.Sprintf(selector, tree.Name.Name))
		}
		if err != nil {
			return "", err
		}
	}
	return writeOverlay(dir, replace)
}

func writeOverlay(dir string, replace map[string]string) (overlay string, err error) {
	list, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, errors.Join(err, os.WriteFile(overlay, list, 0o600))
}

// woven returns the text of a file with the changes of the given numbers.
func woven(text, file string, changes []change, numbers []int) string {
	type insertion struct {
		at   int
		text string
	}
	all := make([]insertion, 0, 2*len(numbers))
	for _, i := range numbers {
		c := changes[i]
		body := text[c.body.from:c.part.from] + c.text + text[c.part.to:c.body.to]
		call := fmt.Sprintf("func() %s {\n//line mutant%d.go:1\n%s\n}()", c.results, i+1, body)
		if c.results != "" {
			call = "return " + call
		} else {
			call += "\nreturn"
		}
		line := 1 + strings.Count(text[:c.body.from], "\n")
		all = append(all,
			insertion{c.body.from, fmt.Sprintf("\nif mutantNumber == %d {\n%s\n}\n//line %s:%d\n", i+1, call, filepath.Base(file), line)},
			insertion{c.block.from, fmt.Sprintf("\nif mutantWatch { mutantReached(%d) }\n//line %s:%d\n", i+1, filepath.Base(file), 1+strings.Count(text[:c.block.from], "\n"))})
	}
	slices.SortStableFunc(all, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out strings.Builder
	end := 0
	for _, one := range all {
		out.WriteString(text[end:one.at] + one.text)
		end = one.at
	}
	return out.String() + text[end:]
}
