package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-45b9a24c/pare/outcome"
)

// The exit statuses.
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitUntrusted = 3 // there is a result, but it is not converged or not trusted
)

// grammar is the grammar of command lines.
type grammar struct {
	Select  selectCommand  `cmd:"" help:"Choose λ, refit, print the choice."`
	Fit     fitCommand     `cmd:"" help:"Solve at one λ."`
	Grad    gradCommand    `cmd:"" help:"Compute the criterion and its hypergradient at one λ."`
	Report  reportCommand  `cmd:"" help:"Choose λ, and write a page of HTML with charts."`
	Path    pathCommand    `cmd:"" help:"Solve along a geometric grid of λ."`
	Predict predictCommand `cmd:"" help:"Predict the rows of a file by a saved model."`
	Convert convertCommand `cmd:"" help:"Convert data to a file that pare maps into memory."`
	Inspect inspectCommand `cmd:"" help:"Show what is in a saved model."`
	Info    infoCommand    `cmd:"" help:"Show what is in a data file."`

	Completion completionCommand `cmd:"" help:"Print the completion script for bash, zsh or fish."`
	Man        manCommand        `cmd:"" help:"Print the manual page."`
}

// newParser returns the parser of command lines. It calls exit after --help has printed.
func newParser(stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(new(grammar),
		kong.Name("pare"),
		kong.Description("Fit sparse linear models and choose their regularisation by gradient descent on a validation criterion."),
		kong.Writers(stdout, stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: mostWidth}),
	)
}

// command is one of the commands of the grammar.
type command interface {
	run(ctx context.Context, env environment) (result, error)
	output() outputFlags
}

// environment is what a command has besides its flags.
type environment struct {
	stdin    io.Reader
	stdout   io.Writer // for results that are printed as they are computed
	progress *progress
	args     []string  // the command line, for reports
	notes    io.Writer // for remarks besides the result

	interrupt *interrupt
}

// result is what a command prints: as JSON, or as a page of text.
type result interface {
	trusted() bool
	text(*page)
}

// run is the program without its process.
func run(ctx context.Context, asked *interrupt, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stdout, welcome)
		return exitOK
	}
	if args[0] == "--version" {
		fmt.Fprintln(stdout, version())
		return exitOK
	}
	if help(stdout, args) {
		return exitOK
	}
	chosen, err := parse(args, stdout, stderr)
	if err != nil {
		return fail(err, wantsJSON(args), stdout, stderr)
	}
	if chosen == nil { // help is printed
		return exitOK
	}
	out := chosen.output()
	env := environment{stdin: stdin, stdout: stdout, progress: newProgress(stderr, out), args: quoted(args), notes: stderr, interrupt: asked}
	defer env.progress.stop()
	if out.Quiet || out.JSON {
		env.notes = io.Discard
	}
	asked.announce(env.progress.stopping)
	work := func(ctx context.Context) (result, error) { return chosen.run(ctx, env) }
	var res result
	if limited, ok := chosen.(memoryLimited); ok {
		res, err = limited.within(ctx, work)
	} else {
		res, err = work(ctx)
	}
	env.progress.stop()
	if err != nil {
		return fail(err, out.JSON, stdout, stderr)
	}
	if err := write(stdout, res, out.JSON); err != nil {
		return fail(err, out.JSON, stdout, stderr)
	}
	if !res.trusted() {
		return exitUntrusted
	}
	return exitOK
}

// quoted returns a command line that can be pasted into a shell.
func quoted(args []string) []string {
	line := make([]string, 1, 1+len(args))
	line[0] = "pare"
	for _, arg := range args {
		line = append(line, quote(arg))
	}
	return line
}

