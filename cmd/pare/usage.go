package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-45b9a24c/pare/outcome"
)

// flagPattern finds the flag in the parser's messages.
var flagPattern = regexp.MustCompile(`--([A-Za-z][A-Za-z0-9._-]*)`)

// meantPattern finds what the parser thinks was meant.
var meantPattern = regexp.MustCompile(`did you mean "([^"]*)"`)

// usageError turns the parser's complaint into one that names what there is.
func usageError(app *kong.Application, err error) error {
	text := err.Error()
	var command *kong.Node
	var parsed *kong.ParseError
	if errors.As(err, &parsed) && parsed.Context != nil {
		command = parsed.Context.Selected()
	}
	flag := ""
	if found := flagPattern.FindStringSubmatch(text); found != nil {
		flag = found[1]
	}
	meant := ""
	if found := meantPattern.FindStringSubmatch(text); found != nil {
		meant = ", perhaps " + found[1]
	}
	switch {
	case command == nil && !strings.HasPrefix(text, "unknown flag"):
		if argument, ok := strings.CutPrefix(text, "unexpected argument "); ok {
			argument, _, _ = strings.Cut(argument, ",")
			return outcome.Errorf(outcome.Usage, "no command %q; there are %s%s", argument, children(app.Node), meant)
		}
		return outcome.Errorf(outcome.Usage, "no command given; there are %s", children(app.Node))
	case command == nil:
		return outcome.At(outcome.Usage, flag, "the flags follow a command; there are %s", children(app.Node))
	case strings.HasPrefix(text, "unknown flag -") && !strings.HasPrefix(text, "unknown flag --"): // -q
		letter, _, _ := strings.Cut(strings.TrimPrefix(text, "unknown flag "), ",")
		return outcome.Errorf(outcome.Usage, "no flag %s%s", letter, instead(strings.TrimPrefix(letter, "-"), ""))
	case strings.HasPrefix(text, "unknown flag"):
		if owners := having(app, flag); owners != "" {
			return outcome.At(outcome.Usage, flag, "belongs to %s", owners)
		}
		return outcome.At(outcome.Usage, flag, "there is no such flag%s", instead(flag, meant))
	case text == `expected "<model>"`:
		return outcome.Errorf(outcome.Usage, "predict needs a saved model: pare predict MODEL FILE; pare select FILE --save MODEL makes one")
	case strings.Contains(text, "but got \"EOL\"") || strings.Contains(text, "flag); perhaps"):
		return outcome.At(outcome.Usage, flag, "the value is missing")
	default:
		return outcome.At(outcome.Usage, flag, "%s", strings.TrimPrefix(text, "--"+flag+": "))
	}
}

func children(node *kong.Node) string {
	names := make([]string, len(node.Children))
	for i, c := range node.Children {
		names[i] = c.Name
	}
	return strings.Join(names, ", ")
}

// having lists the commands that have a flag.
func having(app *kong.Application, flag string) string {
	var names []string
	for _, c := range app.Children {
		for _, f := range c.Flags {
			if f.Name == flag {
				names = append(names, c.Name)
			}
		}
	}
	return strings.Join(names, ", ")
}

// instead says what is meant by a flag that is not there, where that can be told.
func instead(flag, meant string) string {
	if s := suggestion(flag); s != "" {
		return "; here it is " + s
	}
	return meant
}
