package main

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-45b9a24c/pare/outcome"
)

// flagPattern finds the flag in a message of the parser.
var flagPattern = regexp.MustCompile(`--([A-Za-z][A-Za-z0-9._-]*)`)

// plainWords rewords what the parser says about numbers.
var plainWords = strings.NewReplacer(
	"expected a valid 64 bit int but got", "expected a whole number, got",
	"expected a valid 64 bit uint but got", "expected a whole number of 0 or more, got",
	"expected a float but got", "expected a number, got",
	" (string)", "",
)

// usageError turns an error of the parser into one that names the alternatives.
func usageError(app *kong.Application, err error) error {
	text := err.Error()
	var command *kong.Node
	if parsed, ok := errors.AsType[*kong.ParseError](err); ok && parsed.Context != nil {
		command = parsed.Context.Selected()
	}
	advice := `"pare help" lists the commands.`
	if command != nil {
		advice = `"pare ` + command.Name + ` --help" lists the flags.`
	}
	return advised{complaint(app, command, text), advice}
}

// complaint says what is wrong with the command line.
func complaint(app *kong.Application, command *kong.Node, text string) *outcome.Error {
	flag := ""
	if found := flagPattern.FindStringSubmatch(text); found != nil {
		flag = found[1]
	}
	switch {
	case command == nil && !strings.HasPrefix(text, "unknown flag"):
		if argument, ok := strings.CutPrefix(text, "unexpected argument "); ok {
			argument, _, _ = strings.Cut(argument, ",")
			if _, err := os.Stat(argument); err == nil {
				return outcome.Errorf(outcome.Usage, "a command must come before the file, such as pare select %s; the commands are %s", quote(argument), enumerated(children(app.Node)))
			}
			return outcome.Errorf(outcome.Usage, "unknown command %q%s; the commands are %s", argument, perhaps(argument, children(app.Node), ""), enumerated(children(app.Node)))
		}
		return outcome.Errorf(outcome.Usage, "no command given; the commands are %s", enumerated(children(app.Node)))
	case command == nil:
		return outcome.At(outcome.Usage, flag, "flags must follow a command; the commands are %s", enumerated(children(app.Node)))
	case strings.HasPrefix(text, "unknown flag -") && !strings.HasPrefix(text, "unknown flag --"): // -q
		letter, _, _ := strings.Cut(strings.TrimPrefix(text, "unknown flag "), ",")
		return outcome.Errorf(outcome.Usage, "unknown flag %s%s", letter, instead(strings.TrimPrefix(letter, "-"), nil))
	case strings.HasPrefix(text, "unknown flag"):
		if owners := having(app, flag); owners != "" {
			return outcome.At(outcome.Usage, flag, "is a flag of %s, not of %s%s", owners, command.Name, inItsPlace(flag))
		}
		return outcome.At(outcome.Usage, flag, "unknown flag%s", instead(flag, flags(command)))
	case text == `expected "<model>"`:
		return outcome.Errorf(outcome.Usage, "predict needs a saved model: pare predict MODEL FILE; pare select FILE --save MODEL makes one")
	case strings.Contains(text, "but got \"EOL\"") || strings.Contains(text, "(long flag); perhaps"):
		return outcome.At(outcome.Usage, flag, "the value is missing")
	case strings.Contains(text, "(short flag); perhaps"):
		return outcome.At(outcome.Usage, flag, "a value that begins with a minus sign, or has one after a comma, needs an equals sign: --%s=VALUE", flag)
	default:
		return outcome.At(outcome.Usage, flag, "%s", plainWords.Replace(strings.TrimPrefix(text, "--"+flag+": ")))
	}
}

func children(node *kong.Node) []string {
	names := make([]string, len(node.Children))
	for i, c := range node.Children {
		names[i] = c.Name
	}
	return names
}

func flags(command *kong.Node) []string {
	names := make([]string, len(command.Flags))
	for i, f := range command.Flags {
		names[i] = f.Name
	}
	return names
}

// having lists the commands that have a flag.
func having(app *kong.Application, flag string) string {
	var names []string
	for _, c := range app.Children {
		if slices.Contains(flags(c), flag) {
			names = append(names, c.Name)
		}
	}
	return enumerated(names)
}

// inItsPlace says what a command has instead of another command's flag.
func inItsPlace(flag string) string {
	switch flag {
	case "alpha", "ratio", "log-lambda", "C":
		return "; select chooses the strength, and path uses a grid of strengths"
	default:
		return equivalent(flag)
	}
}

// enumerated joins names as a sentence does.
func enumerated(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}
