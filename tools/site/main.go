// Command site makes web pages from README.md and docs: one page for each file, with a list of all pages on
// every page. It fails if a link leads nowhere.
//
//	go -C tools/site run . -o ../../bin/site
package main

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
)

//go:embed page.html
var pageText string

var layout = template.Must(template.New("page").Parse(pageText))

// order lists the pages that come first; the others follow by name.
var order = []string{"README.md", "docs/guide.md", "docs/coming-from.md", "docs/embedding.md", "distributed/README.md", "docs/families.md", "docs/mathematics.md", "docs/json.md", "docs/results.md", "docs/checks.md", "docs/ARCHITECTURE.md", "CONTRIBUTING.md"}

// page is one page of the site.
type page struct {
	Source, Title, Path string
	Body                template.HTML
}

func main() {
	root := flag.String("root", "../..", "the repository")
	out := flag.String("o", "../../bin/site", "where the pages go")
	flag.Parse()
	if err := build(os.DirFS(*root), *out); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// build writes the site and reports every broken link.
func build(files fs.FS, out string) error {
	sources, err := list(files)
	if err != nil {
		return err
	}
	pages := make([]page, 0, len(sources))
	for _, source := range sources {
		p, err := render(files, source)
		if err != nil {
			return err
		}
		pages = append(pages, p)
	}
	if faults := broken(files, pages); len(faults) > 0 {
		return fmt.Errorf("%d links lead nowhere:\n%s", len(faults), strings.Join(faults, "\n"))
	}
	for _, p := range pages {
		var text bytes.Buffer
		err := layout.Execute(&text, struct {
			page
			Up    string
			Pages []page
		}{p, strings.Repeat("../", strings.Count(p.Path, "/")), pages})
		if err != nil {
			return err
		}
		if err := write(filepath.Join(out, filepath.FromSlash(p.Path)), text.Bytes()); err != nil {
			return err
		}
	}
	if err := copyLinked(files, pages, out); err != nil {
		return err
	}
	fmt.Printf("%d pages in %s\n", len(pages), out)
	return nil
}

// copyLinked copies the files that pages link to.
func copyLinked(files fs.FS, pages []page, out string) error {
	made := map[string]bool{}
	for _, p := range pages {
		made[p.Path] = true
	}
	for _, p := range pages {
		for _, link := range links.FindAllStringSubmatch(string(p.Body), -1) {
			target, _, _ := strings.Cut(link[2], "#")
			from := path.Join(path.Dir(p.Path), target)
			if target == "" || external(target) || made[from] {
				continue
			}
			made[from] = true
			text, err := fs.ReadFile(files, from)
			if err != nil {
				return fmt.Errorf("%s links to %s: %w", p.Source, from, err)
			}
			if err := write(filepath.Join(out, filepath.FromSlash(from)), text); err != nil {
				return err
			}
		}
	}
	return nil
}

func write(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// list returns the pages, those to be read first at the beginning.
func list(files fs.FS) ([]string, error) {
	found := []string{"README.md", "CONTRIBUTING.md"}
	err := fs.WalkDir(files, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			found = append(found, name)
		}
		return err
	})
	if _, missing := fs.Stat(files, "distributed/README.md"); missing == nil {
		found = append(found, "distributed/README.md")
	}
	rank := func(name string) int {
		if at := slices.Index(order, name); at >= 0 {
			return at
		}
		return len(order)
	}
	slices.SortStableFunc(found, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return found, err
}

// place returns the path of the page of a source.
func place(source string) string {
	dir, name := path.Split(source)
	if name == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(source, ".md") + ".html"
}

var (
	title = regexp.MustCompile(`(?m)^# (.+)$`)
	links = regexp.MustCompile(`(href|src)="([^"]*)"`)
	ids   = regexp.MustCompile(`id="([^"]*)"`)
)

// render makes the page of a source. Links to other sources become links to their pages.
func render(files fs.FS, source string) (page, error) {
	text, err := fs.ReadFile(files, source)
	if err != nil {
		return page{}, err
	}
	p := page{Source: source, Path: place(source), Title: source}
	if found := title.FindSubmatch(text); found != nil {
		p.Title = string(found[1])
	}
	markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var body bytes.Buffer
	if err := markdown.Convert(text, &body); err != nil {
		return page{}, err
	}
	p.Body = template.HTML(links.ReplaceAllStringFunc(body.String(), func(link string) string {
		parts := links.FindStringSubmatch(link)
		target, anchor, cut := strings.Cut(parts[2], "#")
		if external(target) || path.Ext(target) != ".md" {
			return link
		}
		target = place(target)
		if cut {
			target += "#" + anchor
		}
		return parts[1] + `="` + target + `"`
	}))
	return p, nil
}

func external(link string) bool {
	return strings.HasPrefix(link, "http://") || strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "mailto:")
}

// broken lists the links of pages whose target does not exist: a page, a heading or a file of the repository.
func broken(files fs.FS, pages []page) (faults []string) {
	headings := map[string]map[string]bool{}
	for _, p := range pages {
		headings[p.Path] = map[string]bool{}
		for _, id := range ids.FindAllStringSubmatch(string(p.Body), -1) {
			headings[p.Path][id[1]] = true
		}
	}
	for _, p := range pages {
		for _, link := range links.FindAllStringSubmatch(string(p.Body), -1) {
			target, anchor, _ := strings.Cut(link[2], "#")
			if external(target) {
				continue
			}
			to := p.Path
			if target != "" {
				to = path.Join(path.Dir(p.Path), target)
			}
			if known, isPage := headings[to]; isPage {
				if anchor != "" && !known[anchor] {
					faults = append(faults, fmt.Sprintf("%s: no heading %q in %s", p.Source, anchor, to))
				}
			} else if _, err := fs.Stat(files, to); err != nil {
				faults = append(faults, fmt.Sprintf("%s: %s", p.Source, link[2]))
			}
		}
	}
	return faults
}