// parse returns the command that args select; nil if they asked for help, which is then printed.
func parse(args []string, stdout, stderr io.Writer) (command, error) {
	if args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	}
	if err := unset(args); err != nil {
		return nil, err
	}
	helped := false
	parser, err := newParser(stdout, stderr, func(int) { helped = true })
	if err != nil {
		return nil, err
	}
	parsed, err := parser.Parse(joinPictures(joinNegative(args)))
	if helped {
		return nil, nil
	}
	if err != nil {
		return nil, usageError(parser.Model, err)
	}
	return parsed.Selected().Target.Addr().Interface().(command), nil
}

// unset refuses empty arguments. They come from unset variables of a script, and would give the result of other
// data, or a model that is not saved.
func unset(args []string) error {
	for i, arg := range args {
		flag, isFlag := strings.CutPrefix(arg, "--")
		switch {
		case isFlag && strings.HasSuffix(flag, "="):
			return outcome.At(outcome.Usage, strings.TrimSuffix(flag, "="), "the value is empty")
		case arg == "" && i > 0:
			return outcome.Errorf(outcome.Usage, "the argument after %s is empty", args[i-1])
		}
	}
	return nil
}

// negative matches a number that looks like a flag.
var negative = regexp.MustCompile(`^-([0-9.]|[iI]nf)`)

// joinNegative turns --flag -1 into --flag=-1. The parser's own option accepts any value that begins with a
// hyphen, and so would take a flag for a value.
func joinNegative(args []string) []string {
	var joined []string
	for _, arg := range args {
		if last := len(joined) - 1; last >= 0 && negative.MatchString(arg) &&
			strings.HasPrefix(joined[last], "--") && len(joined[last]) > 2 && !strings.Contains(joined[last], "=") {
			joined[last] += "=" + arg
		} else {
			joined = append(joined, arg)
		}
	}
	return joined
}

// joinPictures turns --plot OUT.svg into --plot=OUT.svg. Otherwise the word after a flag without a value would
// be the data.
func joinPictures(args []string) []string {
	var joined []string
	for _, arg := range args {
		last := len(joined) - 1
		if ext := filepath.Ext(arg); last >= 0 && joined[last] == "--plot" && (ext == ".svg" || ext == ".png" || ext == ".pdf") {
			joined[last] += "=" + arg
		} else {
			joined = append(joined, arg)
		}
	}
	return joined
}

// wantsJSON looks for --json in a command line that may be invalid.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--json" || arg == "--json=true" {
			return true
		}
	}
	return false
}

// version returns what a bug report should state: the program's version, and the platform.
func version() string {
	program := "of unknown version"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		program = info.Main.Version
	}
	return fmt.Sprintf("pare %s, %s %s/%s", program, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// write prints a result in one piece.
func write(w io.Writer, res result, asJSON bool) error {
	var out bytes.Buffer
	if asJSON {
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(res); err != nil {
			return err
		}
	} else {
		res.text(&page{out: &out, width: screen(w), terminal: onTerminal(w)})
	}
	if out.Len() == 0 { // the result has been printed already
		return nil
	}
	if _, err := w.Write(out.Bytes()); err != nil {
		return writeError(err)
	}
	return nil
}

var welcome = strings.TrimLeft(`
pare fits sparse linear models and chooses their regularisation for you.

  pare select FILE          choose λ, refit, print the choice
  pare fit FILE             solve at one λ:  pare fit --ratio 0.01 FILE
  pare grad FILE            the criterion and its hypergradient at one λ
  pare report FILE          choose λ, and write a page with charts
  pare path FILE            solve along a grid of λ
  pare predict MODEL FILE   predict by a model that select or fit has saved
  pare inspect MODEL        what is in a saved model
  pare convert FILE OUT     write data to a file that is mapped into memory
  pare info FILE            what is in the file

FILE is svmlight text, CSV, TSV, Parquet, an array of NumPy's, a sparse matrix
of SciPy's or Matrix Market ("pare help formats"); - is standard input. Without
FILE pare uses the diabetes data it carries, so "pare select" works right away.
"pare select --help" lists the flags, "pare help" the topics it explains, and
"pare --version" says which version this is.
`, "\n")
