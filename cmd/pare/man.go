package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCommand prints the manual page, which is made from the texts of --help.
type manCommand struct{}

func (c *manCommand) output() outputFlags { return outputFlags{Quiet: true} }

func (c *manCommand) run(context.Context, environment) (result, error) {
	parser, err := newParser(nil, nil, nil)
	if err != nil {
		return nil, err
	}
	return verbatim(manual(parser.Model)), nil
}

// roff escapes text for the manual's format.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// manual returns the page pare(1).
func manual(app *kong.Application) string {
	var b bytes.Buffer
	b.WriteString(".TH PARE 1\n.SH NAME\npare \\- fit sparse linear models and choose their regularisation\n.SH SYNOPSIS\n")
	for _, c := range app.Children {
		fmt.Fprintf(&b, ".B pare %s\n%s\n.br\n", c.Name, roff(strings.TrimPrefix(c.Summary(), c.Name)))
	}
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", roff(app.Help))
	b.WriteString("Without FILE pare uses its built-in copy of the diabetes data of Efron et al. (2004).\n.SH COMMANDS\n")
	for _, c := range app.Children {
		fmt.Fprintf(&b, ".SS pare %s\n%s\n", c.Name, roff(c.Help))
		for _, f := range c.Flags {
			if f.Name == "help" {
				continue
			}
			ways := make([]string, 0, 3)
			for _, s := range spellings(f) {
				ways = append(ways, `\fB`+roff(s)+`\fR`)
			}
			value := ""
			if !f.IsBool() {
				value = ` \fI` + roff(f.FormatPlaceHolder()) + `\fR`
			}
			fmt.Fprintf(&b, ".TP\n%s%s\n%s\n", strings.Join(ways, ", "), value, roff(f.Help))
		}
	}
	for _, topic := range topics {
		text, err := topicTexts.ReadFile("topics/" + topic + ".txt")
		if err != nil {
			panic(err) // the page is part of the program
		}
		fmt.Fprintf(&b, ".SH %s\n.nf\n%s.fi\n", strings.ToUpper(topic), roff(string(text)))
	}
	b.WriteString(".SH SEE ALSO\n.B pare help\n.I TOPIC\nprints these topics,\n.B pare\n.I COMMAND\n.B \\-\\-help\nthe flags of a command.\n")
	return b.String()
}
