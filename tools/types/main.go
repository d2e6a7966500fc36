// Types type-checks the packages of a module, tests included, for the system that GOOS and GOARCH name, from
// source and without compiling:
//
//	GOOS=windows GOARCH=amd64 types ./...
//
// It finds what a compiler's front end finds, such as a missing function or a constant that a 32-bit int cannot
// hold, in a tenth of the time. It exits with 1 if something is wrong.
package main

import (
	"fmt"
	"os"

	"golang.org/x/tools/go/packages"
)

func main() {
	wrong, err := check("", os.Environ(), os.Args[1:])
	for _, problem := range wrong {
		fmt.Fprintln(os.Stderr, problem)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
	}
	if err != nil || len(wrong) > 0 {
		os.Exit(1)
	}
}

// check returns the type errors of the packages that match patterns, in the module of a folder.
func check(dir string, env, patterns []string) (wrong []string, err error) {
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
		Dir: dir, Env: env, Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no package matches %q", patterns)
	}
	packages.Visit(found, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			wrong = append(wrong, e.Error())
		}
	})
	return wrong, nil
}
