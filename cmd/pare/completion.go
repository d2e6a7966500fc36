package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// completionCommand prints the script with which a shell completes command lines.
type completionCommand struct {
	Shell string `arg:"" help:"bash, zsh or fish."`
}

func (c *completionCommand) output() outputFlags { return outputFlags{Quiet: true} }

func (c *completionCommand) run(context.Context, environment) (result, error) {
	scripts := map[string]func(*kong.Application) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}
	write, ok := scripts[c.Shell]
	if !ok {
		return nil, outcome.Errorf(outcome.Usage, "unknown shell %q; the shells are bash, zsh and fish", c.Shell)
	}
	parser, err := newParser(nil, nil, nil)
	if err != nil {
		return nil, err
	}
	return verbatim(write(parser.Model)), nil
}

// verbatim is a result that is printed as it is.
type verbatim string

func (v verbatim) trusted() bool { return true }
func (v verbatim) text(p *page)  { p.out.WriteString(string(v)) }

// values returns the values that a flag accepts, if they are a list; nil otherwise.
func values(flag string) []string {
	switch flag {
	case "model":
		return spelt(pare.Models())
	case "criterion":
		return spelt(pare.Criteria())
	case "split":
		return spelt(pare.Splits())
	case "search":
		return spelt(pare.Searches())
	case "tol-schedule":
		return spelt([]search.Schedule{search.Auto, search.Exact, search.Approx})
	case "method":
		return []string{"implicit", "forward", "backward"}
	case "solver":
		return []string{"cd", "pgd"}
	case "missing":
		return []string{"mean", "zero", "drop-rows"}
	default:
		return nil
	}
}

func spelt[S ~string](all []S) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = string(s)
	}
	return out
}

// spellings returns the ways to write a flag.
func spellings(f *kong.Flag) []string {
	out := []string{"--" + f.Name}
	if f.Tag.Negatable != "" {
		out = append(out, "--no-"+f.Name)
	}
	if f.Short != 0 {
		out = append(out, "-"+string(f.Short))
	}
	return out
}

// brief returns the first sentence of a help text.
func brief(help string) string {
	help, _, _ = strings.Cut(help, ". ")
	help, _, _ = strings.Cut(help, " (default")
	help, _, _ = strings.Cut(help, ": ")
	return strings.TrimSuffix(help, ".")
}

// first returns the words that may follow pare.
func first(app *kong.Application) []string {
	words := make([]string, 1, 1+len(app.Children))
	words[0] = "help"
	for _, c := range app.Children {
		words = append(words, c.Name)
	}
	return words
}

func bashScript(app *kong.Application) string {
	var b bytes.Buffer
	offer := func(indent, words string) {
		fmt.Fprintf(&b, "%sCOMPREPLY=($(compgen -W %s -- \"$word\"))\n", indent, quote(words))
	}
	b.WriteString(`# bash completion of pare: pare completion bash > /etc/bash_completion.d/pare
_pare() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} flags=
  COMPREPLY=()
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD-2]}
  if ((COMP_CWORD == 1)); then
`)
	offer("    ", strings.Join(first(app), " "))
	b.WriteString("    return\n  fi\n  case $before in\n")
	seen := map[string]bool{}
	for _, c := range app.Children {
		for _, f := range c.Flags {
			if v := values(f.Name); v != nil && !seen[f.Name] {
				seen[f.Name] = true
				fmt.Fprintf(&b, "    --%s)\n", f.Name)
				offer("      ", strings.Join(v, " "))
				b.WriteString("      return ;;\n")
			}
		}
	}
	b.WriteString("  esac\n  case ${COMP_WORDS[1]} in\n    help)\n")
	offer("      ", strings.Join(append(slices.Clone(topics), first(app)[1:]...), " "))
	b.WriteString("      return ;;\n")
	for _, c := range app.Children {
		flags := make([]string, 0, len(c.Flags))
		for _, f := range c.Flags {
			flags = append(flags, spellings(f)...)
		}
		fmt.Fprintf(&b, "    %s) flags=%s ;;\n", c.Name, quote(strings.Join(flags, " ")))
	}
	b.WriteString(`  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif [[ ${COMP_WORDS[1]} == completion ]]; then
    COMPREPLY=($(compgen -W 'bash zsh fish' -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _pare pare
`)
	return b.String()
}

func zshScript(app *kong.Application) string {
	var b bytes.Buffer
	escape := strings.NewReplacer("[", "(", "]", ")", ":", " ", "'", "’", "\\", "").Replace
	b.WriteString("#compdef pare\n# zsh completion of pare: pare completion zsh > \"${fpath[1]}/_pare\"\n_pare() {\n  if ((CURRENT == 2)); then\n    local -a commands=(\n      'help:Explain a topic or a command'\n")
	for _, c := range app.Children {
		fmt.Fprintf(&b, "      '%s:%s'\n", c.Name, escape(brief(c.Help)))
	}
	b.WriteString("    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n  shift words\n  ((CURRENT--))\n  case $command in\n")
	fmt.Fprintf(&b, "    help) _values topic %s ;;\n    completion) _values shell bash zsh fish ;;\n", strings.Join(topics, " "))
	for _, c := range app.Children {
		if c.Name == "completion" {
			continue
		}
		fmt.Fprintf(&b, "    %s)\n      _arguments \\\n", c.Name)
		for _, f := range c.Flags {
			for _, s := range spellings(f) {
				takes, join := "", ""
				if !f.IsBool() {
					takes, join = ":value:_files", "="
					if v := values(f.Name); v != nil {
						takes = ":value:(" + strings.Join(v, " ") + ")"
					}
				}
				if !strings.HasPrefix(s, "--") && join != "" {
					join = "+"
				}
				fmt.Fprintf(&b, "        '%s%s[%s]%s' \\\n", s, join, escape(brief(f.Help)), takes)
			}
		}
		b.WriteString("        '*:file:_files' ;;\n")
	}
	b.WriteString("  esac\n}\ncompdef _pare pare\n")
	return b.String()
}

func fishScript(app *kong.Application) string {
	var b bytes.Buffer
	text := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	b.WriteString("# fish completion of pare: pare completion fish > ~/.config/fish/completions/pare.fish\n")
	fmt.Fprintf(&b, "complete -c pare -n __fish_use_subcommand -f -a help -d %s\n", text("Explain a topic or a command"))
	for _, c := range app.Children {
		fmt.Fprintf(&b, "complete -c pare -n __fish_use_subcommand -f -a %s -d %s\n", c.Name, text(brief(c.Help)))
	}
	fmt.Fprintf(&b, "complete -c pare -n '__fish_seen_subcommand_from help' -f -a %s\n", text(strings.Join(topics, " ")))
	b.WriteString("complete -c pare -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n")
	for _, c := range app.Children {
		for _, f := range c.Flags {
			line := fmt.Sprintf("complete -c pare -n '__fish_seen_subcommand_from %s' -l %s -d %s", c.Name, f.Name, text(brief(f.Help)))
			if f.Short != 0 {
				line += " -s " + string(f.Short)
			}
			switch v := values(f.Name); {
			case v != nil:
				line += " -x -a " + text(strings.Join(v, " "))
			case !f.IsBool():
				line += " -r"
			}
			b.WriteString(line + "\n")
			if f.Tag.Negatable != "" {
				fmt.Fprintf(&b, "complete -c pare -n '__fish_seen_subcommand_from %s' -l no-%s\n", c.Name, f.Name)
			}
		}
	}
	return b.String()
}
